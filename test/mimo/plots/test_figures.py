"""Plots show sensors and readings at the right positions and in the stated frame."""

from __future__ import annotations

import numpy as np
import pytest
from support.plots import (
    ARM,
    ARM_IN_POST,
    ARM_IN_WORLD,
    FORCES,
    TIP,
    assert_arrows,
    drawn,
    labels,
    made,
    points,
    same_points,
)

from tactile_sim.mimo import plots
from tactile_sim.mimo.touch import DiscreteTouch, TrimeshTouch


def test_sensors_of_a_body_are_drawn_in_its_frame(env):
    touch = made(env)
    arm = env.model.body("arm").id
    fig, ax = plots.plot_sensors_body(touch, body_name="arm")
    assert same_points(points(ax, "sensors"), touch.sensor_positions[arm])
    assert labels(fig, ax) == ("x [m]", "y [m]", "z [m]", [])
    assert "arm" in ax.get_title()


def test_sensors_of_a_geom_are_drawn_in_its_frame(env):
    touch = made(env, DiscreteTouch)
    _, ax = plots.plot_sensors_geom(touch, geom_name="lower")
    found = points(ax, "sensors")
    assert same_points(found, touch.sensor_positions[env.model.geom("lower").id])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 0.03, rtol=1e-6)


def test_axes_are_equal(env):
    _, ax = plots.plot_sensors_body(made(env), body_name="arm")
    ranges = np.ptp([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()], axis=1)
    np.testing.assert_allclose(ax.get_box_aspect() / ranges, ax.get_box_aspect()[0] / ranges[0])
    # The arm extends from x = -0.05 to 0.13.
    assert 0.18 < ranges[0] < 0.21


def test_plotting_limit_narrows_the_axes(env):
    touch = made(env)
    touch.plotting_limits[env.model.body("arm").id] = 0.06
    _, ax = plots.plot_sensors_body(touch, body_name="arm")
    assert ax.get_xlim()[1] < 0.07


def test_forces_on_a_body_are_arrows_ending_at_their_sensors(env):
    touch = made(env, arm=FORCES)
    arm = env.model.body("arm").id
    fig, ax = plots.plot_force_body(touch, body_id=arm, title="an arm")
    assert_arrows(ax, touch.sensor_positions[arm][list(FORCES)], list(FORCES.values()))
    assert same_points(points(ax, "sensors"), touch.sensor_positions[arm])
    assert ax.get_title() == "an arm"
    assert labels(fig, ax)[3] == ["force [N] at each sensor"]


def test_forces_on_a_geom_are_arrows_in_its_frame(env):
    touch = made(env, DiscreteTouch, upper=FORCES)
    geom = env.model.geom("upper").id
    _, ax = plots.plot_force_geom(touch, geom_id=geom)
    assert_arrows(ax, touch.sensor_positions[geom][list(FORCES)], list(FORCES.values()))


def test_all_geoms_of_a_body_are_drawn_in_the_body_frame(env):
    touch = made(env, DiscreteTouch, lower=FORCES)
    upper, lower = env.model.geom("upper").id, env.model.geom("lower").id
    _, ax = plots.plot_force_body(touch, body_name="arm")
    moved = touch.sensor_positions[lower] + [0.1, 0, 0]
    assert same_points(points(ax, "sensors"), np.concatenate([touch.sensor_positions[upper], moved]))
    assert_arrows(ax, moved[list(FORCES)], list(FORCES.values()))


def test_world_frame_forces_are_rotated_into_the_body_frame(env):
    touch = made(env, touch="force_vector_global", arm=FORCES)
    _, ax = plots.plot_force_body(touch, body_name="arm")
    positions = touch.sensor_positions[env.model.body("arm").id][list(FORCES)]
    assert_arrows(ax, positions, np.array(list(FORCES.values())) @ ARM_IN_WORLD)


