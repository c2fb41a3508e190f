"""Action rules, drag, friction and motion, compared with formulas and with PyBullet.

free_motion.npz and contacts.npz were recorded from trifinger_simulation 2.0.0 with
tools/record_trifinger.py.
"""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from support.errors import raises

from tactile_sim import _core
from tactile_sim.trifinger import finger_types_data
from tactile_sim.trifinger.physics import MAX_SPEED, FingerPhysics, Rules, apply_coulomb_friction, dampings
from tactile_sim.trifinger.scene import load_spec
from tactile_sim.trifinger.sim_finger import SimFinger

NAN = np.nan
NONE = np.full(3, NAN)
STILL = np.zeros(3)


def applied(torque=STILL, position=NONE, kp=NONE, kd=NONE, q=STILL, qd=STILL, finger_type="fingerpro"):
    rules = Rules(finger_type)
    rules.desire(torque, position, kp, kd)
    rules.apply(np.array(q, float), np.array(qd, float))
    return rules.applied[0].tolist()


def test_torque_is_applied():
    assert applied(torque=[0.1, -0.2, 0.3]) == [0.1, -0.2, 0.3]


def test_torque_is_clamped():
    assert applied(torque=[1.0, -5.0, np.inf]) == [0.396, -0.396, 0.396]


@pytest.mark.parametrize(("finger_type", "kp", "kd"), [
    ("fingerpro", (15, 15, 9), (0.5, 1.0, 0.5)),
    ("fingeredu", (10, 10, 10), (0.1, 0.3, 0.001)),
    ("fingerone", (10, 10, 10), (0.1, 0.3, 0.001)),
])  # fmt: skip
def test_position_control_uses_gains_of_type(finger_type, kp, kd):
    torque = applied(position=[0.01] * 3, q=[0.0, 0.005, 0.02], qd=[0.1] * 3, finger_type=finger_type)
    errors, safety = (0.01, 0.005, -0.01), (0.08, 0.08, 0.04)
    expected = [p * e - d * 0.1 - s * 0.1 for p, e, d, s in zip(kp, errors, kd, safety, strict=True)]
    assert torque == pytest.approx(expected, abs=1e-15)


def test_torque_and_position_control_add_up():
    assert applied(torque=[0.1, 0, 0], position=[0.01, NAN, NAN]) == pytest.approx([0.25, 0, 0], abs=1e-15)


def test_nan_disables_position_control():
    torque = applied(position=[NAN, 0.0, NAN], qd=[1.0, 1.0, 1.0])
    # kd of the middle joint is 1, so the torque exceeds the limit of the motor; then safety damping applies.
    assert torque == pytest.approx([-0.08, -0.396, -0.04], abs=1e-15)


def test_damping_is_applied_between_clamps():
    assert applied(torque=[5.0, 5.0, -5.0], qd=[1.0, -1.0, 1.0]) == pytest.approx([0.316, 0.396, -0.396])
    assert applied(qd=[10.0, -10.0, 0.0]) == pytest.approx([-0.396, 0.396, 0.0])


def test_nan_selects_default_gain_of_joint():
    rules = Rules("fingerpro")
    rules.desire(STILL, [0.01] * 3, [1.0, NAN, 2.0], [NAN, 0.0, NAN])
    rules.apply(STILL, STILL)
    assert rules.applied[0] == pytest.approx([0.01, 0.15, 0.02])
    assert rules.applied[1].tolist() == [1.0, 15.0, 2.0]
    assert rules.applied[2].tolist() == [0.5, 0.0, 0.5]


def test_nan_torque_is_rejected():
    rules = Rules("fingerpro")
    rules.desire([0.1, 0, 0], NONE, NONE, NONE)
    with raises(ValueError, "action.torque", "joint 1"):
        rules.desire([0, NAN, 0], NONE, NONE, NONE)
    rules.apply(STILL, STILL)
    assert rules.applied[0].tolist() == [0.1, 0, 0]


