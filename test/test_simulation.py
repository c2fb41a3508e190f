"""Test a simulation step by step, without ROS."""

from __future__ import annotations

import numpy as np
import pytest
from support.errors import raises

from tactile_sim import CommandError, SceneError, TactileSimError, config
from tactile_sim.control.commander import JointCommand
from tactile_sim.simulation import Simulation

SCENE = """
<mujoco><option timestep="0.002"/><worldbody>
  <geom name="floor" type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="ball_2" pos="1 0 .05"><freejoint/><geom size=".05" mass=".1"/></body>
  <body name="ball_1" pos="1 1 .05"><freejoint/><geom size=".05" mass=".1"/></body>
  <body name="arm" pos="-1 0 1"><joint name="hinge" axis="0 1 0" damping="1"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body>
</worldbody>
<actuator><position joint="hinge" kp="50"/></actuator>
<keyframe>
  <key name="low" qpos="0 0 .0999 1 0 0 0  1 0 .05 1 0 0 0  1 1 .05 1 0 0 0  .5" ctrl=".5"/>
  <key name="high" qpos="0 0 .0999 1 0 0 0  1 0 .05 1 0 0 0  1 1 .05 1 0 0 0  -.5" ctrl="-.5"/>
</keyframe></mujoco>"""


@pytest.fixture
def simulate(tmp_path):
    def make(**parameters) -> Simulation:
        (tmp_path / "scene.xml").write_text(SCENE)
        skin = {"scales": {"box": 0.02}} | parameters.pop("skin", {})
        return Simulation(
            config.from_mapping({"scene": "scene.xml", "skin": skin, **parameters}, tmp_path, "test")
        )

    return make


def go(simulation: Simulation, steps: int) -> None:
    for _ in range(steps):
        simulation.step()


def test_stamps_are_whole_nanoseconds(simulate):
    simulation = simulate()
    go(simulation, 3)
    assert simulation.stamp == 6_000_000
    simulation.reset()
    assert simulation.engine.time == 0.0
    assert simulation.stamp == 6_000_000


def test_taxels_and_wrench_sum_to_the_weight(simulate):
    simulation = simulate()
    go(simulation, 500)
    snapshot = simulation.observe()
    np.testing.assert_allclose(snapshot.forces_world.sum(axis=0), [0, 0, 2 * 9.81], atol=0.02)
    np.testing.assert_allclose(snapshot.wrenches[0], [0, 0, 2 * 9.81, 0, 0, 0], atol=0.02)
    contacts = snapshot.contacts
    assert (contacts.bodies[:, 1] == simulation.names.body_id("box")).all()
    assert (contacts.wrench_world[:, 2] > 0).all()


@pytest.mark.parametrize("distance", ["euclidean", "surface"])
@pytest.mark.parametrize("response", ["nearest", "spread_linear", "hertz"])
@pytest.mark.parametrize("kind", ["mesh", "geom"])
def test_every_kind_of_skin_sums_to_the_weight(simulate, kind, response, distance):
    skin = {"kind": kind, "response_function": response, "distance": distance, "touch_function": "normal"}
    simulation = simulate(skin=skin)
    go(simulation, 500)
    snapshot = simulation.observe()
    assert snapshot.readings32.sum() == pytest.approx(2 * 9.81, abs=0.02)
    assert snapshot.readings32.dtype == np.float32
    np.testing.assert_array_equal(snapshot.readings32, snapshot.readings.astype(np.float32))


def test_a_stiffer_skin_spreads_a_load_less(simulate):
    touched = []
    for stiffness in (1e4, 1e7):
        simulation = simulate(skin={"response_function": "hertz", "stiffness": stiffness})
        go(simulation, 500)
        touched.append(np.count_nonzero(simulation.observe().readings.any(axis=1)))
    assert touched[1] == 4 < touched[0]


def test_touch_function_can_be_changed_at_run_time(simulate):
    simulation = simulate()
    simulation.engine.data.qvel[0] = 0.5
    for touch, value in (("slip", -0.5), ("friction", None)):
        simulation.update(simulation.settings.replace("skin.touch_function", touch))
        felt = simulation.observe().readings
        touched = felt[felt.any(axis=1)]
        assert (touched[:, 0] < 0).all()
        if value:
            np.testing.assert_allclose(touched[:, 0], value, rtol=0.01)


