"""The overview plot of a subtree: center and readings."""

from __future__ import annotations

import numpy as np
from support.plots import ARM, ARM_IN_WORLD, FORCES, TIP, drawn, labels, made, points

from tactile_sim.mimo import plots


def test_overview_shows_magnitudes_by_color_and_size(env):
    touch = made(env, arm=FORCES)
    fig, ax = plots.visualize_contacts_subtree(touch, root_name="arm")
    positions = touch.sensor_positions[env.model.body("arm").id]
    others = touch.sensor_positions[env.model.body("tip").id]
    expected = ARM + positions[[10, 3, 17]] @ ARM_IN_WORLD.T
    np.testing.assert_allclose(points(ax, "readings"), expected, atol=1e-9)
    np.testing.assert_allclose(drawn(ax, "readings").get_array(), [1, 2, 3])
    assert (np.diff(drawn(ax, "readings").get_sizes()) > 0).all()
    assert len(points(ax, "sensors")) == len(positions) + len(others)
    assert labels(fig, ax)[3] == ["force [N] at each sensor"]
    assert not ax.axison


def test_overview_is_centerd_on_focus_and_shifted_by_camera_offset(env):
    def middle(ax):
        return np.mean([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()], axis=1)

    touch = made(env, tip={0: [0, 0, 1.0]})
    _, ax = plots.visualize_contacts_subtree(touch, root_name="arm", focus_body="arm")
    np.testing.assert_allclose(middle(ax), 0, atol=1e-9)
    tip = TIP - ARM + touch.sensor_positions[env.model.body("tip").id][0] @ ARM_IN_WORLD.T
    np.testing.assert_allclose(points(ax, "readings"), [tip], atol=1e-9)
    _, moved = plots.visualize_contacts_subtree(
        touch, root_name="arm", focus_body="arm", camera_offset=np.array([0.1, 0, -0.2])
    )
    np.testing.assert_allclose(middle(moved), [0.1, 0, -0.2], atol=1e-9)
    np.testing.assert_allclose(points(moved, "readings"), [tip], atol=1e-9)
