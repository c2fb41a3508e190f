"""``engine: trifinger``: commands, skin and built-in motion."""

from __future__ import annotations

import numpy as np
import pytest
from support.errors import raises

from tactile_sim import config, engines
from tactile_sim.common.errors import CommandError, ConfigError, EngineError, PhysicsError
from tactile_sim.control.commander import JointCommand
from tactile_sim.simulation import Simulation
from tactile_sim.trifinger import Action, SimFinger
from tactile_sim.trifinger.collision_objects import CUBE_MASS
from tactile_sim.trifinger.physics import MAX_MOTOR_TORQUE
from tactile_sim.trifinger.tasks import CUBE_WIDTH

GRAVITY = 9.81
NONE = np.empty(0)


def simulation(**keys) -> Simulation:
    """Return a simulation of the robot with the specified configuration keys."""
    return Simulation(config.from_mapping({"engine": "trifinger", "contacts": "all", **keys}))


def command(of: Simulation, position=NONE, effort=NONE, velocity=NONE, names=None) -> None:
    """Apply a joint command to the named joints, by default to all."""
    asked = JointCommand(names or of.commander.joint_names, position, velocity, effort)
    of.accept_targets(of.commander.check(asked))


@pytest.mark.parametrize("finger_type", ["trifingerpro", "trifingeredu", "trifingerone", "fingeredu"])
def test_commands_equal_actions_bit_for_bit(finger_type):
    finger = SimFinger(finger_type)
    node = simulation(trifinger={"type": finger_type, "object": "none"})
    assert node.engine.data.qpos == pytest.approx(finger.physics.data.qpos, abs=0)
    rng = np.random.default_rng(3)
    n = len(node.commander.joint_names)
    for step in range(300):
        if step % 50 == 0:
            torque = rng.uniform(-0.3, 0.3, n)
            position = node.engine.data.qpos[:n] + rng.normal(0, 0.1, n)
            position[rng.random(n) < 0.5] = np.nan
            command(node, position, torque)
        finger.append_desired_action(Action(torque, position))
        node.step()
    assert (node.engine.data.qpos == finger.physics.data.qpos).all()
    assert (node.engine.data.qvel == finger.physics.data.qvel).all()


def test_effort_ends_position_control():
    node = simulation(trifinger={"object": "none"})
    hold = np.array(node.engine.data.qpos[:9])
    command(node, position=hold)
    node.step(100)
    assert node.engine.data.qpos[:9] == pytest.approx(hold, abs=0.05)
    command(node, effort=np.array([5.0]), names=["finger_base_to_upper_joint_0"])
    node.observe()
    torque = node.engine.physics.torque
    # At zero velocity, there is no damping, and the motor delivers its maximum torque.
    assert torque[0] == pytest.approx(MAX_MOTOR_TORQUE - 0.08 * node.engine.data.qvel[0], abs=0.01)
    node.step(300)
    assert node.engine.data.qpos[0] > hold[0] + 0.3
    assert node.engine.data.qpos[3:9] == pytest.approx(hold[3:], abs=0.05)  # the others are still held


def test_other_joints_keep_their_command():
    node = simulation(trifinger={"object": "none"})
    command(node, position=np.full(9, 0.5))
    command(node, position=np.array([np.nan, 0.2]), names=node.commander.joint_names[:2])
    assert node.engine.physics.rules.desired[1].tolist() == [0.5, 0.2, *[0.5] * 7]


def test_velocity_and_controls_are_rejected():
    node = simulation(trifinger={"object": "none"})
    with raises(CommandError, "joint_commands", "velocity"):
        command(node, velocity=np.zeros(9))
    with raises(CommandError, "ctrl", "9", "0"):
        node.commander.check_controls(np.zeros(9))


def test_configured_gains_replace_defaults():
    node = simulation(control={"finger_middle_to_lower_joint_*": {"kp": 4.0}})
    gains = node.engine.physics.rules.gains
    assert gains[0].tolist() == [15.0, 15.0, 4.0] * 3
    assert gains[1].tolist() == [0.5, 1.0, 0.5] * 3