@pytest.mark.parametrize(("which", "expected"), [("skin", {"box"}), ("all", {"box", "ball_1", "ball_2"})])
def test_contacts_are_those_of_the_skin_or_all(simulate, which, expected):
    simulation = simulate(contacts=which)
    go(simulation, 300)
    bodies = simulation.observe().contacts.bodies
    assert {simulation.names.bodies[body] for body in bodies.ravel()} - {"world"} == expected


def test_throws_aim_at_bodies_where_they_are_whether_or_not_they_were_observed(simulate):
    seen, unseen = simulate(), simulate()
    for simulation in (seen, unseen):
        simulation.engine.qvel[0] = 1.0
        simulation.step(10)
    seen.observe()
    for simulation in (seen, unseen):
        simulation.throw()
    np.testing.assert_array_equal(seen.engine.qpos, unseen.engine.qpos)


def test_throws_hit_the_skin_and_repeat_after_a_reset(simulate):
    simulation = simulate()
    names = [simulation.throw() for _ in range(3)]
    assert sorted(names[:2]) == ["ball_1", "ball_2"]
    assert names[2] == names[0]
    simulation.reset()
    assert simulation.throw() == names[0]
    start = simulation.engine.data.qpos.copy()
    ball, box = (simulation.names.body_id(name) for name in (names[0], "box"))
    hit = False
    for _ in range(300):
        pairs = {tuple(sorted(pair)) for pair in simulation.observe().contacts.bodies.tolist()}
        hit |= tuple(sorted((ball, box))) in pairs
        simulation.step()
    assert hit
    simulation.reset()
    simulation.throw()
    np.testing.assert_array_equal(simulation.engine.data.qpos, start)


def test_motion_reaches_its_keyframes_and_repeats_after_a_reset(simulate):
    simulation = simulate(motion={"keyframes": ["low", "high"], "period": 1.0})
    trail = []
    for _ in range(2):
        controls = []
        for _ in range(600):
            simulation.apply_commands()
            controls.append(simulation.engine.data.ctrl[0])
            simulation.step()
        trail.append(controls)
        simulation.reset()
        simulation.step_count += 1  # as if the previous state had already been published
    np.testing.assert_array_equal(trail[0], trail[1])
    assert trail[0][0] == pytest.approx(0.5)
    assert trail[0][250] == pytest.approx(-0.5)
    assert trail[0][125] == pytest.approx(0.0, abs=1e-9)
    assert trail[0][500] == pytest.approx(0.5)


def test_a_command_stops_built_in_motion_until_the_reset(simulate):
    simulation = simulate(motion={"keyframes": ["low", "high"], "period": 1.0})
    go(simulation, 10)
    simulation.command_controls(simulation.commander.check_controls([0.2]))
    go(simulation, 200)
    assert simulation.engine.data.ctrl[0] == 0.2
    simulation.reset()
    go(simulation, 1)
    assert simulation.engine.data.ctrl[0] == pytest.approx(0.5)


def test_several_steps_at_once_equal_single_steps(simulate):
    one, many = (simulate(motion={"keyframes": ["low", "high"], "period": 1.0}) for _ in range(2))
    go(one, 400)
    many.step(400)
    np.testing.assert_array_equal(one.engine.data.qpos, many.engine.data.qpos)


def test_controls_are_reset_after_the_command_timeout(simulate):
    simulation = simulate(command_timeout=0.1)
    simulation.command_controls(np.array([0.4]))
    go(simulation, 40)
    assert simulation.engine.data.ctrl[0] == 0.4
    go(simulation, 20)
    assert simulation.engine.data.ctrl[0] == 0.0


@pytest.mark.parametrize("mode", ["mean", "peak"])
def test_sampling_covers_the_interval_between_two_messages(simulate, mode):
    simulation = simulate(skin={"sampling": mode}, rates={"tactile": 1e-3})
    readings = []
    for _ in range(50):
        snapshot = simulation.observe()
        readings.append(snapshot.ideal_readings())
        value = snapshot.readings
        simulation.step()
    stack = np.array(readings[1:])  # the first state was the end of an interval
    if mode == "mean":
        np.testing.assert_allclose(value, stack.mean(axis=0), atol=1e-12)
    else:
        strongest = np.linalg.norm(stack, axis=2).argmax(axis=0)
        np.testing.assert_array_equal(value, stack[strongest, np.arange(stack.shape[1])])


