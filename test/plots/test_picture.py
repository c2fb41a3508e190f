"""The picture of a whole body: where it is centred and what it shows."""

from __future__ import annotations

import numpy as np
from plotting import ARM, ARM_IN_WORLD, FORCES, TIP, drawn, labels, made, points

from tactile_sim import plots


def test_the_picture_shows_magnitudes_by_colour_and_size(env):
    touch = made(env, arm=FORCES)
    fig, ax = plots.visualize_contacts_subtree(touch, root_name="arm")
    positions = touch.sensor_positions[env.model.body("arm").id]
    others = touch.sensor_positions[env.model.body("tip").id]
    np.testing.assert_allclose(points(ax, "felt"), ARM + positions[[10, 3, 17]] @ ARM_IN_WORLD.T, atol=1e-9)
    np.testing.assert_allclose(drawn(ax, "felt").get_array(), [1, 2, 3])
    assert (np.diff(drawn(ax, "felt").get_sizes()) > 0).all()
    assert len(points(ax, "sensors")) == len(positions) + len(others)
    assert labels(fig, ax)[3] == ["force [N] at each sensor"]
    assert not ax.axison


def test_the_picture_is_centred_on_the_focus_and_the_camera_moves_by_its_offset(env):
    def middle(ax):
        return np.mean([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()], axis=1)

    touch = made(env, tip={0: [0, 0, 1.0]})
    _, ax = plots.visualize_contacts_subtree(touch, root_name="arm", focus_body="arm")
    np.testing.assert_allclose(middle(ax), 0, atol=1e-9)
    tip = TIP - ARM + touch.sensor_positions[env.model.body("tip").id][0] @ ARM_IN_WORLD.T
    np.testing.assert_allclose(points(ax, "felt"), [tip], atol=1e-9)
    _, moved = plots.visualize_contacts_subtree(
        touch, root_name="arm", focus_body="arm", camera_offset=np.array([0.1, 0, -0.2])
    )
    np.testing.assert_allclose(middle(moved), [0.1, 0, -0.2], atol=1e-9)
    np.testing.assert_allclose(points(moved, "felt"), [tip], atol=1e-9)