def test_action_of_other_shape_is_rejected():
    with raises(ValueError, "action.position", "(9,)"):
        Rules("fingerpro").desire(STILL, np.zeros(9), NONE, NONE)


MASS, LENGTH, INERTIA = 0.3, 0.2, 0.004
PENDULUM = mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <option gravity="0 0 0"/>
  <worldbody>
    <body name="base_link">
      <body>
        <joint axis="0 1 0"/>
        <inertial pos="0 0 -{LENGTH}" mass="{MASS}" diaginertia="0.005 {INERTIA} 0.006"/>
        <body pos="0 0 -{LENGTH}">
          <joint axis="0 1 0"/>
          <inertial pos="0 0 -{LENGTH}" mass="{MASS}" diaginertia="0.005 {INERTIA} 0.006"/>
        </body>
      </body>
    </body>
    <body>
      <freejoint/>
      <geom size="0.1"/>
    </body>
  </worldbody>
</mujoco>
""")


def drag(velocities):
    data = mujoco.MjData(PENDULUM)
    data.qvel[: len(velocities)] = velocities
    mujoco.mj_step1(PENDULUM, data)
    _core.add_drag(PENDULUM._address, data._address, dampings(PENDULUM))
    return data.qfrc_passive


def drag_law(size, velocity, damping=0.5):
    """Return the drag force on a mass ``size``, or the drag torque on a moment of inertia ``size``."""
    return -damping * size * velocity * (1 + abs(velocity))


def test_drag_of_rotating_link():
    w = 3.0
    inner = LENGTH * drag_law(MASS, LENGTH * w) + drag_law(INERTIA, w)
    outer = drag_law(MASS, 2 * LENGTH * w), drag_law(INERTIA, w)
    expected = [inner + 2 * LENGTH * outer[0] + outer[1], LENGTH * outer[0] + outer[1]]
    assert drag([w, 0.0])[:2] == pytest.approx(expected, rel=1e-12)


def test_drag_opposes_motion():
    np.testing.assert_allclose(drag([-2.0, 5.0]), -drag([2.0, -5.0]), atol=1e-15)


def test_drag_of_other_bodies_is_bullets_default():
    ball, speed, spin = PENDULUM.body(4), np.linalg.norm([1, 2, 3]), np.linalg.norm([4, 5, 6])
    expected = [drag_law(ball.mass[0], speed, 0.04) / speed * v for v in (1, 2, 3)]
    expected += [drag_law(ball.inertia[0], spin, 0.04) / spin * w for w in (4, 5, 6)]
    braked = drag([0, 0, 1, 2, 3, 4, 5, 6])
    assert braked[2:] == pytest.approx(expected, rel=1e-12)
    assert not braked[:2].any()


def test_joint_speed_is_limited():
    positions, velocities = np.array([0.0125, -0.03, 0.5]), np.array([12.5, -30.0, 9.9])
    _core.limit_speed(positions, velocities, 0.001, MAX_SPEED)
    assert velocities.tolist() == [10.0, -10.0, 9.9]
    assert positions == pytest.approx([0.01, -0.01, 0.5], abs=1e-15)


FRICTION, GRAVITY, STEP = 0.5, 9.81, 0.001
SLIDER = mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <option timestep="{STEP}" gravity="0 0 -{GRAVITY}" cone="elliptic" impratio="100"/>
  <default><geom friction="{FRICTION} 0 0" solref="0.002 1" solimp="0.95 0.99 0.001"/></default>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.05">
      <joint type="slide" axis="1 0 0"/>
      <joint type="slide" axis="0 1 0"/>
      <joint type="slide" axis="0 0 1"/>
      <geom type="sphere" size="0.05" mass="0.2"/>
    </body>
  </worldbody>
</mujoco>
""")


