"""A batch has bit-identical results to single simulations."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from support.batches import MEMORY, SCENE, SEED, SKIN, assert_equal, batch_of, scene, singles_of

from tactile_sim.batch import Batch
from tactile_sim.simulation import Simulation

STAGES = {"skin": {**SKIN, "sensor": {"box": MEMORY, "arm": {"noise": {"std": 0.1}}}}}


def test_random_steps_and_partial_resets_equal_single_simulations():
    count = 16
    batch, singles = batch_of(count, STAGES), singles_of(count, STAGES)
    random, touched = np.random.default_rng(0), np.zeros(count, bool)
    while batch.step_count < 1000:
        controls, steps = random.uniform(-1, 1, (count, 2)), int(random.integers(1, 20))
        batch.ctrl[:] = controls
        batch.step(steps)
        for k, single in enumerate(singles):
            single.command_controls(controls[k])
            single.step(steps)
        if random.random() < 0.2:
            envs, keyframe = random.choice(count, 3, replace=False), random.choice(["", "up"])
            batch.reset(envs, keyframe)
            for k in envs.tolist():
                singles[k].reset(keyframe)
        if random.random() < 0.2 or batch.step_count >= 1000:
            assert_equal(batch, singles)
            touched |= batch.observe().truth.any(axis=(1, 2))
    assert touched.all() and not batch.faults
    assert len({reading.tobytes() for reading in batch.observe().readings}) == count


@pytest.mark.parametrize(
    "skin",
    [
        {"response_function": "elastic_foundation", "touch_function": "normal"},
        {"response_function": "hertz", "touch_function": "slip", "sampling": "mean"},
        {"kind": "geom", "response_function": "nearest", "sampling": "peak"},
        {"distance": "surface", "touch_function": "force_vector_global"},
        {"touch_function": "force_vector_taxel", "sensor": {"*": {"noise": {"std": [0.01, 0.1]}}}},
        {
            "touch_function": "pressure",
            "scales": {"box": 0.04},
            "pads": {"tip": {"body": "arm", "spacing": 0.02, "rate": 50.0}},
            "sensor": {"tip": {"hysteresis": {"fraction": 0.1}}},
            "sampling": "mean",
        },
    ],
)
def test_functions_sampling_and_motion_equal_single_simulations(skin):
    settings = {"skin": {**SKIN, **skin}, "motion": {"keyframes": ["up", "left"], "period": 0.2}}
    batch, singles = batch_of(3, settings, threads=2), singles_of(3, settings)
    for steps in (1, 7, 130, 30):
        batch.step(steps)
        for single in singles:
            single.step(steps)
        assert_equal(batch, singles)
        if steps == 7:
            batch.reset([1], "left")
            singles[1].reset("left")
        if steps == 130:  # ends the built-in motion in that environment
            batch.ctrl[2] = 0.5
            singles[2].command_controls(np.full(2, 0.5))
    assert batch.observe().truth.any()


def test_joint_commands_and_tare_equal_single_simulations():
    settings = {"control": {"turn": {"kp": 5.0, "kd": 1.0}}}
    batch, singles = batch_of(3, settings), singles_of(3, settings)
    batch.step(40)
    batch.command_joints({"turn": [0.3, -0.2]}, velocity={"turn": 0.1}, effort={"lift": 0.1}, envs=[0, 2])
    batch.take_tare([0])
    for k, single in enumerate(singles):
        single.step(40)
        if k != 1:
            position = {"turn": 0.3 if k == 0 else -0.2}
            single.command_joints(position, velocity={"turn": 0.1}, effort={"lift": 0.1})
        if k == 0:
            single.take_tare()
    for steps in (3, 20):
        batch.step(steps)
        for single in singles:
            single.step(steps)
        assert_equal(batch, singles)


def test_seed_of_reset_gives_the_simulations_of_this_seed():
    skin = SKIN | {"sensor": {"*": MEMORY | {"gain": {"value": [0.5, 2.0], "scatter": 0.1}}}}
    batch = batch_of(4, {"skin": skin})
    batch.step(20)
    batch.reset()
    batch.step(20)
    batch.reset([1, 3], seed=7)
    singles = [Simulation(scene(), {"skin": skin, "seed": SEED + 7 + k}) for k in (1, 3)]
    batch.step(30)
    seen = batch.observe()
    for k, single in zip((1, 3), singles, strict=True):
        single.step(30)
        np.testing.assert_array_equal(seen.readings[k], single.observe().readings)
    assert not np.array_equal(seen.readings[1], seen.readings[3])


def test_results_do_not_depend_on_threads_and_other_environments():
    random = np.random.default_rng(1)
    batches = [batch_of(20, STAGES, threads=1), batch_of(20, STAGES, threads=3), batch_of(2, STAGES)]
    for _ in range(10):
        controls = random.uniform(-1, 1, (20, 2))
        for batch in batches:
            batch.ctrl[:] = controls[: batch.num_envs]
            batch.step(20)
    one, other, fewer = (batch.observe().readings.copy() for batch in batches)
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(one[:2], fewer)


@pytest.mark.parametrize(
    "option",
    ['integrator="RK4"', 'integrator="implicitfast" cone="elliptic"', 'integrator="implicit"', "sleep"],
)
def test_integrators_cones_and_sleep_equal_simulation(option):
    wanted = '<option><flag sleep="enable"/></option><option' if option == "sleep" else f"<option {option}"
    spec = mujoco.MjSpec.from_string(SCENE.replace("<option", wanted))
    settings = {"skin": STAGES["skin"]}
    batch, single = Batch(spec, 2, settings=settings), Simulation(spec, settings)
    for steps in (50, 300):
        batch.step(steps)
        single.step(steps)
        assert_equal(batch, [single])


def test_feelers_equal_simulation():
    batch, single = Batch("touch_cube", 2), Simulation("touch_cube")
    for engine in (batch, single):
        engine.step(300)
    assert_equal(batch, [single])
    np.testing.assert_array_equal(batch.observe().feelers[0], single.observe().feelers)


def test_many_contacts_equal_simulation():
    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><geom type="plane" size="9 9 1"/></worldbody></mujoco>'
    )
    for k in range(10):
        body = spec.worldbody.add_body(name=f"box{k}", pos=[k, 0, 0.0999])
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.1])
    settings = {"skin": {"scales": {"box*": 0.1}}, "contacts": "all"}
    batch, single = Batch(spec, 2, settings=settings), Simulation(spec, settings)
    for engine in (batch, single):
        engine.step(20)
    assert_equal(batch, [single])
    assert batch.worlds.contact_counts.tolist() == [40, 40]
