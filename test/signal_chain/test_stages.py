"""Each stage, compared with its closed-form solution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.signal_chain import PALM, SKIN, TAXELS, TIMESTEP, TIP, first_reading, held, sensor

from tactile_sim.signal_chain import SignalChain


def test_cross_talk_distributes_a_share_equally_over_neighbors():
    taxel = 17
    reading = np.zeros((TAXELS, 3))
    reading[taxel] = [1.0, -2.0, 4.0]
    out = sensor(cross_talk={"share": 0.3}).read(0, reading)
    others = np.setdiff1d(np.flatnonzero(out.any(axis=1)), taxel)
    assert len(others) >= 4
    assert np.linalg.norm(SKIN.positions[others] - SKIN.positions[taxel], axis=1).max() < 2 * 0.01
    np.testing.assert_allclose(out[taxel], 0.7 * reading[taxel])
    np.testing.assert_allclose(out[others], np.tile(0.3 * reading[taxel] / len(others), (len(others), 1)))


def test_cross_talk_preserves_the_sum_on_each_body(readings):
    out = SignalChain(SKIN, {"*": {"cross_talk": {"share": 1.0}}}, TIMESTEP).read(0, readings[0])
    for part in (PALM, TIP):
        sums = (values[part].sum(axis=0, dtype=float) for values in (out, readings[0]))
        np.testing.assert_allclose(*sums, atol=1e-5)


@pytest.mark.parametrize("channels", [1, 3])
def test_area_of_the_hysteresis_loop_matches_its_formula(channels):
    fraction, force, steps = 0.2, 5.0, 5000
    made = sensor(hysteresis={"fraction": fraction})
    load = np.r_[np.linspace(0, force, steps + 1), np.linspace(force, 0, steps + 1)]
    out = np.array([first_reading(made, x, k, channels) for k, x in enumerate(load)])
    np.testing.assert_allclose(out[: steps + 1], (1 - fraction) * load[: steps + 1], atol=1e-6)
    turned = np.minimum((1 + fraction) * load[steps + 1 :], (1 - fraction) * force)
    np.testing.assert_allclose(out[steps + 1 :], turned, atol=1e-6)
    enclosed = -np.sum((out[1:] + out[:-1]) / 2 * np.diff(load))
    assert enclosed == pytest.approx(fraction * (1 - fraction) / (1 + fraction) * force**2, rel=1e-6)
    assert out[-1] == 0.0


def test_hysteresis_is_isotropic(readings):
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    straight, turned = (sensor(hysteresis={"fraction": 0.3}) for _ in range(2))
    for step, reading in enumerate(readings):
        np.testing.assert_allclose(
            turned.read(step, reading @ turn)[PALM], straight.read(step, reading)[PALM] @ turn, atol=1e-6
        )


@pytest.mark.parametrize("channels", [1, 3])
def test_slow_adaptation_decays_exactly_for_any_ticks(channels):
    fraction, constant = 0.3, 0.08
    made = sensor(slow_adaptation={"fraction": fraction, "time_constant": constant})
    for step in (4, 5, 9, 30, 31, 100, 1000):
        time = (step - 4) * TIMESTEP
        expected = 2.0 * (fraction + (1 - fraction) * math.exp(-time / constant))
        assert first_reading(made, 2.0, step, channels) == pytest.approx(expected, rel=1e-6)


def test_fast_adaptation_responds_to_onset_and_release():
    constant, end = 0.05, 40
    made = sensor(fast_adaptation={"time_constant": constant})
    for step in (0, 7, 20, 39):
        assert first_reading(made, 3.0, step) == pytest.approx(3.0 * math.exp(-step * TIMESTEP / constant))
    felt = 3.0 * (1 - math.exp(-end * TIMESTEP / constant))
    for step in (end, 45, 80):
        expected = -felt * math.exp(-(step - end) * TIMESTEP / constant)
        assert first_reading(made, 0.0, step) == pytest.approx(expected)


def test_noise_is_normal_white_and_additive():
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


def test_noise_depends_only_on_seed_step_and_taxel():
    reading = np.zeros((TAXELS, 3))
    everywhere = SignalChain(SKIN, {"*": {"noise": {"std": 1.0}}}, TIMESTEP, seed=5)
    for step in range(7):
        everywhere.read(step, reading)
    alone = SignalChain(SKIN, {"tip": {"noise": {"std": 1.0}}}, TIMESTEP, seed=5).read(7, reading)
    np.testing.assert_array_equal(alone[TIP], everywhere.read(7, reading)[TIP])
    assert not alone[PALM].any()
    other = SignalChain(SKIN, {"tip": {"noise": {"std": 1.0}}}, TIMESTEP, seed=6).read(7, reading)
    assert np.abs(other[TIP] - alone[TIP]).min() > 0.0


def test_threshold_zeroes_only_smaller_readings(readings):
    out = sensor(threshold={"level": 1.5}).read(0, readings[0])[PALM]
    strong = np.linalg.norm(readings[0][PALM], axis=1) >= 1.5
    assert 0 < strong.sum() < len(strong)
    np.testing.assert_array_equal(out, np.where(strong[:, None], readings[0][PALM], 0.0))


def test_saturation_limits_the_magnitude_and_keeps_the_direction(readings):
    out = sensor(saturation={"level": 1.5}).read(0, readings[0])[PALM]
    size = np.linalg.norm(readings[0][PALM], axis=1, keepdims=True)
    np.testing.assert_allclose(out, readings[0][PALM] * np.minimum(1.0, 1.5 / size), atol=1e-6)


def test_quantisation_rounds_to_the_nearest_step(readings):
    out = sensor(quantisation={"step": 0.25}).read(0, readings[0])[PALM]
    np.testing.assert_array_equal(out * 4, np.round(out * 4))
    assert np.abs(out - readings[0][PALM]).max() <= 0.125


def test_dead_taxels_are_listed_or_chosen_by_seed(readings):
    def dead(seed, **block):
        return np.flatnonzero(~sensor(seed, dead_taxels=block).read(0, readings[0]).any(axis=1))

    number = PALM.stop - PALM.start
    assert len(dead(1, fraction=0.1)) == round(0.1 * number)
    np.testing.assert_array_equal(dead(1, fraction=0.1), dead(1, fraction=0.1))
    assert set(dead(1, fraction=0.1)) != set(dead(2, fraction=0.1))
    np.testing.assert_array_equal(dead(1, taxels=[5, 2]), [2, 5])
    assert set(dead(1, fraction=0.1, taxels=[2, 5])) == set(dead(1, fraction=0.1)) | {2, 5}


@pytest.mark.parametrize(("delay", "age"), [(0.0, 0), (0.02, 10), (0.019, 10), (0.0181, 10), (0.011, 6)])
def test_delay_returns_the_newest_reading_that_is_old_enough(delay, age):
    made = sensor(delay={"time": delay})
    ticks = [0, 5, 10, 15, 22, 23, 40]
    for step in range(ticks[-1] + 1):
        kept = [tick for tick in ticks if tick < step]
        # A peek between two ticks uses its own reading but does not store it.
        old = [tick for tick in (*kept, step) if step - tick >= age]
        reading = held(100.0 + step)
        expected = 100.0 + old[-1] if old else 0.0
        seen = made.read(step, reading) if step in ticks else made.peek(step, reading)
        assert seen[0] @ held(1.0)[0] == pytest.approx(expected)


def test_each_body_has_its_own_delay():
    made = SignalChain(SKIN, {"palm": {"delay": {"time": 0.01}}, "tip": {"delay": {"time": 0.02}}}, TIMESTEP)
    for step in range(20):
        out = made.read(step, held(float(step), 1))
    assert (out[PALM][0, 0], out[TIP][0, 0]) == (14.0, 9.0)


def test_tare_subtracts_the_output_and_survives_restart():
    made = sensor(saturation={"level": 2.0})
    made.tare(0, held(3.0))
    assert first_reading(made, 3.0, 1) == pytest.approx(0.0)
    assert first_reading(made, 1.0, 2) == pytest.approx(-1.0)
    made.restart()
    assert first_reading(made, 1.0, 0) == pytest.approx(-1.0)
    made.forget()
    assert first_reading(made, 1.0, 0) == pytest.approx(1.0)


def test_configured_tare_is_applied_once_at_its_time():
    made = sensor(tare={"at": 0.02})
    inputs = [(0, 1.0), (5, 2.0), (12, 3.0), (15, 5.0)]
    assert [first_reading(made, x, step) for step, x in inputs] == pytest.approx([1.0, 2.0, 0.0, 2.0])
    assert not made.has_memory
    made.restart()
    assert first_reading(made, 4.0, 20) == pytest.approx(1.0)
    assert made.read(21, held(4.0))[TIP][0] == pytest.approx(held(4.0)[0])


@pytest.mark.parametrize(
    "stage", [{"hysteresis": {"fraction": 0.3}}, {"fast_adaptation": {"time_constant": 0.05}}]
)
def test_taxels_loaded_late_and_through_cross_talk_keep_their_memory(stage):
    taxels = [17, 40]
    spread, material = {"cross_talk": {"share": 0.5, "sigma": 0.01}}, stage
    both, first, second = sensor(**spread, **material), sensor(**spread), sensor(**material)
    for step, load in enumerate([0.0, 0.0, 1.0, 1.0, 0.4, 0.0, 0.0, 0.7]):
        reading = np.zeros((TAXELS, 3))
        reading[taxels[step // 6]] = load * np.array([2.0, 3.0, 6.0])
        shared = first.read(step, reading)
        assert (shared.any(axis=1).sum() > 4) == (load > 0.0)
        expected = second.read(step, shared)
        np.testing.assert_array_equal(both.peek(step, reading), expected)
        np.testing.assert_array_equal(both.read(step, reading), expected)


def test_unloaded_taxels_do_not_depend_on_the_load_of_others():
    stages = {"viscoelasticity": {"strength": 0.5, "time_constant": 0.05}, "noise": {"std": 0.1}}
    few, all_loaded = sensor(**stages), sensor(**stages)
    for step in range(20):
        one = np.zeros((TAXELS, 3))
        one[17] = step % 5
        out = few.read(step, one)
        np.testing.assert_array_equal(out[17], all_loaded.read(step, np.full((TAXELS, 3), step % 5))[17])
    assert np.abs(out[PALM]).min() > 0.0
