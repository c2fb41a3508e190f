"""The hand holds and turns its globe and measures the contact forces."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.simulation import Simulation

HINGE = int(mujoco.mjtJoint.mjJNT_HINGE)
FINGERS = ("thumb", "index", "middle", "ring", "little")
WEIGHT = 0.08 * 9.81
"""Weight of the globe [N]."""
RADIUS = 0.028
"""Radius of the globe [m]."""


def advance(simulation: Simulation, seconds: float) -> None:
    """Advance the simulation by a time [s], including the built-in motion."""
    for _ in range(round(seconds / simulation.engine.timestep)):
        simulation.step()


def globe(simulation: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Return the position (3,) [m] and rotation (3, 3) of the globe in the palm's frame."""
    engine, names = simulation.engine, simulation.names
    palm, held = names.body_id("palm"), names.body_id("globe")
    to_palm = engine.body_rotations[palm].T
    offset = engine.body_positions[held] - engine.body_positions[palm]
    return to_palm @ offset, to_palm @ engine.body_rotations[held]


def tip_forces(simulation: Simulation) -> dict[str, np.ndarray]:
    """Return the force (3,) on each fingertip's contact sensor in the world frame [N]."""
    engine = simulation.engine
    return {finger: engine.get_contact_sensor(f"{finger}_tip").wrench[0, 0, :3] for finger in FINGERS}


def on_globe(simulation: Simulation) -> dict[str, np.ndarray]:
    """Return the contact force (3,) of each body on the globe in the world frame [N], from the contacts."""
    contacts, names = simulation.observe().contacts, simulation.names
    held = names.body_id("globe")
    forces: dict[str, np.ndarray] = {}
    for (one, two), wrench in zip(contacts.bodies, contacts.wrench_world, strict=True):
        if held in (one, two):
            other, sign = (one, 1) if two == held else (two, -1)
            name = names.bodies[other]
            forces[name] = forces.get(name, np.zeros(3)) + sign * wrench[:3]
    return forces


def turn(before: np.ndarray, after: np.ndarray) -> float:
    """Return the angle about the palm's normal from one rotation (3, 3) to another [deg]."""
    step = after @ before.T
    return np.degrees(np.arctan2(step[1, 0] - step[0, 1], step[0, 0] + step[1, 1]))


@pytest.fixture
def hand() -> Simulation:
    """Return the hand in its initial state: open, with the globe in it."""
    return Simulation(config.load("hand"))


@pytest.fixture
def grasping(hand) -> Simulation:
    """Return the hand at rest with all fingertips on the globe."""
    hold(hand, "grasp", 1000)
    return hand


def hold(hand: Simulation, keyframe: str, steps: int) -> None:
    """Reset to a keyframe, hold its controls instead of the built-in motion, and take some steps."""
    hand.reset(keyframe)
    hand.command_controls(hand.engine.data.ctrl.copy())
    hand.step(steps)


def test_hand_holds_the_globe_without_large_forces(hand):
    seat, _ = globe(hand)
    peak = dict.fromkeys(FINGERS, 0.0)
    for _ in range(round(6 * hand.settings.motion.period / 0.01)):
        advance(hand, 0.01)
        assert np.linalg.norm(globe(hand)[0] - seat) < 0.1 * RADIUS
        assert hand.fault() is None
        for finger, force in tip_forces(hand).items():
            peak[finger] = max(peak[finger], np.linalg.norm(force))
    for finger in FINGERS:
        assert 0.1 < peak[finger] < 3.0, finger


def test_hand_holds_the_globe_when_pushed(hand):
    seat, _ = globe(hand)
    force = hand.engine.data.xfrc_applied[hand.names.body_id("globe")]
    random = np.random.default_rng(0)
    for _ in range(31):
        direction = random.normal(size=3)
        force[:3] = 0.3 * WEIGHT * direction / np.linalg.norm(direction)
        advance(hand, 0.1)
        force[:] = 0
        advance(hand, 0.9)
        assert np.linalg.norm(globe(hand)[0] - seat) < 0.5 * RADIUS


def test_hand_holds_the_globe_when_hit_by_balls(hand):
    seat, _ = globe(hand)
    balls = [hand.names.body_id(name) for name in ("ball_1", "ball_2")]
    table = hand.names.body_id("table")
    hits = 0
    for _ in range(30):
        hand.throw()
        hit = False
        for _ in range(50):
            advance(hand, 0.02)
            bodies = hand.engine.model.geom_bodyid[hand.engine.data.contact.geom]
            hit |= bool((np.isin(bodies, balls).any(axis=1) & (bodies > table).all(axis=1)).any())
        hits += hit
        assert np.linalg.norm(globe(hand)[0] - seat) < RADIUS
    assert hits > 20
    advance(hand, hand.settings.motion.period)
    assert np.linalg.norm(globe(hand)[0] - seat) < 0.1 * RADIUS


