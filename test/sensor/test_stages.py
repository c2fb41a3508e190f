"""Each stage of a sensor against what it should be in closed form."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from tactile_sim import CommandError, ConfigError
from tactile_sim.config import SENSOR_STAGES
from tactile_sim.sensor import STAGES, Sensor
from tactile_sim.skin import Skin

MODEL = mujoco.MjModel.from_xml_string("""
<mujoco><worldbody>
  <body name="palm"><geom type="box" size=".05 .05 .05"/></body>
  <body name="tip" pos="1 0 0"><geom type="sphere" size=".05"/></body>
</worldbody></mujoco>""")
SKIN = Skin(MODEL, {1: 0.01, 2: 0.02})
PALM, TIP = (slice(body.start, body.stop) for body in SKIN.bodies)
TAXELS = len(SKIN.positions)
TIMESTEP = 0.002
ALL = {
    "cross_talk": {"share": 0.2},
    "hysteresis": {"fraction": 0.1},
    "slow_adaptation": {"fraction": 0.5, "time_constant": 0.1},
    "fast_adaptation": {"time_constant": 0.3},
    "noise": {"std": 0.01},
    "threshold": {"level": 0.02},
    "saturation": {"level": 2.0},
    "quantisation": {"step": 0.01},
    "dead_taxels": {"fraction": 0.05, "taxels": [3]},
    "delay": {"time": 0.015},
    "tare": {"at": 0.05},
}
"""Every stage with memory and without."""


def sensor(seed=0, **stages):
    return Sensor(SKIN, {"palm": stages}, TIMESTEP, seed)


def held(value, channels=3):
    """A reading that is the same on all taxels: in the direction (2, 3, 6) / 7, or of one channel."""
    direction = np.array([2.0, 3.0, 6.0]) / 7.0 if channels == 3 else np.ones(1)
    return np.full((TAXELS, 1), value) * direction


def told(made, value, step, channels=3):
    """What the first taxel tells of such a reading, along its direction."""
    reading = held(value, channels)
    return float(made.read(step, reading)[0] @ held(1.0, channels)[0])


@pytest.fixture
def readings():
    return np.random.default_rng(1).normal(size=(30, TAXELS, 3))


# -- one by one ----------------------------------------------------------------------------------------------


def test_cross_talk_gives_a_share_to_the_neighbours_in_equal_parts():
    taxel = 17
    reading = np.zeros((TAXELS, 3))
    reading[taxel] = [1.0, -2.0, 4.0]
    out = sensor(cross_talk={"share": 0.3}).read(0, reading)
    others = np.setdiff1d(np.flatnonzero(out.any(axis=1)), taxel)
    assert len(others) >= 4
    assert np.linalg.norm(SKIN.positions[others] - SKIN.positions[taxel], axis=1).max() < 2 * 0.01
    np.testing.assert_allclose(out[taxel], 0.7 * reading[taxel])
    np.testing.assert_allclose(out[others], np.tile(0.3 * reading[taxel] / len(others), (len(others), 1)))


def test_cross_talk_loses_nothing_and_stays_on_its_body(readings):
    out = Sensor(SKIN, {"*": {"cross_talk": {"share": 1.0}}}, TIMESTEP).read(0, readings[0])
    for part in (PALM, TIP):
        np.testing.assert_allclose(out[part].sum(axis=0), readings[0][part].sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("channels", [1, 3])
def test_the_loop_of_hysteresis_encloses_what_its_formula_says(channels):
    fraction, force, steps = 0.2, 5.0, 5000
    made = sensor(hysteresis={"fraction": fraction})
    load = np.r_[np.linspace(0, force, steps + 1), np.linspace(force, 0, steps + 1)]
    out = np.array([told(made, x, k, channels) for k, x in enumerate(load)])
    np.testing.assert_allclose(out[: steps + 1], (1 - fraction) * load[: steps + 1], atol=1e-12)
    turned = np.minimum((1 + fraction) * load[steps + 1 :], (1 - fraction) * force)
    np.testing.assert_allclose(out[steps + 1 :], turned, atol=1e-12)
    enclosed = -np.sum((out[1:] + out[:-1]) / 2 * np.diff(load))
    assert enclosed == pytest.approx(fraction * (1 - fraction) / (1 + fraction) * force**2, rel=1e-6)
    assert out[-1] == 0.0


def test_hysteresis_has_no_direction_of_its_own(readings):
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    straight, turned = (sensor(hysteresis={"fraction": 0.3}) for _ in range(2))
    for step, reading in enumerate(readings):
        np.testing.assert_allclose(
            turned.read(step, reading @ turn)[PALM], straight.read(step, reading)[PALM] @ turn, atol=1e-12
        )


@pytest.mark.parametrize("channels", [1, 3])
def test_slow_adaptation_decays_to_its_fraction_exactly_however_ticks_fall(channels):
    fraction, constant = 0.3, 0.08
    made = sensor(slow_adaptation={"fraction": fraction, "time_constant": constant})
    for step in (4, 5, 9, 30, 31, 100, 1000):
        time = (step - 4) * TIMESTEP
        expected = 2.0 * (fraction + (1 - fraction) * math.exp(-time / constant))
        assert told(made, 2.0, step, channels) == pytest.approx(expected, rel=1e-12)


def test_fast_adaptation_feels_the_beginning_and_the_end_of_a_load():
    constant, end = 0.05, 40
    made = sensor(fast_adaptation={"time_constant": constant})
    for step in (0, 7, 20, 39):
        assert told(made, 3.0, step) == pytest.approx(3.0 * math.exp(-step * TIMESTEP / constant))
    felt = 3.0 * (1 - math.exp(-end * TIMESTEP / constant))
    for step in (end, 45, 80):
        expected = -felt * math.exp(-(step - end) * TIMESTEP / constant)
        assert told(made, 0.0, step) == pytest.approx(expected)


def test_noise_is_normal_white_and_adds_to_what_is_there():
    steps = 400
    made = sensor(noise={"std": 0.5})
    reading = held(1.0)
    noise = np.array([made.read(step, reading) - reading for step in range(steps)])[:, PALM] / 0.5
    number = noise.size
    for bound in (0.05, 0.5, 1.0, 2.0, 3.0, 3.6):
        share = math.erf(bound / math.sqrt(2))
        deviation = math.sqrt(share * (1 - share) / number)
        assert (np.abs(noise) < bound).mean() == pytest.approx(share, abs=4 * deviation)
    assert (noise > 0).mean() == pytest.approx(0.5, abs=2 / math.sqrt(number))
    for one, other in [
        (noise[1:], noise[:-1]),
        (noise[:, 1:], noise[:, :-1]),
        (noise[..., 1:], noise[..., :-1]),
    ]:
        assert (one * other).mean() == pytest.approx(0.0, abs=4 / math.sqrt(one.size))


def test_noise_depends_on_seed_step_and_taxel_alone():
    reading = np.zeros((TAXELS, 3))
    everywhere = Sensor(SKIN, {"*": {"noise": {"std": 1.0}}}, TIMESTEP, seed=5)
    for step in range(7):
        everywhere.read(step, reading)
    alone = Sensor(SKIN, {"tip": {"noise": {"std": 1.0}}}, TIMESTEP, seed=5).read(7, reading)
    np.testing.assert_array_equal(alone[TIP], everywhere.read(7, reading)[TIP])
    assert not alone[PALM].any()
    other = Sensor(SKIN, {"tip": {"noise": {"std": 1.0}}}, TIMESTEP, seed=6).read(7, reading)
    assert np.abs(other[TIP] - alone[TIP]).min() > 0.0


def test_below_the_threshold_all_is_zero_and_above_it_as_it_was(readings):
    out = sensor(threshold={"level": 1.5}).read(0, readings[0])[PALM]
    strong = np.linalg.norm(readings[0][PALM], axis=1) >= 1.5
    assert 0 < strong.sum() < len(strong)
    np.testing.assert_array_equal(out, np.where(strong[:, None], readings[0][PALM], 0.0))


def test_saturation_cuts_the_magnitude_and_keeps_the_direction(readings):
    out = sensor(saturation={"level": 1.5}).read(0, readings[0])[PALM]
    size = np.linalg.norm(readings[0][PALM], axis=1, keepdims=True)
    np.testing.assert_allclose(out, readings[0][PALM] * np.minimum(1.0, 1.5 / size), atol=1e-12)


def test_quantisation_gives_the_nearest_step(readings):
    out = sensor(quantisation={"step": 0.25}).read(0, readings[0])[PALM]
    np.testing.assert_array_equal(out * 4, np.round(out * 4))
    assert np.abs(out - readings[0][PALM]).max() <= 0.125


def test_dead_taxels_are_those_listed_and_a_fraction_that_the_seed_chooses(readings):
    def dead(seed, **block):
        return np.flatnonzero(~sensor(seed, dead_taxels=block).read(0, readings[0]).any(axis=1))

    number = PALM.stop - PALM.start
    assert len(dead(1, fraction=0.1)) == round(0.1 * number)
    np.testing.assert_array_equal(dead(1, fraction=0.1), dead(1, fraction=0.1))
    assert set(dead(1, fraction=0.1)) != set(dead(2, fraction=0.1))
    np.testing.assert_array_equal(dead(1, taxels=[5, 2]), [2, 5])
    assert set(dead(1, fraction=0.1, taxels=[2, 5])) == set(dead(1, fraction=0.1)) | {2, 5}


@pytest.mark.parametrize(("delay", "age"), [(0.0, 0), (0.02, 10), (0.019, 10), (0.0181, 10), (0.011, 6)])
def test_a_delay_tells_the_newest_reading_that_is_old_enough(delay, age):
    made = sensor(delay={"time": delay})
    ticks = [0, 5, 10, 15, 22, 23, 40]
    for step in range(ticks[-1] + 1):
        kept = [tick for tick in ticks if tick < step]
        # A look between two ticks is a reading of its own, but remembered it is not.
        old = [tick for tick in (*kept, step) if step - tick >= age]
        reading = held(100.0 + step)
        expected = 100.0 + old[-1] if old else 0.0
        seen = made.read(step, reading) if step in ticks else made.peek(step, reading)
        assert seen[0] @ held(1.0)[0] == pytest.approx(expected)


def test_bodies_are_delayed_each_by_its_own_time():
    made = Sensor(SKIN, {"palm": {"delay": {"time": 0.01}}, "tip": {"delay": {"time": 0.02}}}, TIMESTEP)
    for step in range(20):
        out = made.read(step, held(float(step), 1))
    assert (out[PALM][0, 0], out[TIP][0, 0]) == (14.0, 9.0)


def test_a_tare_takes_off_what_was_told_and_outlasts_a_restart():
    made = sensor(saturation={"level": 2.0})
    made.tare(0, held(3.0))
    assert told(made, 3.0, 1) == pytest.approx(0.0)
    assert told(made, 1.0, 2) == pytest.approx(-1.0)
    made.restart()
    assert told(made, 1.0, 0) == pytest.approx(-1.0)
    made.forget()
    assert told(made, 1.0, 0) == pytest.approx(1.0)


def test_a_tare_comes_by_itself_at_its_time_and_only_once():
    made = sensor(tare={"at": 0.02})
    assert [told(made, x, step) for step, x in [(0, 1.0), (5, 2.0), (12, 3.0), (15, 5.0)]] == pytest.approx(
        [1.0, 2.0, 0.0, 2.0]
    )
    assert not made.remembers
    made.restart()
    assert told(made, 4.0, 20) == pytest.approx(1.0)
    assert made.read(21, held(4.0))[TIP][0] == pytest.approx(held(4.0)[0])


# -- together ------------------------------------------------------------------------------------------------


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
