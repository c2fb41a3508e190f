"""Contact sensors of many environments."""

from __future__ import annotations

import numpy as np
import pytest
from contacttest import (
    CASES,
    sliding,
)

from tactile_sim import EngineError
from tactile_sim.engines import load


def test_each_environment_of_a_batch_feels_what_it_would_feel_alone(folder):
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


def test_some_environments_of_a_batch_start_anew_and_the_others_go_on(folder):
    sliding(5, str(folder))
    batch = load(folder / "sledge5.xml", num_envs=3)
    batch.step(4)
    batch.reset(envs=[1])
    np.testing.assert_allclose(batch.time, [0.008, 0, 0.008])
    batch.data.qvel[2, 0] = np.nan
    batch.step()
    assert batch.fault() == "bad velocity in environment 2"
    batch.reset()
    assert batch.fault() is None and not batch.time.any()
    with pytest.raises(EngineError, match="no keyframe 'rest'"):
        batch.reset("rest")


def test_environments_are_told_by_numbers_in_any_order_or_by_a_mask(folder, engine_name):
    sliding(5, str(folder))
    batch = load(folder / "sledge5.xml", engine_name, num_envs=3)
    batch.step()
    batch.reset(envs=[2, 0, 2])
    np.testing.assert_allclose(batch.time, [0, 0.002, 0])
    batch.step()
    batch.reset(envs=batch.time > 0.003)
    np.testing.assert_allclose(batch.time, [0.002, 0, 0.002])
    for envs, message in (
        ([3], "no environment 3; there are 0 to 2"), ([-1], "no environment -1"),
        ([True], "needs numbers"), (1, "3 booleans, but is 1"),
    ):  # fmt: skip
        with pytest.raises(EngineError, match=message):
            batch.reset(envs=envs)


@pytest.mark.parametrize("number", [0, -1, 2.0, "2", 10**18])
def test_a_number_of_environments_that_cannot_be_is_refused(number):
    with pytest.raises(EngineError, match=f"cannot run {number!r} environments"):
        load("touch_cube", num_envs=number)


@pytest.mark.parametrize("engine", ["mujoco", "motrix"])
def test_more_environments_than_memory_holds_are_refused_in_a_line(engine):
    with pytest.raises(EngineError, match="cannot run 2000000000 environments: too little memory; make num"):
        load("touch_cube", engine, num_envs=2_000_000_000)


def test_what_a_batch_cannot_do_is_refused_by_name(folder):
    sliding(5, str(folder))
    batch = load(folder / "sledge5.xml", num_envs=2)
    for name in ("contacts", "integrate", "set_free_body", "body_positions"):
        with pytest.raises(EngineError, match=f"has no {name} for 2 environments at once.*num_envs=1"):
            getattr(batch, name)
    assert not hasattr(batch, "anything")
    with pytest.raises(EngineError, match="cannot run 0 environments"):
        load(folder / "sledge5.xml", num_envs=0)
