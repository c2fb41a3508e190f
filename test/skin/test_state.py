"""States of pads: contact, center of pressure, friction utilization and slip, compared with statics."""

from __future__ import annotations

import numpy as np
import pytest
from support.errors import raises

from tactile_sim import ConfigError, Simulation
from tactile_sim.skin.state import ContactState

PLATE = """
<mujoco>
  <option timestep="0.002" cone="elliptic" impratio="10"/>
  <worldbody>
    <body name="plate"><geom name="plate" type="box" size="0.1 0.1 0.01" friction="0.5"/></body>
    <body name="block" pos="0 0 0.0299">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/>
      <joint type="hinge" axis="1 0 0"/><joint type="hinge" axis="0 1 0"/>
      <geom name="block" type="box" size="0.03 0.03 0.02" mass="0.8" friction="0.5"/>
      <geom type="sphere" size="0.004" pos="0.02 0.01 0.03" mass="0.2" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
</mujoco>
"""
TAPPING = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="tip" pos="0 0 0.012">
      <joint name="tap" type="slide" axis="0 0 1" damping="2"/>
      <geom type="sphere" size="0.01" mass="0.05"/>
    </body>
  </worldbody>
  <actuator><position name="tap" joint="tap" kp="200"/></actuator>
</mujoco>
"""


def simulation(tmp_path, scene: str, **skin) -> Simulation:
    (tmp_path / "scene.xml").write_text(scene)
    path = str(tmp_path / "scene.xml")
    return Simulation({"scene": path, "seed": 1, "rates": {"tactile": 500.0}, "skin": skin})


@pytest.mark.parametrize("response", ["spread_linear", "elastic_foundation"])
def test_center_of_pressure_is_below_the_center_of_mass(tmp_path, response):
    plate = simulation(tmp_path, PLATE, scales={"plate": 0.004}, response_function=response)
    plate.step(1000)
    felt = plate.observe().contact_quantities
    # 0.8 kg in the middle and 0.2 kg at (20, 10) mm: the center is at (4, 2) mm. A tenth of a spacing is 0.4
    # mm.
    np.testing.assert_allclose(felt.center_of_pressure[0], [0.004, 0.002, 0.01], atol=4e-4)
    np.testing.assert_allclose(felt.force[0], [0, 0, -9.81], atol=1e-3)
    np.testing.assert_allclose(felt.normal[0], [0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(felt.torque[0], 0, atol=1e-3)
    if response == "elastic_foundation":
        assert felt.area[0] == pytest.approx(0.06**2, rel=0.15)


@pytest.mark.parametrize(("pull", "utilization"), [(0.0, 0.0), (2.45, 0.5), (6.0, 1.0)])
def test_friction_utilization_reaches_1_when_the_block_slides(tmp_path, pull, utilization):
    plate = simulation(tmp_path, PLATE, scales={"plate": 0.01})
    plate.step(500)
    plate.engine.data.qfrc_applied[0] = pull  # µ m g = 4.905 N, and pressing down evenly
    plate.step(30)
    felt = plate.observe().contact_quantities
    assert felt.friction_utilization[0] == pytest.approx(utilization, abs=0.02)
    assert (felt.slip_velocity[0, 0] > 0.01) == (pull > 4.905)


def test_contact_changes_once_for_each_tap_in_spite_of_noise(tmp_path):
    # The noise of 140 taxels adds up to 0.24 N, and the tip presses with up to 1.9 N.
    state = {"tip": {"on_force": 1.0, "off_force": 0.4, "on_time": 0.006, "off_time": 0.01}}
    tip = simulation(
        tmp_path, TAPPING, scales={"tip": 0.003}, state=state, sensor={"tip": {"noise": {"std": 0.02}}}
    )
    raw, contact, times = [], [], []
    for k in range(1000):  # 2 s, 10 taps
        tip.command_joints(position={"tap": -0.004 + 0.006 * np.cos(2 * np.pi * 5 * k * 0.002)})
        tip.step(2)
        felt = tip.observe().contact_state
        raw.append(bool(felt.raw[0]))
        contact.append(bool(felt.contact[0]))
        times.append(tip.observe().pad_table[1][0, :2])
    changes, raw_changes = (np.diff(np.array(series, int)) for series in (contact, raw))
    assert (changes == 1).sum() == 10
    assert (raw_changes == 1).sum() > 10
    in_contact, air = np.array(times).T
    assert ((in_contact > 0) & (air > 0)).sum() == 0
    assert max(in_contact.max(), air.max()) < 0.21  # while tapping, neither lasts a full period


def test_delays_ignore_short_changes_and_are_exact():
    thresholds = np.array([[1.0, 0.5, 0.03, 0.02]])
    state = ContactState.start(1)
    force = [0, 2, 0, 2, 2, 2, 2, 0.7, 0.2, 0.7, 0.2, 0.2, 0.2]
    contact = []
    for k, value in enumerate(force):
        state = state.advance(0.01 * k, np.array([value]), thresholds)
        contact.append(bool(state.contact[0]))
    # On after 0.03 s above 1 N, which start at 0.03 s; off after 0.02 s below 0.5 N, which start at 0.10 s.
    assert contact == [False] * 6 + [True] * 6 + [False]
    assert state.since[0] == pytest.approx(0.12)


def test_reset_restarts_contact_and_its_times(tmp_path):
    plate = simulation(tmp_path, PLATE, scales={"plate": 0.01}, state={"*": {"on_force": 1.0}})
    plate.step(100)
    assert plate.observe().contact_state.contact[0]
    plate.reset()
    _, values = plate.observe().pad_table
    assert values[0, 0] == values[0, 1] == 0.0


@pytest.mark.parametrize(
    ("state", "facts"),
    [
        ({"plat": {"on_force": 1.0}}, ("skin.state.plat", "plate")),
        ({"plate": {"on_force": 0.1, "off_force": 0.2}}, ("skin.state.plate.off_force", "0.2")),
        ({"plate": {"on_force": 0.0}}, ("skin.state.plate.on_force", "0")),
        ({"plate": {"on_forc": 1.0}}, ("skin.state.plate.on_forc", "on_force")),
        ({"plate": {"on_time": float("nan")}}, ("skin.state.plate.on_time", "nan")),
    ],
)
def test_invalid_thresholds_are_rejected_by_key(tmp_path, state, facts):
    with raises(ConfigError, *facts):
        simulation(tmp_path, PLATE, scales={"plate": 0.01}, state=state)
