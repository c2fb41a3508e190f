"""The shipped scene of an infant has the proportions, skin and motion that its files describe."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.simulation import Simulation

GRAVITY = 9.81


@pytest.fixture(scope="module")
def infant() -> Simulation:
    """Return the simulation after the first period of its motion."""
    simulation = Simulation(config.load("infant"))
    simulation.step(round(simulation.settings.motion.period / simulation.engine.timestep))
    return simulation


def test_the_infant_has_the_size_and_mass_of_eighteen_months(infant):
    model = infant.engine.model
    mass = model.body("hips").subtreemass[0]
    assert mass == pytest.approx(11.0, abs=0.5)
    assert model.body("head").mass[0] / mass == pytest.approx(0.2, abs=0.03)
    straight = mujoco.MjData(model)
    mujoco.mj_kinematics(model, straight)
    # It lies on its back with its feet toward x.
    crown = straight.geom("skull").xpos[0] - model.geom("skull").size[2]
    lengthwise = straight.geom("left_foot_inside").xpos[0] + model.geom("left_foot_inside").size[0]
    assert lengthwise - crown == pytest.approx(0.80, abs=0.02)


def test_infant_has_about_seven_thousand_taxels_on_all_bodies(infant):
    model, skin = infant.engine.model, infant.skin
    of_infant = np.flatnonzero(model.body_rootid == model.body("hips").id)
    assert [body.body_id for body in skin.pads] == list(of_infant)
    assert len(skin.pads) >= 22
    assert 6500 < len(skin.positions) < 7500


def test_infant_has_the_finest_skin_on_its_fingers(infant):
    names = infant.names.bodies
    spacing = {names[body.body_id]: body.spacing for body in infant.skin.pads}
    fingers = [spacing.pop(name) for name in names if name in spacing and name.endswith(("_1", "_2"))]
    assert len(fingers) == 20
    assert max(fingers) < min(spacing.values())
    assert spacing["left_hand"] < 0.5 * min(spacing[name] for name in ("head", "chest", "belly", "hips"))


def test_left_and_right_are_mirror_images(infant):
    model = infant.engine.model
    lefts = [name for name in infant.names.bodies if name.startswith("left_")]
    assert len(lefts) == 17
    for name in lefts:
        left, right = model.body(name), model.body("right" + name.removeprefix("left"))
        assert right.pos == pytest.approx(left.pos * [1, -1, 1])
        assert right.mass == pytest.approx(left.mass)
        assert right.inertia == pytest.approx(left.inertia)


def test_force_on_the_resting_infant_is_its_weight(infant):
    simulation = Simulation(config.load("infant"))
    simulation.reset("home")
    simulation.command_controls(simulation.engine.data.ctrl.copy())  # hold; this ends the motion
    simulation.step(1000)
    contacts = simulation.observe().contacts
    on_mat = contacts.bodies[:, 0] == 0
    weight = simulation.engine.model.body("hips").subtreemass[0] * GRAVITY
    assert contacts.wrench_world[on_mat, 2].sum() == pytest.approx(weight, rel=0.001)


def test_infant_moves_for_minutes_without_a_fault(infant):
    engine = infant.engine
    elbow = engine.model.joint("left_elbow").qposadr[0]
    hips = infant.names.body_id("hips")
    angles = []
    for _ in range(120):
        infant.step(round(1.0 / infant.engine.timestep))
        angles.append(engine.data.qpos[elbow])
        assert infant.fault() is None
        assert np.isfinite(engine.data.qpos).all()
    assert np.ptp(angles) > 1.0
    on_its_back = engine.body_rotations[hips][2, 0]
    assert on_its_back > 0.8
    assert abs(engine.body_positions[hips][:2]).max() < 0.4, "it stays on the mat"


def test_hands_touch_belly_and_each_other_in_each_period(infant):
    def hand(side: str) -> list[int]:
        parts = tuple(f"{side}_{part}" for part in ("hand", "thumb", "index", "middle", "ring", "little"))
        return [body for body, name in enumerate(infant.names.bodies) if name.startswith(parts)]

    left, right, belly = hand("left"), hand("right"), [infant.names.body_id("belly")]
    pairs = {"left on belly": (left, belly), "right on belly": (right, belly), "hands": (left, right)}
    touched = set()
    for _ in range(round(infant.settings.motion.period / 0.02)):
        infant.step(round(0.02 / infant.engine.timestep))
        bodies = infant.observe().contacts.bodies
        for pair, (one, other) in pairs.items():
            if (np.isin(bodies, one).any(axis=1) & np.isin(bodies, other).any(axis=1)).any():
                touched.add(pair)
    assert touched == set(pairs)