def slid(velocity, steps, height=0.0):
    """Return positions [m] and velocities [m/s] (steps, 3) of a sphere that cannot rotate."""
    data = mujoco.MjData(SLIDER)
    data.qpos[2], data.qvel[:] = height, velocity
    states = []
    for _ in range(steps):
        mujoco.mj_step1(SLIDER, data)
        mujoco.mj_fwdActuation(SLIDER, data)
        mujoco.mj_fwdAcceleration(SLIDER, data)
        mujoco.mj_fwdConstraint(SLIDER, data)
        apply_coulomb_friction(SLIDER, data)
        mujoco.mj_Euler(SLIDER, data)
        states.append((data.qpos.copy(), data.qvel.copy()))
    return np.array(states).swapaxes(0, 1)


def test_sliding_body_stays_on_the_ground_and_is_braked_by_friction():
    speed, angle = 1.5, 0.6
    positions, velocities = slid([speed * np.cos(angle), speed * np.sin(angle), 0.0], 400)
    assert np.abs(positions[:, 2]).max() < 2e-4
    distance = speed**2 / (2 * FRICTION * GRAVITY)
    assert positions[-1, :2] == pytest.approx(distance * np.array([np.cos(angle), np.sin(angle)]), rel=0.01)
    assert np.abs(velocities[-1]).max() < 1e-3


def test_body_that_lands_obliquely_does_not_bounce():
    speed, fall = 2.0, 0.5
    positions, velocities = slid([speed, 0.0, -fall], 30, height=0.002)
    assert positions[10:, 2].max() < 5e-4
    # Friction takes the fraction of the vertical impulse that Coulomb's law allows.
    elapsed = 30 * STEP
    assert velocities[-1, 0] == pytest.approx(speed - FRICTION * (fall + GRAVITY * elapsed), rel=0.02)


def test_resting_body_sticks():
    data = mujoco.MjData(SLIDER)
    data.qfrc_applied[0] = 0.9 * FRICTION * 0.2 * GRAVITY
    mujoco.mj_forward(SLIDER, data)
    before = data.qacc.copy()
    apply_coulomb_friction(SLIDER, data)
    np.testing.assert_allclose(data.qacc, before, atol=1e-3)


HEIGHT, HOLD = 0.5, 50
"""Height of the robot above its stage [m], and duration of each command [steps]."""
WITHIN = 1e-6
"""Maximum root mean square deviation over all joints [rad]."""


def deviation(finger_type, link_drag):
    """Return the root mean square difference from the recorded joint positions [rad]."""
    with np.load(Path(__file__).with_name("free_motion.npz")) as recorded:
        start, velocity, torques, targets, positions = (
            recorded[f"{finger_type}/{name}"]
            for name in ("start", "velocity", "torque", "position", "positions")
        )
    physics = FingerPhysics(
        load_spec(finger_type, base_position=(0, 0, HEIGHT)), finger_type, link_drag=link_drag
    )
    physics.q[:], physics.qd[:] = start, velocity
    physics.restart()
    usual = np.full(len(start), np.nan)
    went = []
    for torque, target in zip(torques, targets, strict=True):
        physics.rules.desire(torque, target, usual, usual)
        for _ in range(HOLD):
            physics.step()
        went.append(physics.q.copy())
    return np.sqrt(np.mean((np.array(went) - positions) ** 2))


@pytest.mark.parametrize("finger_type", finger_types_data.get_valid_finger_types())
def test_free_motion_equals_pybullet(finger_type):
    assert deviation(finger_type, link_drag=True) < WITHIN


def test_free_motion_differs_without_drag():
    assert deviation("trifingerpro", link_drag=False) > 1e-3


GOAL_STEPS = 250
CLOSE = 0.02
"""Maximum deviation from PyBullet in contact [rad]."""


@pytest.fixture(scope="module")
def peer():
    with np.load(Path(__file__).with_name("contacts.npz")) as file:
        return dict(file)


