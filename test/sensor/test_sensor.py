"""The stages of a sensor together: their order, what they remember, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sensing import ALL, SKIN, TAXELS, TIMESTEP, TIP, held, sensor

from tactile_sim import CommandError, ConfigError
from tactile_sim.config import SENSOR_STAGES
from tactile_sim.sensor import STAGES, Sensor


def test_without_stages_a_reading_is_passed_through_as_it_is(readings):
    made = Sensor(SKIN, {}, TIMESTEP)
    reading = readings[0]
    assert made.read(0, reading) is reading
    assert not made.remembers
    assert not made.staged.any()


def test_only_what_depends_on_the_past_remembers():
    memory = {"hysteresis", "slow_adaptation", "fast_adaptation", "delay", "tare"}
    assert {stage for stage, block in ALL.items() if sensor(**{stage: block}).remembers} == memory


def test_a_body_without_stages_reads_as_it_feels(readings):
    made = sensor(**ALL)
    for step, reading in enumerate(readings):
        before = reading.copy()
        np.testing.assert_array_equal(made.read(step, reading)[TIP], before[TIP])
        np.testing.assert_array_equal(reading, before)
    np.testing.assert_array_equal(made.staged, [True, False])


def test_stages_act_in_one_order_however_they_are_written(readings):
    assert list(STAGES) == list(SENSOR_STAGES)
    forward, backward = sensor(**ALL), sensor(**dict(reversed(ALL.items())))
    one_by_one = [sensor(**{stage: ALL[stage]}) for stage in SENSOR_STAGES]
    for step, reading in enumerate(readings):
        out = forward.read(step, reading)
        np.testing.assert_array_equal(out, backward.read(step, reading))
        for single in one_by_one:
            reading = single.read(step, reading)
        np.testing.assert_array_equal(out, reading)


def test_looks_change_nothing_and_the_same_reading_again_gives_the_same(readings):
    watched, alone = sensor(**ALL), sensor(**ALL)
    for k, reading in enumerate(readings):
        step = 5 * k
        out = alone.read(step, reading)
        watched.peek(step, reading)
        for _ in range(2):
            np.testing.assert_array_equal(watched.read(step, reading), out)
        watched.peek(step + 2, readings[0])


def test_a_restart_repeats_all_but_the_tare(readings):
    stages = {name: block for name, block in ALL.items() if name != "tare"}
    made = sensor(**stages)
    first = [made.read(step, reading) for step, reading in enumerate(readings)]
    made.restart()
    np.testing.assert_array_equal([made.read(step, reading) for step, reading in enumerate(readings)], first)


def test_readings_may_be_of_another_kind_after_all_is_forgotten(readings):
    made = sensor(**ALL)
    made.read(100, readings[0])
    made.forget()
    assert made.read(0, readings[0][:, :1]).shape == (TAXELS, 1)


@pytest.mark.parametrize("shape", [(TAXELS - 1, 3), (TAXELS, 1), (TAXELS,)])
def test_a_reading_of_another_shape_than_those_before_is_refused(shape):
    made = sensor(**ALL)
    made.read(0, held(1.0))
    with pytest.raises(CommandError, match=f"must be an array \\({TAXELS}, 3\\), not"):
        made.read(1, np.zeros(shape))


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(ConfigError, match="^my.yaml: seed: needs an integer from 0"):
        Sensor(SKIN, {"palm": {"noise": {"std": 1}}}, TIMESTEP, seed, "my.yaml")


def test_time_does_not_go_back():
    made = sensor(**ALL)
    made.read(7, held(1.0))
    with pytest.raises(CommandError, match="a reading of step 6 cannot follow one of step 7"):
        made.read(6, held(1.0))


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ({"plam": {"noise": {"std": 1}}}, "my.yaml: skin.sensor.plam: .* named 'plam'; did you mean 'palm'?"),
        ({"f*": {"noise": {"std": 1}}}, "skin.sensor.f\\*: no body with skin .*; there are: palm, tip"),
        ({"palm": {"nois": {"std": 1}}}, "unknown key 'skin.sensor.palm.nois.std'; did you mean 'noise'?"),
        ({"palm": {"noise": {"sdt": 1}}}, "unknown key 'skin.sensor.palm.noise.sdt'; did you mean 'std'?"),
        ({"palm": {"noise": 1}}, "skin.sensor.palm.noise: needs std below it, but is 1"),
        ({"palm": 1}, "skin.sensor.palm: needs one of cross_talk, .*, tare below it, but is 1"),
        ({"palm": {"noise": {"std": -1}}}, "noise.std: needs a finite number of at least 0, but is -1"),
        ({"palm": {"cross_talk": {"share": 2}}}, "of at least 0 and at most 1, but is 2"),
        ({"palm": {"delay": {"time": 11}}}, "delay.time: .* at most 10 \\[s\\], but is 11"),
        ({"palm": {"quantisation": {"step": 0}}}, "a finite number above 0, but is 0"),
        ({"palm": {"slow_adaptation": {"fraction": 1}}}, "slow_adaptation: .*'time_constant' is missing"),
        ({"palm": {"dead_taxels": {"taxels": [9999]}}}, "palm.dead_taxels.taxels: .* no taxel 9999; there"),
        ({"palm": {"dead_taxels": {"taxels": [-1]}}}, "taxels: needs integers of at least 0, but has -1"),
        ({"palm": {"dead_taxels": {"taxels": 3}}}, "taxels: needs a list of integers, .* but is 3"),
    ],
)  # fmt: skip
def test_stages_that_cannot_be_are_refused_with_key_and_nearest_name(stages, message):
    with pytest.raises(ConfigError, match=f"^my.yaml: .*{message.removeprefix('my.yaml: ')}") as error:
        Sensor(SKIN, stages, TIMESTEP, source="my.yaml")
    assert "\n" not in str(error.value)


def test_an_exact_name_speaks_alone_for_its_body():
    made = Sensor(SKIN, {"*": {"saturation": {"level": 1.0}}, "tip": {"threshold": {"level": 0.5}}}, TIMESTEP)
    out = made.read(0, held(3.0))
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), np.where(SKIN.body_index == 0, 1.0, 3.0))
