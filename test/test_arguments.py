"""Invalid arguments of the Python API raise errors of this package that name the argument and the value."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from support.errors import raises

import tactile_sim
from tactile_sim import (
    BagError,
    CommandError,
    ConfigError,
    EngineError,
    SceneError,
    Simulation,
    bag,
    config,
    engines,
)
from tactile_sim.common.errors import PhysicsError
from tactile_sim.control.trajectory import JointTrajectory
from tactile_sim.feelers import Feelers, place

SCENE = """
<mujoco><worldbody><geom type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="mover" mocap="true" pos="3 3 3"/>
  <body name="arm" pos="-1 0 1"><joint name="hinge" axis="0 1 0" damping="1"/>
    <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body>
</worldbody><equality><weld name="weld" body1="mover" body2="arm" active="false"/></equality>
<actuator><position name="servo" joint="hinge" kp="50"/></actuator>
<sensor><contact name="sole" body1="box" data="found force torque dist pos normal tangent"/></sensor>
<keyframe><key name="home"/></keyframe></mujoco>"""
SETTINGS = {"skin": {"scales": {"box": 0.05}}, "grippers": {"hand": {"joints": ["hinge"]}}}
NAN = np.nan
Z, UNIT = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def simulation():
    return Simulation(mujoco.MjSpec.from_string(SCENE), SETTINGS)


def one_point(**changes) -> JointTrajectory:
    return JointTrajectory(**({"joints": ["hinge"], "times": [0.5], "positions": [[0.0]]} | changes))


CALLS = {
    "step 'x'": (lambda s: s.step("x"), CommandError, ("n", "'x'")),
    "step nan": (lambda s: s.step(NAN), CommandError, ("n", "nan")),
    "step inf": (lambda s: s.step(np.inf), CommandError, ("n", "inf")),
    "step 1.5": (lambda s: s.step(1.5), CommandError, ("n", "1.5")),
    "step -1": (lambda s: s.step(-1), CommandError, ("n", "-1")),
    "position 3": (lambda s: s.command_joints(3), CommandError, ("position", "3")),
    "velocity x": (lambda s: s.command_joints(velocity="x"), CommandError, ("velocity", "'x'")),
    "joint None": (lambda s: s.command_joints({"hinge": None}), CommandError, ("'hinge'", "None")),
    "joint text": (lambda s: s.command_joints({"hinge": "x"}), CommandError, ("'hinge'", "'x'")),
    "joint list": (lambda s: s.command_joints({"hinge": [1, 2]}), CommandError, ("'hinge'", "(2,)")),
    "joint ragged": (lambda s: s.command_joints({"hinge": [[1], [2]]}), CommandError, ("'hinge'", "(2, 1)")),
    "joint id": (lambda s: s.command_joints({0: 1.0}), CommandError, ("0", "hinge")),
    "set_joints 3": (lambda s: s.set_joints(3), CommandError, ("position", "3")),
    "set_joints x": (lambda s: s.set_joints({"hinge": "x"}), CommandError, ("position", "'hinge'", "'x'")),
    "reset 99": (lambda s: s.reset(99), EngineError, ("99", "home")),
    "reset 1.5": (lambda s: s.reset(1.5), EngineError, ("1.5", "home")),
    "reset name": (lambda s: s.reset("hom"), EngineError, ("'hom'", "'home'")),
    "reset array": (lambda s: s.reset(np.zeros(2)), EngineError, ("home",)),
    "gripper []": (lambda s: s.command_gripper([], 0.1), CommandError, ("[]", "hand")),
    "gripper nan": (lambda s: s.command_gripper("hand", NAN), CommandError, ("position", "nan")),
    "no trajectory": (lambda s: s.command_trajectory(None), CommandError, ("None",)),
    "delay nan": (lambda s: s.command_trajectory(one_point(), NAN), CommandError, ("delay", "nan")),
    "joints": (lambda s: one_point(joints="hinge"), CommandError, ("joints", "'hinge'")),
    "joint ids": (lambda s: s.command_trajectory(one_point(joints=[0])), CommandError, ("0", "hinge")),
    "times": (lambda s: s.command_trajectory(one_point(times=[NAN])), CommandError, ("from_start", "nan")),
    "positions": (lambda s: one_point(positions="x"), CommandError, ("positions", "'x'")),
    "shape": (lambda s: s.command_trajectory(one_point(positions=[0.0])), CommandError, ("(1, 1)", "(1,)")),
    "pose": (lambda s: s.set_body_state("box", "x", UNIT, Z, Z), CommandError, ("box", "position", "'x'")),
    "pose shape": (lambda s: s.set_body_state("box", Z, Z, Z, Z), CommandError, ("orientation", "(4,)")),
    "body []": (lambda s: s.set_body_state([], Z, UNIT, Z, Z), SceneError, ("[]",)),
    "mocap": (lambda s: s.set_mocap_pose("mover", None, UNIT), CommandError, ("position", "None")),
    "mocap name": (lambda s: s.set_mocap_pose("move", Z, UNIT), CommandError, ("'move'", "'mover'")),
    "equality": (lambda s: s.set_equality("weld", "off"), CommandError, ("active", "'off'")),
    "push body": (lambda s: s.push("box", Z), CommandError, ("body", "'box'")),
    "push force": (lambda s: s.push(1, [1, 2]), CommandError, ("force", "(3,)", "(2,)")),
    "pull limit": (lambda s: s.interaction.pull(1, Z, Z, "x"), CommandError, ("limit", "'x'")),
    "press force": (lambda s: s.interaction.press(1, Z, NAN, 1.0), CommandError, ("force", "nan")),
    "press time": (lambda s: s.interaction.press(1, Z, Z, np.inf), CommandError, ("duration", "inf")),
    "controls": (lambda s: s.command_controls([[1], [2, 3]]), CommandError, ("ctrl",)),
    "engine controls": (lambda s: setattr(s.engine, "ctrl", [1, 2]), CommandError, ("ctrl", "(1,)", "(2,)")),
    "states": (lambda s: s.engine.body_states(3), CommandError, ("bodies", "3")),
    "state name": (lambda s: s.engine.body_states(["box"]), CommandError, ("bodies", "'box'")),
    "state id": (lambda s: s.engine.body_states([1, 99]), CommandError, ("bodies", "99")),
    "mass body": (lambda s: s.engine.effective_mass(99, Z), CommandError, ("body", "99")),
    "mass point": (lambda s: s.engine.effective_mass(1, np.zeros(4)), CommandError, ("point", "(4,)")),
    "free body": (lambda s: s.engine.set_free_body(-1, Z, UNIT, Z, Z), CommandError, ("body", "-1")),
    "no free joint": (lambda s: s.engine.set_free_body(3, Z, UNIT, Z, Z), CommandError, ("body", "[1]", "3")),
    "free position": (lambda s: s.engine.set_free_body(1, None, UNIT, Z, Z), CommandError, ("position",)),
    "quaternion": (lambda s: s.engine.set_free_body(1, Z, np.zeros(4), Z, Z), CommandError, ("quaternion",)),
    "free linear": (lambda s: s.engine.set_free_body(1, Z, UNIT, "x", Z), CommandError, ("linear", "'x'")),
    "free angular": (lambda s: s.engine.set_free_body(1, Z, UNIT, Z, NAN), CommandError, ("angular", "nan")),
    "strike body": (lambda s: s.engine.strike("box", Z), CommandError, ("body", "'box'")),
    "impulse": (lambda s: s.engine.strike(1, [NAN, 0, 0]), CommandError, ("impulse", "nan")),
    "engine step": (lambda s: s.engine.step(-1), EngineError, ("n", "-1")),
    "reading": (lambda s: s.observe().reading("bux"), CommandError, ("'bux'", "'box'")),
    "reading []": (lambda s: s.observe().reading([]), CommandError, ("[]", "box")),
    "quantity": (lambda s: s.observe().ideal_readings(3), ConfigError, ("3",)),
    "quantity name": (lambda s: s.observe().ideal_readings("norml"), ConfigError, ("'norml'", "'normal'")),
    "reading type": (lambda s: s.observe().ideal_readings("normal", [2]), CommandError, ("dtype", "(1,)")),
    "sensor": (lambda s: s.engine.get_contact_sensor("sol"), EngineError, ("'sol'", "'sole'")),
    "sensor 3": (lambda s: s.engine.get_sensor_data([3]), EngineError, ("[3]", "sole")),
    "load None": (lambda s: tactile_sim.load(None), ConfigError, ("None",)),
    "load 3": (lambda s: tactile_sim.load(3), ConfigError, ("3",)),
    "configuration None": (lambda s: config.load(None), ConfigError, ("None",)),
    "configuration bytes": (lambda s: config.load(b"touch_cube"), ConfigError, ("b'touch_cube'",)),
    "node": (lambda s: config.load("touch_cube", 3), ConfigError, ("node", "3")),
    "changes": (lambda s: config.load("touch_cube", changes=3), ConfigError, ("changes", "3")),
    "base": (lambda s: config.from_mapping({"scene": "a.xml"}, "folder"), ConfigError, ("base", "'folder'")),
    "key": (lambda s: s.settings.replace(3, 0.0), ConfigError, ("key", "3")),
    "update": (lambda s: s.update({"rates": 3}), ConfigError, ("settings", "rates")),
    "set_state": (lambda s: s.engine.set_state(np.zeros(3)), EngineError, ("values", "(3,)")),
    "set_state x": (lambda s: s.engine.set_state("x"), EngineError, ("values", "'x'")),
    "get_state": (lambda s: s.engine.get_state(None), EngineError, ("out", "None")),
    "scene": (lambda s: engines.load(None), SceneError, ("scene", "None")),
    "settings": (lambda s: Simulation(mujoco.MjSpec(), "x"), ConfigError, ("settings", "'x'")),
    "threads": (lambda s: engines.load("touch_cube", threads="x"), EngineError, ("threads", "'x'")),
    "bag": (lambda s: bag.read(3), BagError, ("3",)),
    "topics": (lambda s: bag.read("bag", "clock"), BagError, ("topics", "'clock'")),
    "feelers": (lambda s: place(s.engine.model, "box", spacing=0.1), ConfigError, ("body_id", "'box'")),
    "spacing": (lambda s: place(s.engine.model, 1, spacing="x"), ConfigError, ("spacing", "'x'")),
    "placed": (lambda s: Feelers(s.engine.model, "box"), ConfigError, ("placed", "'box'")),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_invalid_argument_is_named_and_changes_nothing(simulation, call):
    act, error, facts = CALLS[call]
    before, after = np.empty((2, simulation.engine.state_size))
    simulation.engine.get_state(before)
    with raises(error, *facts):
        act(simulation)
    simulation.engine.get_state(after)
    np.testing.assert_array_equal(after, before)


def test_folder_is_no_configuration(tmp_path):
    with raises(ConfigError, tmp_path.name):
        tactile_sim.load(tmp_path)


def test_poses_of_another_model_are_rejected(simulation):
    feelers = Feelers(simulation.engine.model, [place(simulation.engine.model, 1, spacing=0.1)])
    data = simulation.engine.data
    with raises(CommandError, "body_positions", "(4, 3)", "(3, 3)"):
        feelers.free_lengths(data.xpos[1:], data.xmat, data.geom_xpos, data.geom_xmat)
    with raises(CommandError, "data", "None"):
        feelers.read(None)


@pytest.mark.parametrize("name", ["qpos", "qvel"])
def test_observe_raises_the_fault_that_step_raises(name):
    simulation = Simulation(mujoco.MjSpec.from_string(SCENE), SETTINGS)
    state = getattr(simulation.engine, name)
    state[-1] = NAN
    with raises(PhysicsError, "hinge"):
        simulation.observe()
    for act in (simulation.take_tare, simulation.step):
        with pytest.raises(PhysicsError):
            act()
    simulation.reset()
    assert np.isfinite(simulation.observe().readings).all()


def test_assignment_to_states_of_the_engine_is_written_to_the_physics():
    simulation = Simulation(mujoco.MjSpec.from_string(SCENE), SETTINGS)
    engine = simulation.engine
    engine.qfrc_applied = np.arange(7.0)
    engine.xfrc_applied += 1.0
    engine.eq_active = [True]
    np.testing.assert_array_equal(engine.data.qfrc_applied, np.arange(7.0))
    assert (engine.data.xfrc_applied == 1.0).all() and engine.data.eq_active[0] == 1
