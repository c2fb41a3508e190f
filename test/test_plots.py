"""Plots show the sensors where they are, what they feel as it is, in the frame that they tell."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import matplotlib
import mujoco
import numpy as np
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from tactile_sim import ConfigError, SceneError, plots
from tactile_sim.touch import DiscreteTouch, TrimeshTouch

SCENE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="post" pos="1 2 3" quat="0 0 0 1">
      <body name="arm" pos="0 0 .5" quat="0.70710678118654752 0.70710678118654752 0 0">
        <geom name="upper" type="box" size=".05 .04 .03"/>
        <geom name="lower" type="sphere" size=".03" pos=".1 0 0"/>
        <body name="tip" pos=".3 0 0"><geom name="tip" type="sphere" size=".03"/></body>
      </body>
    </body>
    <body name="block" pos="0 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
    <body name="bare" pos="-1 0 1"><geom size=".1"/></body>
  </worldbody>
</mujoco>"""
SCALES = {"arm": 0.02, "tip": 0.02, "block": 0.02}
# Of the scene above, by hand. post: half a turn about z. arm: a quarter turn about x on top of it.
POST, ARM, TIP = np.array([1, 2, 3.0]), np.array([1, 2, 3.5]), np.array([0.7, 2, 3.5])
HALF_TURN = np.diag([-1.0, -1, 1])
ARM_IN_POST = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
ARM_IN_WORLD = HALF_TURN @ ARM_IN_POST
FORCES = {3: [0, 0, -2.0], 10: [1.0, 0, 0], 17: [0, 3.0, 0]}
"""[N] on some sensors."""


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def env():
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 200)
    mujoco.mj_forward(model, data)
    return SimpleNamespace(model=model, data=data)


def made(env, kind=TrimeshTouch, touch="force_vector", **bodies):
    """A touch object whose named parts feel FORCES, or what is given, and all others nothing."""
    made = kind(env, {"scales": SCALES, "touch_function": touch, "response_function": "nearest"})
    outputs = {part: np.zeros_like(output) for part, output in made.sensor_outputs.items()}
    for name, forces in bodies.items():
        part = env.model.body(name).id if kind is TrimeshTouch else env.model.geom(name).id
        for sensor, force in forces.items():
            outputs[part][sensor] = force
    made.sensor_outputs = outputs
    return made


def drawn(ax, label):
    """What of a figure bears a label: an artist, of which there is one at most."""
    found = [artist for artist in ax.collections if artist.get_label() == label]
    assert len(found) <= 1
    return found[0] if found else None


def points(ax, label):
    return np.stack(drawn(ax, label)._offsets3d, axis=1)


def same_points(a, b):
    """Whether two sets of points (n, 3) are the same, in whatever order."""
    a, b = (np.array(sorted(np.round(p, 9).tolist())) for p in (a, b))
    return a.shape == b.shape and np.allclose(a, b, atol=1e-8)


def assert_arrows(ax, positions, forces):
    """Arrows show these forces: tips at the sensors, lengths in one proportion, colours in newtons."""
    arrows = drawn(ax, "felt")
    tails, tips = (np.array([line[i] for line in arrows._segments3d]) for i in (0, 1))
    sizes = np.linalg.norm(forces, axis=1)
    order = np.argsort(sizes)
    np.testing.assert_allclose(tips, np.asarray(positions)[order], atol=1e-9)
    per_newton = np.linalg.norm(tips - tails, axis=1) / sizes[order]
    np.testing.assert_allclose(per_newton, per_newton[0], rtol=1e-6)
    np.testing.assert_allclose(tips - tails, per_newton[0] * np.asarray(forces)[order], atol=1e-9)
    np.testing.assert_allclose(arrows.get_array(), sizes[order], rtol=1e-6)


def labels(fig, ax):
    return ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel(), [other.get_ylabel() for other in fig.axes[1:]]


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
    # The arm reaches from x = -0.05 to 0.13.
    assert 0.18 < ranges[0] < 0.21


def test_a_lower_plotting_limit_narrows_the_axes(env):
    touch = made(env)
    touch.plotting_limits[env.model.body("arm").id] = 0.06
    _, ax = plots.plot_sensors_body(touch, body_name="arm")
    assert ax.get_xlim()[1] < 0.07


def test_forces_on_a_body_are_arrows_that_end_at_their_sensors(env):
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


def test_a_body_of_geoms_is_drawn_whole_in_the_frame_of_the_body(env):
    touch = made(env, DiscreteTouch, lower=FORCES)
    upper, lower = env.model.geom("upper").id, env.model.geom("lower").id
    _, ax = plots.plot_force_body(touch, body_name="arm")
    moved = touch.sensor_positions[lower] + [0.1, 0, 0]
    assert same_points(points(ax, "sensors"), np.concatenate([touch.sensor_positions[upper], moved]))
    assert_arrows(ax, moved[list(FORCES)], list(FORCES.values()))


def test_forces_given_in_the_world_are_turned_into_the_frame_of_the_body(env):
    touch = made(env, touch="force_vector_global", arm=FORCES)
    _, ax = plots.plot_force_body(touch, body_name="arm")
    positions = touch.sensor_positions[env.model.body("arm").id][list(FORCES)]
    assert_arrows(ax, positions, np.array(list(FORCES.values())) @ ARM_IN_WORLD)


@pytest.mark.parametrize(
    "focus, origin, turn",
    [("world", np.zeros(3), np.eye(3)), ("first", TIP, ARM_IN_WORLD)],
)
def test_several_bodies_are_drawn_where_they_are_now(env, focus, origin, turn):
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


