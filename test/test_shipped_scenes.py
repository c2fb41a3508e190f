"""The shipped scenes behave as their files say."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.simulation import Simulation

GRAVITY = 9.81
CUBE_MASS = 1.0
BALL_MASS = 0.06
SCENES = ("touch_cube", "infant", "hand", "worm", "imprint")


def advance(simulation: Simulation, seconds: float) -> None:
    """Goes on as the node does, built-in motion included."""
    for _ in range(round(seconds / simulation.engine.timestep)):
        simulation.step()


def on_cube(simulation: Simulation) -> np.ndarray:
    """Sum of the contact forces on the cube (3,), world [N]; with a lone skin the cube is always second."""
    return simulation.observe().contacts.wrench_world[:, :3].sum(axis=0)


@pytest.fixture
def cube() -> Simulation:
    """At the start, in the air."""
    return Simulation(config.load("touch_cube"))


@pytest.fixture(scope="module")
def infant() -> Simulation:
    """After the first round of its motion."""
    simulation = Simulation(config.load("infant"))
    advance(simulation, simulation.settings.motion.period)
    return simulation


@pytest.mark.parametrize("name", SCENES)
def test_each_keyframe_can_be_gone_to(name):
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
def test_nothing_starts_deep_in_anything(name, keyframe):
    simulation = Simulation(config.load(name))
    simulation.reset(keyframe)
    assert all(simulation.engine.data.contact.dist > -0.006)


def test_the_cube_falls_before_it_feels(cube):
    advance(cube, 0.1)
    snapshot = cube.observe()
    assert len(snapshot.contacts) == 0
    assert not snapshot.forces_world.any()


def test_the_cube_bears_its_weight_within_a_second_and_keeps_still(cube):
    advance(cube, 1.0)
    weight = np.array([0, 0, CUBE_MASS * GRAVITY])
    for _ in range(50):
        advance(cube, 0.01)
        assert on_cube(cube) == pytest.approx(weight, abs=1e-3 * weight[2])
        assert cube.observe().forces_world.sum(axis=0) == pytest.approx(weight, abs=1e-3 * weight[2])


def test_the_cube_feels_the_table_within_two_spacings_of_its_corners(cube):
    cube.reset("rest")
    advance(cube, 0.5)
    snapshot = cube.observe()
    corners = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.1, 0.1)])
    distance = np.linalg.norm(snapshot.taxel_positions_world[:, None] - corners, axis=2).min(axis=1)
    felt = snapshot.forces_world.any(axis=1)
    assert felt[distance < 0.02].all()
    assert not felt[distance > 2 * 0.02 + 0.001].any()


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


def test_every_thrown_ball_is_felt_and_the_cube_stays_on_the_table(cube):
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


def test_the_infant_has_the_size_and_mass_of_eighteen_months(infant):
    model = infant.engine.model
    mass = model.body("hips").subtreemass[0]
    assert mass == pytest.approx(11.0, abs=0.5)
    assert model.body("head").mass[0] / mass == pytest.approx(0.2, abs=0.03)
    straight = mujoco.MjData(model)
    mujoco.mj_kinematics(model, straight)
    # It lies on its back with its feet towards x.
    crown = straight.geom("skull").xpos[0] - model.geom("skull").size[2]
    lengthwise = straight.geom("left_foot_inside").xpos[0] + model.geom("left_foot_inside").size[0]
    assert lengthwise - crown == pytest.approx(0.80, abs=0.02)


def test_the_infant_is_skin_all_over_with_about_seven_thousand_taxels(infant):
    model, skin = infant.engine.model, infant.skin
    of_infant = np.flatnonzero(model.body_rootid == model.body("hips").id)
    assert [body.body_id for body in skin.bodies] == list(of_infant)
    assert len(skin.bodies) >= 22
    assert 6500 < len(skin.positions) < 7500


def test_the_infant_has_its_finest_skin_on_the_fingers(infant):
    names = infant.names.bodies
    spacing = {names[body.body_id]: body.spacing for body in infant.skin.bodies}
    fingers = [spacing.pop(name) for name in names if name in spacing and name.endswith(("_1", "_2"))]
    assert len(fingers) == 20
    assert max(fingers) < min(spacing.values())
    assert spacing["left_hand"] < 0.5 * min(spacing[name] for name in ("head", "chest", "belly", "hips"))


def test_left_and_right_mirror_each_other(infant):
    model = infant.engine.model
    lefts = [name for name in infant.names.bodies if name.startswith("left_")]
    assert len(lefts) == 17
    for name in lefts:
        left, right = model.body(name), model.body("right" + name.removeprefix("left"))
        assert right.pos == pytest.approx(left.pos * [1, -1, 1])
        assert right.mass == pytest.approx(left.mass)
        assert right.inertia == pytest.approx(left.inertia)


def test_the_infant_rests_its_weight_on_the_mat_at_home(infant):
    simulation = Simulation(config.load("infant"))
    simulation.reset("home")
    simulation.command_controls(simulation.engine.data.ctrl.copy())  # hold; ends the built-in motion
    simulation.step(1000)
    contacts = simulation.observe().contacts
    on_mat = contacts.bodies[:, 0] == 0
    weight = simulation.engine.model.body("hips").subtreemass[0] * GRAVITY
    assert contacts.wrench_world[on_mat, 2].sum() == pytest.approx(weight, rel=0.001)


def test_the_infant_moves_for_minutes_without_a_fault(infant):
    engine = infant.engine
    elbow = engine.model.joint("left_elbow").qposadr[0]
    hips = infant.names.body_id("hips")
    angles = []
    for _ in range(120):
        advance(infant, 1.0)
        angles.append(engine.data.qpos[elbow])
        assert infant.fault() is None
        assert np.isfinite(engine.data.qpos).all()
    assert np.ptp(angles) > 1.0
    on_its_back = engine.body_rotations[hips][2, 0]
    assert on_its_back > 0.8
    assert abs(engine.body_positions[hips][:2]).max() < 0.4, "it stays on the mat"


def test_within_a_round_the_hands_touch_the_belly_and_each_other(infant):
    def hand(side: str) -> list[int]:
        parts = tuple(f"{side}_{part}" for part in ("hand", "thumb", "index", "middle", "ring", "little"))
        return [body for body, name in enumerate(infant.names.bodies) if name.startswith(parts)]

    left, right, belly = hand("left"), hand("right"), [infant.names.body_id("belly")]
    pairs = {"left on belly": (left, belly), "right on belly": (right, belly), "hands": (left, right)}
    touched = set()
    for _ in range(round(infant.settings.motion.period / 0.02)):
        advance(infant, 0.02)
        bodies = infant.observe().contacts.bodies
        for pair, (one, other) in pairs.items():
            if (np.isin(bodies, one).any(axis=1) & np.isin(bodies, other).any(axis=1)).any():
                touched.add(pair)
    assert touched == set(pairs)


def test_the_worm_comes_to_rest_on_the_floor_and_balls_hit_both_segments():
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
