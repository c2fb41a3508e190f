"""Commands are converted to controls that move joints to their targets."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from support.errors import raises

from tactile_sim import CommandError
from tactile_sim.common.names import Names
from tactile_sim.control.commander import Commander, JointCommand

MODEL = """
<mujoco><option gravity="0 0 0"/><worldbody>
  <body><joint name="servo" axis="0 0 1"/><geom size=".1"/>
    <body pos="1 0 0"><joint name="motor" axis="0 0 1"/><geom size=".1"/>
      <body pos="1 0 0"><joint name="bare" axis="0 0 1" actuatorfrcrange="-3 3"/><geom size=".1"/>
        <body pos="1 0 0"><joint name="wheel" axis="0 0 1"/><geom size=".1"/></body></body></body></body>
  <body name="loose" pos="0 0 3"><freejoint/><geom size=".1"/></body>
</worldbody><actuator>
  <position joint="servo" kp="50" gear="2" ctrlrange="-2 2"/><motor joint="motor" gear="5"/>
  <velocity joint="wheel" kv="3"/>
</actuator></mujoco>"""


@pytest.fixture
def rig():
    model = mujoco.MjModel.from_xml_string(MODEL)
    return Commander(model, Names(model)), mujoco.MjData(model)


def command(name, position=(), velocity=(), effort=()):
    return JointCommand(name, np.array(position, float), np.array(velocity, float), np.array(effort, float))


# -- controls of a joint: 2 kg on a vertical rail, with and without gravity ----------------------------------

RAIL = """
<mujoco><option gravity="0 0 {gravity}" integrator="implicitfast"/><worldbody>
  <body><joint name="rail" type="slide" axis="0 0 1" damping="{damping}"/><geom size=".1" mass="2"/></body>
