"""Forces that a user applies to bodies, compared with the motion of a critically damped oscillator."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tactile_sim import CommandError
from tactile_sim.control.user_forces import FREQUENCY
from tactile_sim.simulation import Simulation

MASS, OFFSET = 2.0, 0.1
SCENE = """
<mujoco><option timestep="0.0005" gravity="0 0 0"/><worldbody>
  <body name="box"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="arm" pos="0 1 0"><joint name="hinge" axis="0 1 0"/>
    <geom size=".02" pos="1 0 0" mass="3"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def simulation():
    return Simulation(mujoco.MjSpec.from_string(SCENE), {"skin": {"scales": {"box": 0.02}}})


def test_spring_moves_a_free_body_as_a_critically_damped_oscillator(simulation):
    target = np.array([0.0, OFFSET, 0.0])
    simulation.interaction.pull(1, np.zeros(3), target, 1e3)
    for time in (0.05, 0.2, 0.6):
        simulation.step(round(time / 0.0005) - simulation.steps_since_reset)
        expected = OFFSET * (1.0 - (1.0 + FREQUENCY * time) * np.exp(-FREQUENCY * time))
        assert simulation.engine.data.qpos[1] == pytest.approx(expected, rel=0.02)
    simulation.interaction.release()
    before = simulation.engine.data.qvel.copy()
    simulation.step(10)
    assert simulation.engine.data.qvel == pytest.approx(before)  # no force is left


def test_force_of_the_spring_is_limited(simulation):
    simulation.interaction.pull(1, np.zeros(3), np.array([100.0, 0.0, 0.0]), 5.0)
    simulation.step(400)
    assert simulation.engine.data.qpos[0] == pytest.approx(0.5 * 5.0 / MASS * 0.2**2, rel=0.01)
    assert np.linalg.norm(simulation.interaction.hands.pull_force) == pytest.approx(5.0)


def test_link_of_a_robot_follows_the_target(simulation):
    target = np.array([np.cos(0.3), 1.0, -np.sin(0.3)])
    simulation.interaction.pull(2, np.array([1.0, 0.0, 0.0]), target, 1e3)
    simulation.step(4000)
    assert simulation.engine.data.qpos[7] == pytest.approx(0.3, abs=1e-3)


def test_press_of_1_n_reads_1_n_and_accelerates_the_body(simulation):
    point = np.array([0.1, 0.013, 0.027])
    simulation.interaction.press(1, point, np.array([-1.0, 0.0, 0.0]), 0.1)
    readings = simulation.observe().readings
    assert readings.sum(axis=0) == pytest.approx([-1.0, 0.0, 0.0])
    touched = simulation.skin.positions[np.linalg.norm(readings, axis=1) > 0.0]
    assert np.linalg.norm(touched - point, axis=1).max() < 0.06
    simulation.step(400)
    assert simulation.engine.data.qvel[0] == pytest.approx(-0.1 / MASS, rel=0.02)
    assert not simulation.observe().readings.any()


def test_invalid_requests_change_nothing(simulation):
    point = np.zeros(3)
    for body, force in ((2, [1.0, 0.0, 0.0]), (1, [np.nan, 0.0, 0.0]), (9, [1.0, 0.0, 0.0])):
        with pytest.raises(CommandError):
            simulation.interaction.press(body, point, np.array(force), 1.0)
    with pytest.raises(CommandError):
        simulation.interaction.pull(0, point, point, 1.0)
    assert not simulation.interaction.active
