"""Contact sensors in many environments."""

from __future__ import annotations

import numpy as np
import pytest
from support.contact_sensors import CASES, sliding
from support.errors import raises

from tactile_sim import EngineError
from tactile_sim.engines import load


def test_batch_equals_single_environments(folder):
    sliding(5, str(folder))
    file = folder / "sledge5.xml"
    batch, alone = load(file, num_envs=4, threads=2), load(file)
    for env, height in enumerate([0.019, 0.018, 3.0, 0.0185]):
        batch.data.qpos[env, 2] = height
        batch.data.qvel[env] = 0.1 * env
    batch.step(5)
    for env in range(4):
        alone.reset()
        alone.data.qpos[2] = [0.019, 0.018, 3.0, 0.0185][env]
        alone.data.qvel[:] = 0.1 * env
        alone.step(5)
        for name in list(CASES)[::5]:
            one, many = alone.get_contact_sensor(name), batch.get_contact_sensor(name)
            np.testing.assert_array_equal(many.values[env], one.values[0])
            assert many.found[env] == one.found[0]
            np.testing.assert_array_equal(
                batch.get_contact_force_magnitude(name)[env], alone.get_contact_force_magnitude(name)[0]
            )
            np.testing.assert_array_equal(batch.get_sensor_value(name)[env], alone.get_sensor_value(name))
            np.testing.assert_array_equal(batch.get_sensor_data(name)[env], alone.get_sensor_data(name)[0])
    np.testing.assert_allclose(batch.time, [0.01] * 4)


def test_reset_of_selected_environments_leaves_the_others(folder):
    sliding(5, str(folder))
    batch = load(folder / "sledge5.xml", num_envs=3)
    batch.step(4)
    batch.reset(envs=[1])
    np.testing.assert_allclose(batch.time, [0.008, 0, 0.008])
    batch.data.qvel[2, 0] = np.nan
    batch.step()
    assert batch.faults() == {2: "bad velocity"}
    batch.reset()
    assert not batch.faults() and not batch.time.any()
    with raises(EngineError, "'rest'"):
        batch.reset("rest")


def test_environments_are_selected_by_indices_or_mask(folder, engine_name):
    sliding(5, str(folder))
    batch = load(folder / "sledge5.xml", engine_name, num_envs=3)
    batch.step()
    batch.reset(envs=[2, 0, 2])
    np.testing.assert_allclose(batch.time, [0, 0.002, 0])
    batch.step()
    batch.reset(envs=batch.time > 0.003)
    np.testing.assert_allclose(batch.time, [0.002, 0, 0.002])
    for envs, facts in (
        ([3], ["envs", "3", "0 to 2"]), ([-1], ["envs", "-1", "0 to 2"]),
        ([True], ["envs", "[True]"]), (1, ["envs", "3 booleans", "1"]),
    ):  # fmt: skip
        with raises(EngineError, *facts):
            batch.reset(envs=envs)


@pytest.mark.parametrize("number", [0, -1, 2.0, "2", 10**18])
def test_invalid_num_envs_is_rejected(number):
    with raises(EngineError, "num_envs", repr(number)):
        load("touch_cube", num_envs=number)


@pytest.mark.parametrize("engine", ["mujoco", "motrix"])
def test_too_many_environments_for_the_memory_are_rejected(engine):
    with raises(EngineError, "num_envs", "memory", "2000000000"):
        load("touch_cube", engine, num_envs=2_000_000_000)


def test_batch_rejects_attributes_of_a_single_environment(folder):
    sliding(5, str(folder))
    batch = load(folder / "sledge5.xml", num_envs=2)
    for name in ("integrate", "set_free_body", "body_positions", "eq_active"):
        with raises(EngineError, f"'{name}'", "2", "num_envs=1"):
            getattr(batch, name)
    assert not hasattr(batch, "anything")