def test_a_subtree_is_drawn_in_the_frame_of_its_root(env):
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
    # A block rests on its four corners, which lie in the floor by less than a millimetre.
    np.testing.assert_allclose(np.abs(found), [[0.05, 0.05, 0]] * 4, atol=1e-3)
    _, ax = plots.plot_force_bodies(touch, body_names=["block"], show_contact_points=False)
    assert drawn(ax, "contact points") is None


def test_a_scalar_is_drawn_as_discs_by_colour_and_size(env):
    touch = made(env, touch="normal", arm={3: 0.5, 10: 2.0, 17: 1.0})
    fig, ax = plots.plot_force_body(touch, body_name="arm")
    discs = drawn(ax, "felt")
    positions = touch.sensor_positions[env.model.body("arm").id]
    np.testing.assert_allclose(points(ax, "felt"), positions[[3, 17, 10]], atol=1e-9)
    np.testing.assert_allclose(discs.get_array(), [0.5, 1.0, 2.0])
    assert (np.diff(discs.get_sizes()) > 0).all()
    assert (discs.norm.vmin, discs.norm.vmax) == (0, 2)
    assert labels(fig, ax)[3] == ["normal [N] at each sensor"]


def test_the_colours_of_slip_are_told_in_metres_a_second(env):
    touch = made(env, touch="slip", arm=FORCES)
    fig, ax = plots.plot_force_body(touch, body_name="arm")
    assert labels(fig, ax)[3] == ["slip [m/s] at each sensor"]


@pytest.mark.parametrize("touch", ["force_vector", "normal"])
def test_a_body_that_feels_nothing_is_drawn_all_the_same(env, touch):
    fig, ax = plots.plot_force_body(made(env, touch=touch), body_name="arm")
    fig.canvas.draw()
    assert drawn(ax, "felt") is None or len(drawn(ax, "felt").get_array()) == 0
    assert len(points(ax, "sensors")) > 0


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


def test_many_sensors_are_few_artists(env):
    touch = TrimeshTouch(
        env, {"scales": {"arm": 0.001}, "touch_function": "force_vector", "response_function": "nearest"}
    )
    arm = env.model.body("arm").id
    assert len(touch.sensor_positions[arm]) > 20000
    touch.sensor_outputs = {arm: np.ones_like(touch.sensor_outputs[arm])}
    _, ax = plots.plot_force_body(touch, body_id=arm)
    assert len(ax.collections) + len(ax.lines) + len(ax.patches) <= 3


def test_methods_of_touch_objects_are_these_functions(env):
    touch = made(env, arm=FORCES)
    _, ax = touch.plot_force_body(body_name="arm")
    _, same = plots.plot_force_body(touch, body_name="arm")
    np.testing.assert_array_equal(drawn(ax, "felt")._segments3d, drawn(same, "felt")._segments3d)


@pytest.mark.parametrize(
    "kind, plot, arguments, told",
    [
        (TrimeshTouch, "plot_force_body", {"body_name": "arn"}, "no body named 'arn'; did you mean 'arm'"),
        (TrimeshTouch, "plot_force_body", {"body_id": 99}, "no body 99"),
        (TrimeshTouch, "plot_sensors_body", {}, "which body"),
        (TrimeshTouch, "plot_sensors_body", {"body_name": "bare"}, "'bare' has no sensors; there are: arm"),
        (TrimeshTouch, "plot_force_body_subtree", {"body_name": "bare"}, "'bare' has no sensors"),
        (TrimeshTouch, "plot_sensors_geom", {"geom_name": "upper"}, "TrimeshTouch are on bodies"),
        (TrimeshTouch, "plot_force_bodies", {}, "body_ids or body_names"),
        (TrimeshTouch, "visualize_contacts_subtree", {"root_name": "arm", "focus_body": "tap"}, "mean 'tip'"),
        (DiscreteTouch, "plot_force_geom", {"geom_name": "floor"}, "'floor' has no sensors; there are"),
        (DiscreteTouch, "plot_sensors_geom", {"geom_name": "upepr"}, "did you mean 'upper'"),
    ],
)
def test_what_does_not_exist_is_told(env, kind, plot, arguments, told):
    with pytest.raises(SceneError, match=told):
        getattr(plots, plot)(made(env, kind), **arguments)
    assert plt.get_fignums() == []


def test_what_cannot_be_an_argument_is_told(env):
    with pytest.raises(ConfigError, match=r"focus: there is no 'wolrd'; did you mean 'world'\?"):
        plots.plot_force_bodies(made(env), body_names=["arm"], focus="wolrd")
    with pytest.raises(ConfigError, match=r"camera_offset: three numbers .* shape \(2,\)"):
        plots.visualize_contacts_subtree(made(env), root_name="arm", camera_offset=[0, 1])


def test_before_the_first_forward_there_are_no_poses_to_plot(env):
    touch = made(env)
    touch.m_data = mujoco.MjData(env.model)
    with pytest.raises(SceneError, match="mj_forward"):
        plots.plot_force_bodies(touch, body_names=["arm"])


def test_only_plotting_imports_matplotlib_and_no_backend_is_chosen_for_the_user():
    code = """if True:
        import sys
        import tactile_sim.touch
        assert "matplotlib" not in sys.modules
        import matplotlib
        matplotlib.use("svg")
        import tactile_sim.plots
        assert matplotlib.get_backend() == "svg"
    """
    subprocess.run([sys.executable, "-c", code], check=True)