def test_command_timeout_does_not_depend_on_the_number_of_steps_per_call(simulate):
    one, many = (simulate(command_timeout=0.033) for _ in range(2))
    for simulation in (one, many):
        simulation.command_controls(np.array([0.4]))
    go(one, 100)
    many.step(100)
    np.testing.assert_array_equal(one.engine.data.qpos, many.engine.data.qpos)


def test_a_raw_control_replaces_the_command_of_its_joint(simulate):
    simulation = simulate(control={"hinge": {"kp": 1.0}})
    commander = simulation.commander
    effort = JointCommand(["hinge"], np.array([]), np.array([]), np.array([3.0]))
    simulation.accept_targets(commander.check(effort))
    go(simulation, 1)
    assert simulation.engine.data.qfrc_applied[commander.dofs[0]] == 3.0
    simulation.command_controls(np.array([0.1]))
    go(simulation, 1)
    assert simulation.engine.data.qfrc_applied[commander.dofs[0]] == 0.0
    assert simulation.engine.data.ctrl[0] == 0.1


def test_the_tare_survives_a_reset(simulate):
    simulation = simulate()
    go(simulation, 300)
    simulation.take_tare()
    assert np.abs(simulation.observe().readings).max() < 1e-9
    zero = simulation.observe().truth
    simulation.reset()
    snapshot = simulation.observe()
    np.testing.assert_allclose(snapshot.readings, snapshot.truth - zero, atol=1e-6)


def test_time_never_decreases(simulate):
    simulation = simulate()
    go(simulation, 3)
    with pytest.raises(CommandError):
        simulation.step(-1)
    assert simulation.step_count == 3


@pytest.mark.parametrize(
    ("error", "change", "facts"),
    [
        (SceneError, {"body": "bux"}, ["'bux'", "'box'"]),
        (CommandError, {"body": "arm"}, ["'arm'", "free joint"]),
        (CommandError, {"position": np.array([0, np.nan, 0])}, ["finite"]),
        (CommandError, {"quaternion": np.zeros(4)}, ["zero"]),
    ],
)
def test_invalid_state_is_rejected_and_changes_nothing(simulate, error, change, facts):
    simulation = simulate()
    before = simulation.engine.data.qpos.copy()
    arguments = {
        "body": "box", "position": np.zeros(3), "quaternion": np.array([1.0, 0, 0, 0]),
        "linear": np.zeros(3), "angular": np.zeros(3),
    }  # fmt: skip
    with raises(error, *facts):
        simulation.set_body_state(**arguments | change)
    np.testing.assert_array_equal(simulation.engine.data.qpos, before)


@pytest.mark.parametrize(
    ("parameters", "facts"),
    [
        ({"control": {"hing": {"kp": 1.0}}}, ["control.hing", "'hinge'"]),
        ({"motion": {"keyframes": ["lov"]}}, ["'lov'", "'low'"]),
        ({"skin": {"scales": {"bax": 0.02}}}, ["skin.scales.bax", "'box'"]),
    ],
)
def test_settings_that_do_not_match_the_scene_are_rejected(simulate, parameters, facts):
    with raises(TactileSimError, *facts):
        simulate(**parameters)


def test_observation_does_not_change_stored_readings() -> None:
    observed, alone = Simulation("gripper"), Simulation("gripper")
    for _ in range(40):
        observed.step(1)
        observed.observe().truth[:] = 100.0
        alone.step(1)
    np.testing.assert_array_equal(observed.published[0], alone.published[0])


def test_native_steps_equal_those_in_python(monkeypatch):
    def run() -> list:
        simulation = Simulation("gripper")
        seen = []
        for steps in (1, 1, 700, 2, 3):
            simulation.step(steps)
            snapshot = simulation.observe()
            seen += [
                simulation.engine.qpos.copy(),
                snapshot.readings,
                *snapshot.pad_table,
                simulation.published[0],
            ]
        return seen

    native = run()
    monkeypatch.setattr(Simulation, "stepper", lambda self: None)
    for one, other in zip(native, run(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert native[-1].any()  # the pads touch something