def test_cube_rests_with_its_weight():
    node = simulation()
    command(node, position=np.array(node.engine.data.qpos[:9]))  # otherwise the fingers would fall on it
    node.step(500)
    contacts = node.observe().contacts
    cube = node.names.body_id("cube")
    on_cube = (contacts.bodies == cube)[:, 1:].astype(float) - (contacts.bodies == cube)[:, :1]
    force = (on_cube * contacts.wrench_world[:, :3]).sum(axis=0)
    assert force == pytest.approx([0, 0, CUBE_MASS * GRAVITY], abs=1e-3)
    assert node.engine.body_positions[cube, 2] == pytest.approx(CUBE_WIDTH / 2, abs=1e-3)


def test_grasp_lifts_cube_and_skin_carries_its_weight():
    node = Simulation(config.load("trifinger"))
    cube = node.names.body_id("cube")
    for _ in range(5000):
        node.step()
    high = node.engine.body_positions[cube, 2]
    assert high > CUBE_WIDTH / 2 + 0.03
    for _ in range(2000):
        node.step()
    assert node.engine.body_positions[cube, 2] == pytest.approx(high, abs=2e-3)  # it does not slip
    total = node.observe().forces_world.sum(axis=0)
    # The forces of the cube on the fingers sum to its weight.
    assert total == pytest.approx([0, 0, -CUBE_MASS * GRAVITY], abs=0.02)


def test_reset_restarts_grasp_bit_for_bit():
    node = Simulation(config.load("trifinger"))
    states = []
    for _ in range(2):
        for _ in range(1500):
            node.step()
        states.append(node.engine.data.qpos.copy())
        node.reset()
    assert (states[0] == states[1]).all()


def test_a_command_ends_the_grasp():
    node = Simulation(config.load("trifinger"))
    assert node.moving
    command(node, position=np.array(node.engine.data.qpos[:9]))
    assert not node.moving


def test_unstable_joint_is_named():
    node = simulation(trifinger={"object": "none"})
    node.engine.data.qvel[4] = np.nan
    with raises(PhysicsError, "finger_upper_to_middle_joint_120"):
        node.observe()


def test_engine_is_loaded_by_type():
    engine = engines.load("fingeredu", engine="trifinger")
    engine.step(10)
    assert engine.time == pytest.approx(0.01)
    with raises(ValueError, "'fingered'", "'fingeredu'"):
        engines.load("fingered", engine="trifinger")
    with raises(EngineError, "num_envs", "2"):
        engines.load("fingeredu", engine="trifinger", num_envs=2)


def test_grasp_requires_three_fingers_and_cube():
    with raises(ConfigError, "trifinger.grasp", "fingerpro"):
        simulation(trifinger={"type": "fingerpro", "grasp": True})


def test_noise_of_the_tracked_object_has_its_deviation_and_repeats():
    def poses(**keys):
        node = simulation(trifinger={"object_noise": [0.002, 0.03]}, rates={"sensors": 10.0}, **keys)
        found, true = [], []
        for _ in range(60):
            true.append(node.engine.qpos[node.engine._object].copy())  # an image is taken now
            node.step(100)
            found.append(node.engine.object_pose)
        node.reset()
        node.step(100)
        assert (node.engine.object_pose == found[0]).all()  # a reset restarts the noise
        return np.array(found), np.array(true)

    found, true = poses()
    assert (found == poses()[0]).all() and (found != poses(seed=1)[0]).any()
    errors = found[:, :3] - true[:, :3]
    cosines = np.abs((found[:, 3:] * np.roll(true[:, 3:], -1, axis=1)).sum(axis=1))
    angles = 2 * np.arccos(np.clip(cosines, 0, 1))
    assert np.sqrt((errors**2).mean()) == pytest.approx(0.002, rel=0.25)
    assert np.sqrt((angles**2).mean()) == pytest.approx(0.03 * np.sqrt(3), rel=0.25)
