"""Bullet's drag and speed limit, compared with their formulas."""

import mujoco
import numpy as np
import pytest

from tactile_sim import _core
from tactile_sim.trifinger.physics.drag import MAX_SPEED, dampings

MASS, LENGTH, INERTIA = 0.3, 0.2, 0.004
MODEL = mujoco.MjModel.from_xml_string(f"""
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
    data = mujoco.MjData(MODEL)
    data.qvel[: len(velocities)] = velocities
    mujoco.mj_step1(MODEL, data)
    _core.add_drag(MODEL._address, data._address, dampings(MODEL))
    return data.qfrc_passive


def law(size, velocity, damping=0.5):
    """Return the drag force on a mass ``size``, or the drag torque on a moment of inertia ``size``."""
    return -damping * size * velocity * (1 + abs(velocity))


def test_drag_of_rotating_link():
    w = 3.0
    inner = LENGTH * law(MASS, LENGTH * w) + law(INERTIA, w)
    outer = law(MASS, 2 * LENGTH * w), law(INERTIA, w)
    expected = [inner + 2 * LENGTH * outer[0] + outer[1], LENGTH * outer[0] + outer[1]]
    assert drag([w, 0.0])[:2] == pytest.approx(expected, rel=1e-12)


def test_drag_opposes_motion():
    np.testing.assert_allclose(drag([-2.0, 5.0]), -drag([2.0, -5.0]), atol=1e-15)


def test_drag_of_other_bodies_is_bullets_default():
    ball, speed, spin = MODEL.body(4), np.linalg.norm([1, 2, 3]), np.linalg.norm([4, 5, 6])
    expected = [law(ball.mass[0], speed, 0.04) / speed * v for v in (1, 2, 3)]
    expected += [law(ball.inertia[0], spin, 0.04) / spin * w for w in (4, 5, 6)]
    braked = drag([0, 0, 1, 2, 3, 4, 5, 6])
    assert braked[2:] == pytest.approx(expected, rel=1e-12)
    assert not braked[:2].any()


def test_joint_speed_is_limited():
    positions, velocities = np.array([0.0125, -0.03, 0.5]), np.array([12.5, -30.0, 9.9])
    _core.limit_speed(positions, velocities, 0.001, MAX_SPEED)
    assert velocities.tolist() == [10.0, -10.0, 9.9]
    assert positions == pytest.approx([0.01, -0.01, 0.5], abs=1e-15)
