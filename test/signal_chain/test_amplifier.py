"""Stages for material and amplifier: cross-talk, viscoelasticity, gain, offset, drift, force ranges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.signal_chain import PALM, SKIN, TAXELS, TIMESTEP, first_reading, held, sensor

from tactile_sim.signal_chain import SignalChain

NUMBER = PALM.stop - PALM.start


def impulse(taxel):
    reading = np.zeros((TAXELS, 1))
    reading[taxel] = 1.0
    return reading


def test_gaussian_cross_talk_follows_the_distance_and_keeps_the_sum():
    taxel, share, sigma = 200, 0.4, 0.008
    out = sensor(cross_talk={"share": share, "sigma": sigma}).read(0, impulse(taxel))[:, 0]
    apart = np.linalg.norm(SKIN.positions - SKIN.positions[taxel], axis=1)
    facing = SKIN.normals @ SKIN.normals[taxel] > 0
    others = (SKIN.pad_index == 0) & (apart < 4 * sigma) & facing & (apart > 0)
    weights = np.where(others, np.exp(-0.5 * (apart / sigma) ** 2), 0.0)
    expected = share * weights / weights.sum()
    expected[taxel] = 1.0 - share
    np.testing.assert_allclose(out, expected, atol=1e-6)
    assert out.sum() == pytest.approx(1.0)


def test_measured_cross_talk_kernel_is_interpolated():
    taxel, kernel = 200, {"distances": [0.0, 0.01, 0.02], "weights": [0.9, 0.2, 0.0]}
    out = sensor(cross_talk=kernel).read(0, impulse(taxel))[:, 0]
    apart = np.linalg.norm(SKIN.positions - SKIN.positions[taxel], axis=1)
    near = (SKIN.pad_index == 0) & (apart < 0.02) & (SKIN.normals @ SKIN.normals[taxel] > 0)
    expected = np.where(near, np.interp(apart, *kernel.values()), 0.0)
    np.testing.assert_allclose(out, expected, atol=1e-6)


def test_viscoelastic_reading_creeps_exactly_for_any_ticks():
    strength, constant = 0.4, 0.05
    made = sensor(viscoelasticity={"strength": strength, "time_constant": constant})
    for step in (4, 5, 9, 30, 31, 100, 1000):
        time = (step - 4) * TIMESTEP
        expected = 2.0 * (1 - strength * math.exp(-time / constant))
        assert first_reading(made, 2.0, step) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("frequency", [0.5, 3.0, 20.0])
def test_area_of_the_viscoelastic_loop_depends_on_the_rate(frequency):
    # x = sin wt, y = x - s (x - h), T dh/dt = x - h: the loop encloses pi s w T / (1 + (w T)^2).
    strength, constant, timestep = 0.5, 0.05, 1e-4
    rate = 2 * math.pi * frequency
    stage = {"viscoelasticity": {"strength": strength, "time_constant": constant}}
    made = SignalChain(SKIN, {"tip": stage}, timestep)
    steps = np.arange(round(2 / frequency / timestep) + round(0.5 / timestep))
    load = np.sin(rate * steps * timestep)
    tip = np.flatnonzero(SKIN.pad_index == 1)[0]
    out = np.array([made.read(k, np.full((TAXELS, 1), x))[tip, 0] for k, x in enumerate(load)])
    cycle = slice(len(steps) - round(1 / frequency / timestep) - 1, None)
    area = -np.sum((out[cycle][1:] + out[cycle][:-1]) / 2 * np.diff(load[cycle]))
    product = rate * constant
    assert area == pytest.approx(math.pi * strength * product / (1 + product**2), rel=0.02)


def test_slow_stage_does_not_stall_at_a_high_rate():
    timestep, constant = 1e-6, 1.0
    made = SignalChain(
        SKIN, {"palm": {"slow_adaptation": {"fraction": 0.0, "time_constant": constant}}}, timestep
    )
    first_reading(made, 1.0, 0, 1)
    steps = np.arange(3_000_000, 3_004_000)
    out = np.array([first_reading(made, 1.0, int(step), 1) for step in steps])
    assert math.log(out[0] / out[-1]) == pytest.approx(timestep * (steps[-1] - steps[0]) / constant, rel=0.05)


def test_gain_and_offset_of_each_taxel():
    factors = list(np.linspace(0.5, 1.5, NUMBER))
    out = sensor(gain={"taxels": factors}, offset={"value": 0.25}).read(0, held(2.0, 1))
    np.testing.assert_allclose(out[PALM, 0], 2.0 * np.array(factors) + 0.25, rtol=1e-6)
    out = sensor(gain={"value": 3.0}, offset={"taxels": factors}).read(0, held(2.0))
    np.testing.assert_allclose(out[PALM], 3.0 * held(2.0)[PALM] + np.array(factors)[:, None], rtol=1e-6)


def test_gain_of_each_taxel_can_be_a_curve_up_to_a_limit():
    first, second, third = np.random.default_rng(2).normal(size=(3, NUMBER))
    curve = {"taxels": list(first), "second": list(second), "third": list(third), "limit": 3.0}
    for load in (0.5, -2.0, 3.0, 7.0):
        x = np.clip(load, -3.0, 3.0)
        out = sensor(gain=curve).read(0, held(load, 1))[PALM, 0]
        np.testing.assert_allclose(out, first * x + second * x * abs(x) + third * x**3, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("stage", "mean"), [("gain", 2.0), ("offset", 0.0)])
def test_scatter_between_taxels_is_normal_and_constant(stage, mean):
    made = sensor(7, **{stage: {"scatter": 0.1}})
    reading = np.full((TAXELS, 3), 2.0 if stage == "gain" else 0.0)
    out = made.read(0, reading)[PALM]
    spread = 0.2 if stage == "gain" else 0.1
    drawn = (out - mean) / spread
    if stage == "gain":  # all channels of a taxel have the same factor
        np.testing.assert_array_equal(out[:, 0], out[:, 1])
        drawn = drawn[:, 0]
    assert drawn.mean() == pytest.approx(0.0, abs=4 / math.sqrt(drawn.size))
    assert drawn.std() == pytest.approx(1.0, abs=4 / math.sqrt(2 * drawn.size))
    made.restart()
    np.testing.assert_array_equal(made.read(9, reading)[PALM], out)
    assert not np.array_equal(sensor(8, **{stage: {"scatter": 0.1}}).read(0, reading)[PALM], out)


def test_drift_is_a_random_walk_at_any_tick_rate():
    rate = 0.3
    for ticks in (np.arange(0, 501), np.r_[0, 7, 100, 130, 500]):
        made = sensor(drift={"rate": rate})
        walk = np.array([made.read(int(step), np.zeros((TAXELS, 3)))[PALM] for step in ticks])
        assert not walk[0].any()
        steps = np.diff(walk, axis=0) / (rate * np.sqrt(np.diff(ticks) * TIMESTEP))[:, None, None]
        assert steps.var() == pytest.approx(1.0, abs=4 * math.sqrt(2 / steps.size))
        assert (steps[1:] * steps[:-1]).mean() == pytest.approx(0.0, abs=4 / math.sqrt(steps[1:].size))
        assert walk[-1].std() == pytest.approx(rate * math.sqrt(1.0), rel=4 / math.sqrt(2 * walk[-1].size))


def test_drift_with_a_correlation_time_is_a_gauss_markov_process_at_any_tick_rate():
    rate, time = 0.3, 0.2
    spread = rate * math.sqrt(time / 2)
    for ticks in (np.arange(0, 801, 4), np.cumsum(np.tile([10, 60], 100))):
        made = sensor(drift={"rate": rate, "correlation_time": time})
        drift = np.array([made.read(int(step), np.zeros((TAXELS, 3)))[PALM] for step in ticks]) / spread
        kept = np.exp(-np.diff(ticks) * TIMESTEP / time)[:, None, None]
        steps = (drift[1:] - kept * drift[:-1]) / np.sqrt(1 - kept**2)
        assert drift[0].var() == pytest.approx(1.0, abs=5 * math.sqrt(2 / drift[0].size))
        assert steps.var() == pytest.approx(1.0, abs=5 * math.sqrt(2 / steps.size))


def test_normal_and_shear_have_separate_ranges():
    random = np.random.default_rng(3).normal(size=(TAXELS, 3))
    levels = {"normal": 1.0, "shear": 0.3}
    made = sensor(saturation=levels)
    out = made.read(0, random)[PALM]
    normals, reading = SKIN.normals[PALM], random[PALM]
    along = (reading * normals).sum(axis=1)
    shear = reading - along[:, None] * normals
    size = np.linalg.norm(shear, axis=1)
    limited = np.clip(along, -1.0, 1.0)[:, None] * normals + shear * np.minimum(1.0, 0.3 / size)[:, None]
    np.testing.assert_allclose(out, limited, atol=1e-6)
    np.testing.assert_array_equal(made.valid[PALM], (np.abs(along) <= 1.0) & (size <= 0.3))
    assert sensor(saturation=levels).read(0, held(5.0, 1))[0, 0] == 1.0
    in_taxel_axes = SignalChain(SKIN, {"palm": {"saturation": levels}}, TIMESTEP, frame="taxel")
    out = in_taxel_axes.read(0, np.tile([3.0, 4.0, -7.0], (TAXELS, 1)))[0]
    np.testing.assert_allclose(out, [0.18, 0.24, -1.0])
    in_world = SignalChain(SKIN, {"palm": {"saturation": levels}}, TIMESTEP, frame="world")
    np.testing.assert_allclose(np.linalg.norm(in_world.read(0, 10 * random)[PALM], axis=1), 1.0, rtol=1e-6)