</worldbody><tendon><fixed name="cord"><joint joint="rail" coef=".5"/></fixed></tendon>
<actuator>{actuator}</actuator></mujoco>"""


def on_rail(actuator: str, steps: int, gravity: float = 0.0, damping: float = 0.0, **target) -> mujoco.MjData:
    """Return the state of a body on a rail after ``steps`` steps of 2 ms with a constant target."""
    model = mujoco.MjModel.from_xml_string(RAIL.format(actuator=actuator, gravity=gravity, damping=damping))
    commander, data = Commander(model, Names(model)), mujoco.MjData(model)
    commander.accept(
        commander.check(command(["rail"], **{key: [value] for key, value in target.items()})), data
    )
    mujoco.mj_step(model, data, steps)
    return data


AFFINE = '<general {} biastype="affine" gainprm="{}" biasprm="{}"/>'
SERVOS = {  # actuator: stiffness on the rail [N/m]
    AFFINE.format('joint="rail"', "500", "0 -200 0"): 200,  # the arm of Adroit
    AFFINE.format('joint="rail" ctrllimited="true" ctrlrange="0 255"', "0.3137", "0 -100 -10"): 100,
    AFFINE.format('joint="rail" gear="-3"', "40", "7 -50 -1"): 50 * 3**2,
    AFFINE.format('joint="rail" dyntype="filterexact" dynprm=".01"', "20", "0 -100 0"): 100,
    AFFINE.format('tendon="cord" gear="4"', "9", "1 -30 0"): 30 * (0.5 * 4) ** 2,
    '<position joint="rail" kp="80" kv="3" gear="2"/>': 80 * 2**2,
    '<pid joint="rail" kp="80" kv="3" gear="2" input="pos vel ff"/>': 80 * 2**2,
}


@pytest.mark.parametrize(("actuator", "stiffness"), SERVOS.items())
@pytest.mark.parametrize("gravity", [0.0, -9.81])
def test_servo_reaches_position_that_statics_gives(actuator, stiffness, gravity):
    data = on_rail(actuator, 5000, gravity, damping=30.0, position=0.1)
    assert data.qpos[0] == pytest.approx(0.1 + 2.0 * gravity / stiffness, abs=1e-6)


@pytest.mark.parametrize(
    "actuator",
    [
        '<velocity joint="rail" kv="30" gear="2"/>',
        AFFINE.format('joint="rail" gear="-2"', "5", "3 0 -40"),
        '<intvelocity joint="rail" kp="900" kv="60" gear="2" actrange="-9 9"/>',
        '<pid joint="rail" kp="0" kv="30" gear="2" input="vel"/>',
    ],
)
def test_velocity_servo_reaches_velocity(actuator):
    assert on_rail(actuator, 1500, velocity=0.4).qvel[0] == pytest.approx(0.4, abs=1e-6)


@pytest.mark.parametrize(
    "actuator",
    [
        '<motor joint="rail" gear="5"/>',
        AFFINE.format('joint="rail" gear="-5"', "3", "2 0 0"),
        '<pid joint="rail" kp="0" kv="0" gear="2" input="ff"/>',
        "",
    ],
)
def test_effort_accelerates_the_mass_by_newtons_law(actuator):
    assert on_rail(actuator, 100, effort=3.0).qvel[0] == pytest.approx(0.2 * 3.0 / 2.0)


def test_velocity_beside_position_is_a_feedforward():
    # The force kp (p - q) + kv (v - q') at rest in 0, with the gear of 2 on lengths, speeds and force.
    actuator = '<{} joint="rail" kp="80" kv="3" gear="2"{}/>'
    for given in (actuator.format("position", ""), actuator.format("pid", ' input="pos vel"')):
        data = on_rail(given, 1, position=0.1, velocity=0.5)
        assert data.qfrc_actuator[0] == pytest.approx(2 * (80 * 0.2 + 3 * 1.0))


# -- commands ------------------------------------------------------------------------------------------------


def test_nan_leaves_a_joint_alone(rig):
    commander, data = rig
    commander.accept(commander.check(command(["servo", "wheel"], [0.3, np.nan], [np.nan, 1.0])), data)
    commander.accept(commander.check(command(["servo"], [np.nan])), data)
    np.testing.assert_allclose(data.ctrl, [0.6, 0, 1.0])


def test_effort_without_motor_is_applied_within_the_limit_of_the_joint(rig):
    commander, data = rig
    for effort, applied in ((0.7, 0.7), (600.0, 3.0), (-600.0, -3.0)):
        commander.accept(commander.check(command(["bare"], effort=[effort])), data)
        assert data.qfrc_applied[commander.dofs[2]] == applied


def test_unreachable_target_is_clamped_and_reported_once(rig, caplog):
    commander, data = rig
    commander.accept(commander.check(command(["servo"], [1.0])), data)
    assert not caplog.records
    for _ in range(2):
        commander.accept(commander.check(command(["servo", "bare"], [1.2, np.nan], [], [np.nan, 4.0])), data)
    assert data.ctrl[0] == 2.0
    assert len(caplog.records) == 2
    for record, words in zip(
        caplog.records, (("position", "'servo'", " 1,"), ("effort", "'bare'", " 3,")), strict=True
    ):
        assert all(word in record.getMessage() for word in words)


def test_joints_without_position_servo_are_listed_with_the_reason():
    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody>
      <body><joint name="driven"/><geom size=".1"/></body><body><joint name="bare"/><geom size=".1"/></body>
      <body><joint name="motor"/><geom size=".1"/></body><body><joint name="flexor"/><geom size=".1"/></body>
      <body><joint name="pip"/><geom size=".1"/></body><body><joint name="dip"/><geom size=".1"/></body>
      <body><joint name="ball" type="ball"/><geom size=".1"/></body></worldbody>
      <tendon><fixed name="finger"><joint joint="pip" coef="1"/><joint joint="dip" coef="1"/></fixed></tendon>
      <actuator><motor name="own" joint="driven"/><position name="p" joint="driven" kp="5"/>
        <motor name="m" joint="motor"/><general name="push" joint="flexor" biastype="affine" biasprm="0 3 0"/>
        <position name="t" tendon="finger" kp="5"/><motor joint="ball"/></actuator></mujoco>""")
    without = Commander(model, Names(model)).without_position
    assert list(without) == ["bare", "motor", "flexor", "pip", "dip"]
    actuators = ("no actuator", "'m'", "'push'", "'t'", "'t'")
    assert all(word in why for why, word in zip(without.values(), actuators, strict=True))


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        (command(["serwo"], [1]), ["'serwo'", "'servo'"]),
        (command(["servo"], [1, 2]), ["position", "2", "1"]),
        (command(["servo"], [np.inf]), ["position", "'servo'", "inf"]),
        (command(["motor"], effort=[-1e300]), ["effort", "'motor'", "-1e+300", "1e+10"]),
        (command(["servo", "servo"], [1, 2]), ["'servo'"]),
        (command(["wheel"], [1]), ["'wheel'", "position", "control: {wheel: {kp: "]),
        (command(["bare"], velocity=[1]), ["'bare'", "velocity", "control: {bare: {kd: "]),
        (command(["servo"], velocity=[1]), ["'servo'", "velocity", "position"]),
        (command(["loose"], [1]), ["'loose'"]),
    ],
)
def test_bad_commands_are_refused_with_the_reason(rig, given, facts):
    with raises(CommandError, *facts):
        rig[0].check(given)


@pytest.mark.parametrize(
    ("values", "facts"),
    [
        ([1.0], ["ctrl", "(1,)", "(3,)"]),
        ([1, np.inf, 0], ["ctrl", "inf", "[1]"]),
        ([1, 0, np.nan], ["ctrl", "nan", "[2]"]),
        ([1, 1e12, 0], ["ctrl", "1e+12", "[1]"]),
        (np.ma.masked_array([1.0, 2.0, 3.0], [True, False, False]), ["ctrl", "masked"]),
    ],
)
def test_bad_controls_are_refused_with_the_reason(rig, values, facts):
    with raises(CommandError, *facts):
        rig[0].check_controls(values)