def root_mean_square(errors):
    """Return the root mean square of each sequence."""
    return np.sqrt(np.mean(errors**2, axis=(-2, -1)))


def reached(goals):
    finger = SimFinger("trifingerpro")
    positions = np.empty(goals.shape)
    for goal, row in zip(goals, positions, strict=True):
        action = finger.Action(position=goal)
        for _ in range(GOAL_STEPS):
            t = finger.append_desired_action(action)
        row[:] = finger.get_observation(t + 1).position
    return positions


@pytest.mark.parametrize("sequence", range(6))
def test_joints_reach_random_goals_as_in_pybullet(peer, sequence):
    """In PyBullet, the direction of friction and the positions reached depend on the axes of the world."""
    positions = reached(peer["goals"][sequence].astype(float))
    assert root_mean_square(positions - peer["turned"][sequence]) < CLOSE
    if sequence not in (3, 5):
        assert root_mean_square(positions - peer["positions"][sequence]) < CLOSE


def test_positions_in_pybullet_depend_on_the_axes_of_the_world(peer):
    assert root_mean_square(peer["positions"] - peer["turned"])[[3, 5]].min() > 0.05


def test_friction_is_equal_in_all_directions(peer):
    """The robot is symmetric, so at equal goals its three fingers move equally. In PyBullet they do not."""

    def spread(positions):
        return np.ptp(positions.reshape(-1, 3, 3), axis=1).max()

    goals = peer["goals"][5, :, :3].astype(float)
    assert spread(reached(np.tile(goals, 3))) < 0.01
    assert spread(peer["alike"]) > 0.5


IMPOSSIBLE = {"trifingerone": 2, "fingeredu": 1}
"""Number of fingers that rest on contacts whose normals no facet has, see docs/trifinger.md."""


@pytest.mark.parametrize("finger_type", finger_types_data.get_valid_finger_types())
def test_fingers_rest_where_they_do_in_pybullet(peer, finger_type):
    goals, positions, rests = (peer[f"{finger_type}/{name}"] for name in ("goals", "positions", "rests"))
    finger, moved = SimFinger(finger_type), []
    for goal, position, resting in zip(goals.astype(float), positions.astype(float), rests, strict=True):
        finger.reset_finger_positions_and_velocities(position)
        for _ in range(GOAL_STEPS):
            t = finger.append_desired_action(finger.Action(position=goal))
        change = np.abs(finger.get_observation(t + 1).position - position)
        moved.extend(change.reshape(-1, 3).max(axis=1)[resting])
    assert (np.array(moved) > CLOSE).sum() == IMPOSSIBLE.get(finger_type, 0)


STOPS = {
    "fingerone": ((-1.5708, 1.5708), (-1.3282, 4.4942), (-2.7725, 2.4723)),
    # The middle joint stops at -0.08 in PyBullet, because the hull of the middle link touches the base.
    "fingeredu": ((-1.5708, 1.5708), (-1.5708, 1.5708), (-3.1416, 3.1416)),
    "fingerpro": ((-0.33, 1.0), (0.0, 1.57), (-2.7, 0.0)),
}
"""Positions at which each joint stops in PyBullet in both directions [rad]."""


@pytest.mark.parametrize("finger_type", STOPS)
def test_joints_stop_where_they_do_in_pybullet(finger_type):
    start = np.array(finger_types_data.get_initial_joint_positions(finger_type), float)
    finger = SimFinger(finger_type, robot_position_offset=(0, 0, HEIGHT))
    for joint, stops in enumerate(STOPS[finger_type]):
        for direction, stop in zip((-10, 10), stops, strict=True):
            finger.reset_finger_positions_and_velocities(start)
            action = finger.Action(position=start + direction * np.eye(3)[joint])
            for _ in range(1500):
                t = finger.append_desired_action(action)
            assert finger.get_observation(t + 1).position[joint] == pytest.approx(stop, abs=0.015)