@pytest.mark.parametrize(
    "focus, origin, turn",
    [("world", np.zeros(3), np.eye(3)), ("first", TIP, ARM_IN_WORLD)],
)
def test_several_bodies_are_drawn_in_their_current_poses(env, focus, origin, turn):
    touch = made(env, arm=FORCES, tip={0: [0, 0, 1.5]})
    arm, tip = env.model.body("arm").id, env.model.body("tip").id
    _, ax = plots.plot_force_bodies(touch, body_names=["tip", "arm"], focus=focus)
    world = {
        body: where + touch.sensor_positions[body] @ ARM_IN_WORLD.T
        for body, where in ((arm, ARM), (tip, TIP))
    }
    everything = np.concatenate([world[tip], world[arm]])
    assert same_points(points(ax, "sensors"), (everything - origin) @ turn)
    felt = np.concatenate([world[tip][:1], world[arm][list(FORCES)]])
    forces = np.array([[0, 0, 1.5], *FORCES.values()]) @ ARM_IN_WORLD.T
    assert_arrows(ax, (felt - origin) @ turn, forces @ turn)


def test_subtree_is_drawn_in_the_frame_of_its_root(env):
    touch = made(env, arm=FORCES)
    arm, tip = env.model.body("arm").id, env.model.body("tip").id
    _, ax = plots.plot_force_body_subtree(touch, body_name="post")
    in_post = [np.array([0, 0, 0.5]) + touch.sensor_positions[arm] @ ARM_IN_POST.T]
    in_post.append(np.array([0.3, 0, 0.5]) + touch.sensor_positions[tip] @ ARM_IN_POST.T)
    assert same_points(points(ax, "sensors"), np.concatenate(in_post))
    assert_arrows(ax, in_post[0][list(FORCES)], np.array(list(FORCES.values())) @ ARM_IN_POST.T)


@pytest.mark.parametrize("kind", [TrimeshTouch, DiscreteTouch])
def test_contact_points_are_drawn_on_the_surface(env, kind):
    touch = made(env, kind)
    _, ax = plots.plot_force_bodies(touch, body_names=["block"])
    found = points(ax, "contact points")
    # The block rests on its four corners, which penetrate the floor by less than 1 mm.
    np.testing.assert_allclose(np.abs(found), [[0.05, 0.05, 0]] * 4, atol=1e-3)
    _, ax = plots.plot_force_bodies(touch, body_names=["block"], show_contact_points=False)
    assert drawn(ax, "contact points") is None


def test_scalar_readings_are_discs_by_color_and_size(env):
    touch = made(env, touch="normal", arm={3: 0.5, 10: 2.0, 17: 1.0})
    fig, ax = plots.plot_force_body(touch, body_name="arm")
    discs = drawn(ax, "readings")
    positions = touch.sensor_positions[env.model.body("arm").id]
    np.testing.assert_allclose(points(ax, "readings"), positions[[3, 17, 10]], atol=1e-9)
    np.testing.assert_allclose(discs.get_array(), [0.5, 1.0, 2.0])
    assert (np.diff(discs.get_sizes()) > 0).all()
    assert (discs.norm.vmin, discs.norm.vmax) == (0, 2)
    assert labels(fig, ax)[3] == ["normal [N] at each sensor"]


def test_color_bar_of_slip_is_in_metres_per_second(env):
    touch = made(env, touch="slip", arm=FORCES)
    fig, ax = plots.plot_force_body(touch, body_name="arm")
    assert labels(fig, ax)[3] == ["slip [m/s] at each sensor"]


@pytest.mark.parametrize("touch", ["force_vector", "normal"])
def test_unloaded_body_is_drawn(env, touch):
    fig, ax = plots.plot_force_body(made(env, touch=touch), body_name="arm")
    fig.canvas.draw()
    assert drawn(ax, "readings") is None or len(drawn(ax, "readings").get_array()) == 0
    assert len(points(ax, "sensors")) > 0


def test_many_sensors_need_few_artists(env):
    touch = TrimeshTouch(
        env, {"scales": {"arm": 0.001}, "touch_function": "force_vector", "response_function": "nearest"}
    )
    arm = env.model.body("arm").id
    assert len(touch.sensor_positions[arm]) > 20000
    touch.sensor_outputs = {arm: np.ones_like(touch.sensor_outputs[arm])}
    _, ax = plots.plot_force_body(touch, body_id=arm)
    assert len(ax.collections) + len(ax.lines) + len(ax.patches) <= 3


def test_methods_of_touch_objects_draw_the_same(env):
    touch = made(env, arm=FORCES)
    _, ax = touch.plot_force_body(body_name="arm")
    _, same = plots.plot_force_body(touch, body_name="arm")
    np.testing.assert_array_equal(drawn(ax, "readings")._segments3d, drawn(same, "readings")._segments3d)