def test_hand_turns_the_globe_by_more_than_35_degrees(hand):
    motion = hand.settings.motion
    interval = motion.period / len(motion.keyframes)
    for _ in range(2):
        rotations = []
        for _ in motion.keyframes:
            rotations.append(globe(hand)[1])
            advance(hand, interval)
        turns = [turn(rotations[k - 1], rotations[k]) for k in range(1, len(rotations))]
        for k, (before, after) in enumerate(zip(motion.keyframes, motion.keyframes[1:], strict=False)):
            if (before, after) == ("turned_left", "turned_right"):
                assert turns[k] < -35
            elif (before, after) == ("turned_right", "turned_left"):
                assert turns[k] > 35


def test_contact_forces_on_the_globe_sum_to_its_weight(grasping):
    forces = on_globe(grasping)
    assert {"palm", *(f"{finger}_tip" for finger in FINGERS)} == set(forces)
    assert sum(forces.values()) == pytest.approx([0, 0, WEIGHT], abs=0.02 * WEIGHT)


def test_palm_supports_the_globe_without_the_fingers(hand):
    hold(hand, "home", 500)
    forces = on_globe(hand)
    assert set(forces) == {"palm"}
    assert forces["palm"] == pytest.approx([0, 0, WEIGHT], abs=0.02 * WEIGHT)


def test_sensor_skin_and_contacts_of_fingertips_agree(grasping):
    forces = on_globe(grasping)
    snapshot = grasping.observe()
    skin = grasping.skin
    for finger, felt in tip_forces(grasping).items():
        assert 0.1 < np.linalg.norm(felt) < 3.0
        assert felt == pytest.approx(-forces[f"{finger}_tip"], abs=1e-6)
        body = [each.body_id for each in skin.pads].index(grasping.names.body_id(f"{finger}_tip"))
        taxels = snapshot.forces_world[skin.pad_index == body]
        assert taxels.sum(axis=0) == pytest.approx(felt, abs=1e-6)
        assert (np.linalg.norm(taxels, axis=1) > 0).sum() > 3, "elastomer spreads it over several taxels"


def test_tapping_fingers_lift_off_the_globe(hand):
    lifted = {"tap_1": {"index", "ring"}, "tap_2": {"middle", "little"}}
    for keyframe, up in lifted.items():
        hold(hand, keyframe, 500)
        assert {finger for finger, force in tip_forces(hand).items() if not force.any()} == up


def test_fingers_move_smoothly_without_colliding(hand):
    hand.reset("home")
    engine = hand.engine
    table = hand.names.body_id("table")
    held = hand.names.body_id("globe")
    for _ in range(round(hand.settings.motion.period / 0.01)):
        advance(hand, 0.01)
        bodies = engine.model.geom_bodyid[engine.data.contact.geom]
        assert np.isin(bodies, [held, table]).any(axis=1).all()
        assert engine.data.contact.dist.min() > -0.002
        assert abs(engine.data.qvel).max() < 6.0


def test_hand_has_human_size_and_20_actuated_joints(hand):
    model, skin = hand.engine.model, hand.skin
    assert set(model.actuator_trnid[:, 0]) == set(np.flatnonzero(model.jnt_type == HINGE))
    assert model.nu == 20
    assert (model.actuator_forcelimited == 1).all()
    palm = [body.body_id for body in skin.pads].index(hand.names.body_id("palm"))
    assert np.ptp(skin.positions[skin.pad_index == palm, 1]) == pytest.approx(0.085, abs=0.003)
    straight = mujoco.MjData(model)
    mujoco.mj_kinematics(model, straight)
    for finger in FINGERS:
        links = [name for name in hand.names.bodies if name.startswith(f"{finger}_")]
        assert links == [f"{finger}_1", f"{finger}_2", f"{finger}_tip"]
        tip = straight.geom(f"{finger}_tip").xpos - straight.body(f"{finger}_1").xpos
        assert 0.06 < np.linalg.norm(tip) < 0.1


def test_skin_is_finest_at_the_fingertips(hand):
    names = hand.names.bodies
    spacing = {names[body.body_id]: body.spacing for body in hand.skin.pads}
    tips = {spacing.pop(f"{finger}_tip") for finger in FINGERS}
    assert max(tips) <= 0.003
    assert spacing.pop("palm") == 0.004
    assert len(spacing) == 10
    assert set(spacing.values()) == {0.005}
    assert 2000 < len(hand.skin.positions) < 8000
