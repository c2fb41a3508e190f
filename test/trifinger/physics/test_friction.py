"""Contacts of the TriFinger obey Coulomb's law."""

import mujoco
import numpy as np
import pytest

from tactile_sim.trifinger.physics.friction import apply_coulomb_friction

FRICTION, GRAVITY, STEP = 0.5, 9.81, 0.001
MODEL = mujoco.MjModel.from_xml_string(f"""
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


def moved(velocity, steps, height=0.0):
    """Return positions [m] and velocities [m/s] (steps, 3) of a sphere that cannot rotate."""
    data = mujoco.MjData(MODEL)
    data.qpos[2], data.qvel[:] = height, velocity
    states = []
    for _ in range(steps):
        mujoco.mj_step1(MODEL, data)
        mujoco.mj_fwdActuation(MODEL, data)
        mujoco.mj_fwdAcceleration(MODEL, data)
        mujoco.mj_fwdConstraint(MODEL, data)
        apply_coulomb_friction(MODEL, data)
        mujoco.mj_Euler(MODEL, data)
        states.append((data.qpos.copy(), data.qvel.copy()))
    return np.array(states).swapaxes(0, 1)


def test_sliding_body_stays_on_the_ground_and_is_braked_by_friction():
    speed, angle = 1.5, 0.6
    positions, velocities = moved([speed * np.cos(angle), speed * np.sin(angle), 0.0], 400)
    assert np.abs(positions[:, 2]).max() < 2e-4
    distance = speed**2 / (2 * FRICTION * GRAVITY)
    assert positions[-1, :2] == pytest.approx(distance * np.array([np.cos(angle), np.sin(angle)]), rel=0.01)
    assert np.abs(velocities[-1]).max() < 1e-3


def test_body_that_lands_obliquely_does_not_bounce():
    speed, fall = 2.0, 0.5
    positions, velocities = moved([speed, 0.0, -fall], 30, height=0.002)
    assert positions[10:, 2].max() < 5e-4
    # Friction takes the fraction of the vertical impulse that Coulomb's law allows.
    elapsed = 30 * STEP
    assert velocities[-1, 0] == pytest.approx(speed - FRICTION * (fall + GRAVITY * elapsed), rel=0.02)


def test_resting_body_sticks():
    data = mujoco.MjData(MODEL)
    data.qfrc_applied[0] = 0.9 * FRICTION * 0.2 * GRAVITY
    mujoco.mj_forward(MODEL, data)
    before = data.qacc.copy()
    apply_coulomb_friction(MODEL, data)
    np.testing.assert_allclose(data.qacc, before, atol=1e-3)
