"""The shipped scenes behave as their files describe."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.simulation import Simulation

GRAVITY = 9.81
CUBE_MASS = 1.0
BALL_MASS = 0.06
SCENES = ("touch_cube", "infant", "hand", "worm", "gripper", "imprint", "fingertips", "forearm", "balance")


def advance(simulation: Simulation, seconds: float) -> None:
    """Advance the simulation by a time [s], including the built-in motion."""
    for _ in range(round(seconds / simulation.engine.timestep)):
        simulation.step()


def on_cube(simulation: Simulation) -> np.ndarray:
    """Return the net contact force (3,) on the cube in the world frame [N].

    The cube is the second body in all contacts, because it is the only body with skin.
    """
    return simulation.observe().contacts.wrench_world[:, :3].sum(axis=0)


@pytest.fixture
def cube() -> Simulation:
    """Return the simulation in its initial state, with the cube in the air."""
    return Simulation(config.load("touch_cube"))


@pytest.mark.parametrize("name", SCENES)
def test_each_keyframe_can_be_reached(name):
    simulation = Simulation(config.load(name))
    model = simulation.engine.model
    keyframes = [model.key(k).name for k in range(model.nkey)]
    assert "home" in keyframes
    assert set(simulation.settings.motion.keyframes) <= set(keyframes)
    for keyframe in keyframes:
        simulation.reset(keyframe)
        advance(simulation, 0.5)
        assert simulation.fault() is None


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("keyframe", [None, "home"])
def test_initial_states_have_no_deep_penetration(name, keyframe):
    simulation = Simulation(config.load(name))
    simulation.reset(keyframe)
    assert all(simulation.engine.data.contact.dist > -0.006)


def test_cube_has_no_load_while_it_falls(cube):
    advance(cube, 0.1)
    snapshot = cube.observe()
    assert len(snapshot.contacts) == 0
    assert not snapshot.forces_world.any()


def test_force_on_the_resting_cube_is_its_weight(cube):
    advance(cube, 1.0)
    weight = np.array([0, 0, CUBE_MASS * GRAVITY])
    for _ in range(50):
        advance(cube, 0.01)
        assert on_cube(cube) == pytest.approx(weight, abs=1e-3 * weight[2])
        assert cube.observe().forces_world.sum(axis=0) == pytest.approx(weight, abs=1e-3 * weight[2])


def test_resting_cube_presses_evenly_on_its_lower_face(cube):
    cube.reset("rest")
    advance(cube, 0.5)
    snapshot, areas = cube.observe(), cube.skin.areas
    positions, pressure = snapshot.taxel_positions_world, snapshot.forces_world[:, 2] / areas
    below = positions[:, 2] < 0.001
    assert not pressure[~below].any()
    inside = below & (np.abs(positions[:, :2]) < 0.085).all(axis=1)
    assert inside.sum() > 60
    np.testing.assert_allclose(pressure[inside], CUBE_MASS * GRAVITY / 0.2**2, rtol=0.02)


def test_a_ball_on_the_cube_adds_its_weight(cube):
    cube.reset("rest")
    upright = np.array([1.0, 0.0, 0.0, 0.0])
    cube.set_body_state("ball_1", np.array([0.0, 0.0, 0.23]), upright, np.zeros(3), np.zeros(3))
    advance(cube, 1.5)
    contacts = cube.observe().contacts
    of_table = contacts.bodies[:, 0] == cube.names.body_id("table")
    vertical = contacts.wrench_world[:, 2]
    assert vertical[of_table].sum() == pytest.approx((CUBE_MASS + BALL_MASS) * GRAVITY, rel=1e-3)
    assert vertical[~of_table].sum() == pytest.approx(-BALL_MASS * GRAVITY, rel=1e-3)


def test_every_thrown_ball_hits_the_cube_which_stays_on_the_table(cube):
    cube.reset("rest")
    table = cube.names.body_id("table")
    for _ in range(8):
        cube.throw()
        peak = 0.0
        for _ in range(300):
            advance(cube, cube.engine.timestep)
            contacts = cube.observe().contacts
            from_balls = contacts.wrench_world[contacts.bodies[:, 0] != table, :3]
            peak = max(peak, np.linalg.norm(from_balls.sum(axis=0)))
        assert peak > BALL_MASS * GRAVITY
    advance(cube, 1.0)
    position = cube.engine.body_positions[cube.names.body_id("cube")]
    assert np.linalg.norm(position[:2]) < 0.1
    assert position[2] == pytest.approx(0.1, abs=0.001)


def test_worm_rests_on_the_floor_and_balls_hit_both_segments():
    simulation = Simulation(config.load("worm"))
    segments = [simulation.names.body_id(name) for name in ("worm_lower", "worm_upper")]
    advance(simulation, 2.0)
    contacts = simulation.observe().contacts
    of_worm = np.isin(contacts.bodies, segments).any(axis=1) & (contacts.bodies[:, 0] == 0)
    assert contacts.wrench_world[of_worm, 2].sum() == pytest.approx(0.5 * GRAVITY, rel=0.01)
    balls = [simulation.names.body_id(f"ball_{k}") for k in range(1, 5)]
    hit = set()
    for _ in range(6):
        simulation.throw()
        for _ in range(200):
            advance(simulation, simulation.engine.timestep)
            bodies = simulation.observe().contacts.bodies
            hit |= set(bodies[np.isin(bodies, balls).any(axis=1)].ravel()) & set(segments)
    assert hit == set(segments)
    assert simulation.fault() is None


def test_worm_sweeps_the_floor_after_its_fall():
    simulation = Simulation(config.load("worm"))
    start = simulation.engine.model.joint("neck").qposadr[0]
    advance(simulation, 2.0)
    angles, loaded = [], []
    for _ in range(100):
        advance(simulation, 0.1)
        angles.append(2.0 * np.arcsin(simulation.engine.qpos[start + 1]))  # about x, from the quaternion
        loaded.append(np.linalg.norm(simulation.observe().truth, axis=1) > 0.0)
    # Without friction, the spring of 0.4 N m/rad would let the torque of 0.2 N m bend the neck by 0.5 rad.
    assert -0.5 < min(angles) < -0.1 and 0.1 < max(angles) < 0.5
    assert np.count_nonzero(np.any(loaded, axis=0) & ~np.all(loaded, axis=0)) > 5  # the contact moves
    assert simulation.fault() is None


def test_gripper_pads_read_grip_and_weight_of_the_block():
    simulation = Simulation(config.load("gripper"))
    advance(simulation, 2.0)
    snapshot = simulation.observe()
    block = simulation.names.body_id("block")
    assert simulation.engine.body_positions[block, 2] > 0.08
    weight = 0.2 * GRAVITY
    for pad in simulation.skin.pads:
        x, up, normal = snapshot.truth[pad.start : pad.stop].sum(axis=0)
        # Half of the weight pulls each pad down.
        assert (x, up) == pytest.approx((0.0, -weight / 2), abs=0.01 * weight)
        # The block is wider than the pad, so all taxels have the same load.
        assert snapshot.truth[pad.start : pad.stop, 2] == pytest.approx(normal / 16, rel=0.05)
        assert 3.0 < normal < 8.0
    assert not snapshot.outside[0].any()


def test_gripper_pads_are_in_contact_in_most_of_the_motion():
    simulation = Simulation(config.load("gripper"))
    grip = []
    for _ in range(round(simulation.settings.motion.period / 0.02)):
        advance(simulation, 0.02)
        grip.append([simulation.observe().truth[p.start : p.stop, 2].sum() for p in simulation.skin.pads])
    left, right = np.array(grip).T
    assert (np.minimum(left, right) > 0.0).mean() > 0.85  # it was 0.70 when the fingers stayed open for 2.4 s
    # A servo of 1500 N/m moves each finger by 35 mm; the block is 25 mm away.
    assert left.max() == pytest.approx(1500 * (0.035 - 0.025), rel=0.1)
    assert simulation.fault() is None


def test_fingertips_read_the_grip_and_the_weight_of_the_bottle():
    simulation = Simulation(config.load("fingertips"))
    advance(simulation, 3.0)
    snapshot, skin = simulation.observe(), simulation.skin
    bottle = simulation.names.body_id("bottle")
    assert simulation.engine.body_positions[bottle, 2] > 0.16
    assert snapshot.forces_world.sum(axis=0) == pytest.approx([0, 0, -0.2 * GRAVITY], abs=0.05)
    contacts = snapshot.contacts
    normal = {}
    for pad in skin.pads:
        readings = snapshot.truth[pad.start : pad.stop, 0]
        touching = (contacts.bodies == pad.body_id).any(axis=1)
        normal[pad.name] = contacts.wrench[touching, 0].sum()
        # On the curved tip, the normals of the taxels differ from the contact normal.
        assert readings.sum() == pytest.approx(normal[pad.name], rel=0.02)
        # If the readings have the order of the sensor, their center is at the contact.
        center = readings @ skin.positions[pad.start : pad.stop] / readings.sum()
        body = simulation.engine.body_rotations[pad.body_id]
        contact = (contacts.position[touching][0] - simulation.engine.body_positions[pad.body_id]) @ body
        assert np.linalg.norm(center - contact) < 0.002
    fingers = [normal[name] for name in ("index", "middle", "ring", "little")]
    assert normal["thumb"] == pytest.approx(sum(fingers), rel=0.02)
    assert fingers == pytest.approx([0.35 / 0.085] * 4, rel=0.1)  # torque limit divided by the lever arm
    assert not snapshot.outside[0].any()


def test_forearm_triangles_read_the_roller_one_after_another():
    simulation = Simulation(config.load("forearm"))
    skin, load = simulation.skin, 0.3 * GRAVITY + 3.0
    leading, interval = [], simulation.settings.motion.period / len(simulation.settings.motion.keyframes)
    advance(simulation, simulation.settings.motion.period)  # the roller has come down
    for _ in range(15):
        advance(simulation, interval / 15)
        snapshot = simulation.observe()
        sums = np.add.reduceat(snapshot.truth[:, 0], skin.offsets[:-1])
        assert snapshot.truth.sum() == pytest.approx(load, rel=0.01)
        assert not snapshot.outside[0].any()
        leading.append(skin.pads[int(sums.argmax())].name)
    assert list(dict.fromkeys(leading)) == [f"triangle_{k:02d}" for k in range(1, 9)]
    assert len(skin.positions) == 320
