"""A batch against single simulations: equal bits."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim.batch import Batch
from tactile_sim.simulation import Simulation

SENSOR = {
    "noise": {"std": 0.01},
    "hysteresis": {"fraction": 0.1},
    "slow_adaptation": {"fraction": 0.5, "time_constant": 0.1},
    "dead_taxels": {"fraction": 0.1},
    "delay": {"time": 0.02},
}
CONFIG = {
    "scene": "hand.xml",
    "skin": {
        "scales": {"palm": 0.015, "*_tip": 0.01},
        "sensor": {"palm": SENSOR, "*_tip": {"noise": {"std": 0.1}}},
    },
    "contact_sensors": {"net": {"body1": "palm", "data": ["force"], "reduce": "netforce"}},
}
ENVIRONMENTS, SEED = 16, 3


def simulations(config: dict, count: int = ENVIRONMENTS) -> list[Simulation]:
    return [Simulation({**config, "seed": SEED + k}) for k in range(count)]


def assert_equal(batch: Batch, singles: list[Simulation]) -> None:
    seen = batch.observe()
    for k, single in enumerate(singles):
        snapshot = single.observe()
        np.testing.assert_array_equal(batch.qpos[k], single.engine.data.qpos)
        np.testing.assert_array_equal(batch.qvel[k], single.engine.data.qvel)
        assert batch.time[k] == single.engine.time
        np.testing.assert_array_equal(seen.readings[k], snapshot.taxels)
        np.testing.assert_array_equal(seen.truth[k], snapshot.truth)
        np.testing.assert_array_equal(seen.wrenches[k], snapshot.wrenches)
        np.testing.assert_array_equal(seen.sensor_data[k], snapshot.sensor_data)
        for many, one in zip(seen.joint_states, snapshot.joint_states, strict=True):
            np.testing.assert_array_equal(many[k], one)


def test_random_steps_and_partial_resets_equal_single_simulations():
    batch = Batch({**CONFIG, "seed": SEED}, ENVIRONMENTS)
    singles, random = simulations(CONFIG), np.random.default_rng(0)
    low, high = singles[0].engine.model.actuator_ctrlrange.T
    felt = 0
    for block in range(100):
        controls = random.uniform(low, high, (ENVIRONMENTS, len(low)))
        batch.ctrl[:] = controls
        steps = int(random.integers(1, 20))
        batch.step(steps)
        for k, single in enumerate(singles):
            single.command_controls(controls[k])
            single.step(steps)
        if block % 7 == 3:
            envs = random.choice(ENVIRONMENTS, 3, replace=False)
            batch.reset(envs, "grasp" if block % 2 else None)
            for k in envs.tolist():
                singles[k].reset("grasp" if block % 2 else None)
        if block % 5 == 0 or block == 99:
            assert_equal(batch, singles)
            felt += (batch.observe().truth != 0).any(axis=(1, 2)).sum()
    assert batch.step_count >= 800 and felt > 100


@pytest.mark.parametrize(
    "skin",
    [
        {"response_function": "elastic_foundation", "touch_function": "normal"},
        {"response_function": "hertz", "touch_function": "slip", "sampling": "mean"},
        {"kind": "geom", "response_function": "nearest", "sampling": "peak"},
        {"distance": "surface", "touch_function": "force_vector_global"},
    ],
)
def test_functions_and_sampling_equal_single_simulations_with_built_in_motion(skin):
    config = {
        **CONFIG,
        "skin": {"scales": {"palm": 0.01, "*_tip": 0.006}, **skin},
        "motion": {"keyframes": ["home", "grasp"], "period": 1.0},
    }
    batch, singles = Batch({**config, "seed": SEED}, 3, threads=2), simulations(config, 3)
    for steps in (1, 7, 130, 60):
        batch.step(steps)
        for single in singles:
            single.step(steps)
        assert_equal(batch, singles)
        if steps == 7:
            batch.reset([1])
            singles[1].reset()
    assert batch.observe().truth.any()
