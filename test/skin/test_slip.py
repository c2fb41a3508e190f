"""Slip of each taxel and friction of each pad, compared with rigid body kinematics and statics."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tactile_sim import Simulation
from tactile_sim.engines import MujocoEngine
from tactile_sim.skin import RESPONSE_FUNCTIONS, Skin

TURN = np.array([0.0, 0.0, 3.0])
SPACING, RADIUS = 0.002, 0.02
PLATE = '<body name="plate"><geom type="box" size=".03 .03 .005" friction="0.1"/></body>'
BALL = f'<body pos=".0013 -.0007 .0249"><freejoint/><geom size="{RADIUS}" mass="1"/></body>'
BOX = '<body pos=".001 .002 .0149"><freejoint/><geom type="box" size=".012 .009 .01" mass="1"/></body>'


def pressed(body: str, linear, angular):
    """Return a skin on a plate, arguments for its readings while a body moves on it, and its position."""
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{PLATE}{body}</worldbody></mujoco>")
    engine, skin = MujocoEngine(model), Skin(model, {1: SPACING}, stiffness=2e4)
    engine.qvel[:3], engine.qvel[3:6] = linear, angular
    engine.forward()
    return skin, (engine.contacts(), engine.body_positions, engine.body_rotations), engine.qpos[:3].copy()


def field(skin: Skin, linear, angular, center) -> np.ndarray:
    """Return the velocity of a rigid body at each taxel (n, 3), without its component along z."""
    velocity = linear + np.cross(angular, skin.surface_positions - center)
    return velocity * [1.0, 1.0, 0.0]


@pytest.mark.parametrize("response", RESPONSE_FUNCTIONS)
@pytest.mark.parametrize(("body", "linear"), [(BALL, (0, 0, 0)), (BOX, (0.05, -0.02, 0))])
def test_each_taxel_has_the_velocity_of_the_other_body_at_its_place(body, linear, response):
    skin, state, center = pressed(body, linear, TURN)
    slip, normal = (skin.readings_from_contacts(*state, name, response) for name in ("slip", "normal"))
    touched = normal[:, 0] > 0.0
    expected = field(skin, linear, TURN, center)[touched]
    # A taxel that is pressed on a part of its cell slips as the center of that part, up to half a spacing
    # away in each direction.
    off = 0.75 * SPACING * TURN[2] if response == "elastic_foundation" else 1e-9
    np.testing.assert_allclose(slip[touched], expected, rtol=0, atol=off)
    assert not slip[~touched].any() and np.abs(slip).max() > 0.0
    loads = skin.loads(*state)
    np.testing.assert_allclose(skin.readings_from_loads(loads, "slip", response), slip, rtol=0, atol=1e-12)
    if response == "elastic_foundation":
        # The velocity is linear, so its mean is that at the center of pressure.
        push = -(loads.force * loads.normal).sum(axis=1)
        middle = push @ loads.point / push.sum()
        mean = normal[:, 0] @ slip / normal.sum()
        np.testing.assert_allclose(mean, (linear + np.cross(TURN, middle - center)) * [1, 1, 0], atol=2e-4)


@pytest.mark.parametrize("response", RESPONSE_FUNCTIONS)
def test_a_ball_that_rolls_does_not_slip(response):
    speed, depth = 0.5, 0.005 + RADIUS - 0.0249
    skin, state, _ = pressed(BALL, (speed, 0, 0), (0, speed / RADIUS, 0))
    slip = skin.readings_from_contacts(*state, "slip", response)
    # The engine's contact is half the depth above the lowest point of the ball.
    assert 0.0 < np.abs(slip).max() < speed * depth / RADIUS


def test_state_of_a_pad_has_the_mean_slip_and_the_friction_of_all_contacts():
    # Two feet of one body, with friction 0.2 and 0.8, carry half of the weight each.
    feet = '<geom type="box" size=".01 .01 .01" pos="{} 0 0" mass=".5" friction="{}"/>'
    block = f'<body pos="0 0 .015"><freejoint/>{feet.format(-0.015, 0.2)}{feet.format(0.015, 0.8)}</body>'
    spec = mujoco.MjSpec.from_string(
        f'<mujoco><option cone="elliptic" impratio="100"/><worldbody>{PLATE}{block}</worldbody></mujoco>'
    )
    for response in RESPONSE_FUNCTIONS:
        simulation = Simulation(spec, {"skin": {"scales": {"plate": SPACING}, "response_function": response}})
        simulation.step(300)
        simulation.engine.qfrc_applied[1] = 1.0  # [N], less than the foot with the lower friction can hold
        simulation.step(100)
        felt = simulation.observe().contact_quantities
        assert felt.friction_utilization[0] == pytest.approx(1.0 / (0.5 * 9.81), rel=0.05), response
        simulation.engine.qfrc_applied[1] = 0.0
        simulation.engine.qvel[:] = 0.1, 0, 0, 0, 0, 2.0
        felt = simulation.observe().contact_quantities
        center = felt.center_of_pressure[0] - simulation.engine.body_positions[2]
        expected = [0.1, 0, 0] + np.cross([0, 0, 2.0], center)
        np.testing.assert_allclose(felt.slip_velocity[0], expected, atol=2e-3, err_msg=response)


@pytest.mark.parametrize(("turn", "warnings"), [(20.0, 1), (0.0, 0)])
def test_torsion_beyond_coulomb_friction_is_logged_once(caplog, turn, warnings):
    # Four corners with friction transmit more torsion than the square between them.
    joints = '<joint type="slide" axis="0 0 1"/><joint axis="0 0 1"/>'
    block = BOX.replace("<freejoint/>", joints).replace("0.0149", "0.015")
    spec = mujoco.MjSpec.from_string(
        f'<mujoco><option cone="elliptic" timestep="0.001"/><worldbody>{PLATE}{block}</worldbody></mujoco>'
    )
    simulation = Simulation(spec, {"skin": {"scales": {"plate": SPACING}}})
    simulation.step(300)
    for _ in range(3):
        simulation.engine.qvel[1] = turn
        simulation.step(1)
        utilization = simulation.observe().contact_quantities.friction_utilization[0]
        assert (utilization > 1.1) == bool(warnings)
    assert [record.levelname for record in caplog.records] == ["WARNING"] * warnings
