"""Commands become controls and forces."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tactile_sim import CommandError
from tactile_sim.control.commander import Commander, JointCommand
from tactile_sim.names import Names

MODEL = """
<mujoco><option gravity="0 0 0"/><worldbody>
  <body><joint name="servo" axis="0 0 1"/><geom size=".1"/>
    <body pos="1 0 0"><joint name="motor" axis="0 0 1"/><geom size=".1"/>
      <body pos="1 0 0"><joint name="bare" axis="0 0 1"/><geom size=".1"/>
        <body pos="1 0 0"><joint name="wheel" axis="0 0 1"/><geom size=".1"/></body></body></body></body>
  <body name="loose" pos="0 0 3"><freejoint/><geom size=".1"/></body>
</worldbody><actuator>
  <position joint="servo" kp="50" gear="2"/><motor joint="motor" gear="5"/><velocity joint="wheel" kv="3"/>
</actuator></mujoco>"""


@pytest.fixture
def rig():
    model = mujoco.MjModel.from_xml_string(MODEL)
    names = Names(model)
    gains = {"bare": {"kp": 4.0, "kd": 0.5}, "mot*": {"kp": 2.0}}
    return Commander(model, names, gains), mujoco.MjData(model)


def command(name, position=(), velocity=(), effort=()):
    return JointCommand(name, np.array(position, float), np.array(velocity, float), np.array(effort, float))


def test_a_position_goes_to_the_position_actuator_in_units_of_its_length(rig):
    commander, data = rig
    commander.accept(commander.check(command(["servo"], [0.3])), data)
    np.testing.assert_allclose(data.ctrl, [0.6, 0, 0])
    assert not commander.every_step


def test_an_effort_goes_through_the_motor_or_straight_to_the_joint(rig):
    commander, data = rig
    commander.accept(commander.check(command(["motor", "bare"], effort=[10.0, 0.7])), data)
    commander.apply(data)
    mujoco.mj_forward(commander._model, data)
    np.testing.assert_allclose((data.qfrc_actuator + data.qfrc_applied)[:4], [0, 10, 0.7, 0], atol=1e-12)


def test_a_velocity_goes_to_the_velocity_actuator(rig):
    commander, data = rig
    commander.accept(commander.check(command(["wheel"], velocity=[2.5])), data)
    np.testing.assert_allclose(data.ctrl, [0, 0, 2.5])


def test_feedback_follows_its_law_at_each_step(rig):
    commander, data = rig
    commander.accept(commander.check(command(["bare", "motor"], [0.5, -0.1], [0.2, 0.0])), data)
    data.qpos[:4] = [0, 0.4, 0.1, 0]
    data.qvel[:4] = [0, 0, -0.3, 0]
    commander.apply(data)
    assert commander.every_step
    assert data.qfrc_applied[2] == pytest.approx(4.0 * (0.5 - 0.1) + 0.5 * (0.2 - -0.3))
    assert data.ctrl[1] * 5 == pytest.approx(2.0 * (-0.1 - 0.4))


def test_nan_leaves_a_joint_alone(rig):
    commander, data = rig
    commander.accept(commander.check(command(["servo", "wheel"], [0.3, np.nan], [np.nan, 1.0])), data)
    commander.accept(commander.check(command(["servo"], [np.nan])), data)
    np.testing.assert_allclose(data.ctrl, [0.6, 0, 1.0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (command(["serwo"], [1]), "no joint 'serwo'; did you mean 'servo'"),
        (command(["servo"], [1, 2]), "position has 2 values for 1 names"),
        (command(["servo"], [np.inf]), "position of joint 'servo' is inf; it must be finite"),
        (command(["motor"], effort=[-1e300]), "effort of joint 'motor' is -1e\\+300; .* below 1e\\+10"),
        (command(["servo", "servo"], [1, 2]), "names joint 'servo' twice"),
        (command(["wheel"], [1]), "joint 'wheel' has no position actuator and no gain"),
        (command(["loose"], [1]), "no joint 'loose'"),
    ],
)
def test_bad_commands_are_refused_with_the_reason(rig, given, message):
    with pytest.raises(CommandError, match=message):
        rig[0].check(given)


@pytest.mark.parametrize(
    ("values", "message"), [([1.0], "1 values.*3 actuators"), ([1, np.inf, 0], r"ctrl\[1\] is inf; it must")]
)
def test_bad_controls_are_refused_with_the_reason(rig, values, message):
    with pytest.raises(CommandError, match=message):
        rig[0].check_controls(values)
