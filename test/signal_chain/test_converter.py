"""Stages of the converter and the driver, such as smoothing, thresholds, lost readings and contact bits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.signal_chain import PALM, SKIN, TAXELS, TIMESTEP, TIP, first_reading, held, sensor

from tactile_sim.signal_chain import SignalChain

NUMBER = PALM.stop - PALM.start
TABLE = {"inputs": [0.0, 1.0, 5.0, 15.0], "outputs": [0.0, 900.0, 3000.0, 5000.0]}


def test_weighted_smoothing_is_the_sum_over_the_last_readings():
    made = sensor(smoothing={"weights": [0.5, 0.3, 0.2]})
    loads = [1.0, 4.0, -2.0, 8.0, 0.0]
    out = [first_reading(made, x, 5 * k) for k, x in enumerate(loads)]
    assert out == pytest.approx(np.convolve(loads, [0.5, 0.3, 0.2])[: len(loads)])


def test_each_taxel_has_its_own_threshold():
    levels = np.linspace(0.0, 2.0, NUMBER)
    out = sensor(threshold={"taxels": list(levels)}).read(0, held(1.0))[PALM]
    np.testing.assert_array_equal(out.any(axis=1), levels <= 1.0)
    scattered = sensor(threshold={"level": 1.0, "scatter": 0.2}).read(0, held(1.0))[PALM]
    assert scattered.any(axis=1).mean() == pytest.approx(0.5, abs=2 / math.sqrt(NUMBER))


def test_transfer_follows_its_table_and_calibration_inverts_it():
    loads = np.random.default_rng(5).uniform(-20, 20, (TAXELS, 3))
    made = sensor(transfer=TABLE | {"baseline": 100.0})
    counts = made.read(0, loads)[PALM]
    expected = 100 + np.sign(loads) * np.interp(np.abs(loads), TABLE["inputs"], TABLE["outputs"])
    np.testing.assert_allclose(counts, expected[PALM], atol=1e-3)
    np.testing.assert_array_equal(made.valid[PALM] == 0, (np.abs(loads[PALM]) > 15).any(axis=1))
    both = sensor(transfer=TABLE | {"baseline": 100.0}, calibration=TABLE | {"baseline": 100.0})
    np.testing.assert_allclose(both.read(0, loads)[PALM], np.clip(loads, -15, 15)[PALM], atol=1e-5)


def test_transfer_follows_its_polynomial_and_calibration_inverts_it():
    curve = {"coefficients": [1200.0, -30.0], "limit": 15.0}
    loads = np.random.default_rng(5).uniform(0, 15, (TAXELS, 1))
    counts = sensor(transfer=curve).read(0, loads)[PALM]
    np.testing.assert_allclose(counts, (1200 * loads - 30 * loads**2)[PALM], atol=1e-3)
    back = sensor(transfer=curve, calibration=curve).read(0, loads)
    np.testing.assert_allclose(back[PALM], loads[PALM], atol=1e-5)


@pytest.mark.parametrize(("signed", "low", "high"), [(False, 0, 255), (True, -128, 127)])
def test_bits_limit_the_range_of_the_converter(signed, low, high):
    made = sensor(quantisation={"step": 0.5, "bits": 8, "signed": signed})
    loads = np.random.default_rng(6).uniform(-200, 200, (TAXELS, 3))
    out = made.read(0, loads)[PALM]
    np.testing.assert_array_equal(out, np.clip(np.rint(loads / 0.5), low, high)[PALM] * 0.5)
    counts = np.rint(loads[PALM] / 0.5)
    np.testing.assert_array_equal(made.valid[PALM] == 0, ((counts < low) | (counts > high)).any(axis=1))


def test_dead_taxels_are_stuck_at_a_value_and_not_valid():
    made = sensor(noise={"std": 0.1}, dead_taxels={"taxels": [2, 5], "value": 0.7})
    out = made.read(0, held(1.0))
    np.testing.assert_array_equal(out[[2, 5]], np.full((2, 3), np.float32(0.7)))
    np.testing.assert_array_equal(np.flatnonzero(made.valid == 0), [2, 5])


def test_valid_is_empty_without_marking_stages_and_late_by_the_delay():
    made = sensor(noise={"std": 0.1})
    made.read(0, held(1.0))
    assert made.valid.shape == (0,)
    made = sensor(saturation={"level": 2.0}, delay={"time": 0.004})
    valid = []
    for step, load in enumerate([1.0, 3.0, 1.0, 1.0, 1.0]):
        made.read(step, held(load))
        assert made.valid.dtype == np.uint8
        assert made.valid[TIP].all()
        valid.append(int(made.valid[0]))
    assert valid == [0, 0, 1, 0, 1]  # readings: none yet, none yet, 1.0, 3.0, 1.0


def test_share_of_lost_readings():
    made = sensor(dropout={"hold": 0.2, "zero": 0.1})
    reading = np.zeros((TAXELS, 3))
    held_share, zero_share, last = [], [], None
    for step in range(300):
        reading[:] = step + 1.0
        out = made.read(step, reading)[PALM]
        assert (out == out[:, :1]).all()
        zero_share.append((out[:, 0] == 0).mean())
        held_share.append((out[out[:, 0] > 0, 0] != step + 1.0).mean())
        assert last is None or (out[out[:, 0] > 0, 0] >= last[:, 0][out[:, 0] > 0]).all()
        last = np.where(out > 0, out, 0.0 if last is None else last)
    number = 300 * NUMBER
    assert np.mean(zero_share) == pytest.approx(0.1, abs=4 * math.sqrt(0.09 / number))
    assert np.mean(held_share[1:]) == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / number))


def test_jitter_delays_uniformly_and_reports_the_newest_arrival():
    made = sensor(delay={"time": 0.01, "jitter": 0.02})
    ages = np.array([step - first_reading(made, float(step), step) for step in range(3000)][100:])
    assert (round(ages.min()), round(ages.max())) == (6, 15)
    # A reading of age 5 + k has arrived with probability k / 10; the newest arrived reading is reported.
    arrived = np.arange(11) / 10.0
    share = arrived * np.cumprod(np.append(1.0, 1.0 - arrived[:-1]))
    # Successive ages are correlated, so their mean has a standard deviation of 0.06.
    assert ages.mean() == pytest.approx(5 + (np.arange(11) * share).sum(), abs=4 * 0.06)


def test_clip_limits_each_channel():
    loads = np.random.default_rng(6).normal(size=(TAXELS, 3)).astype(np.float32)
    out = sensor(clip={"low": -0.5, "high": 1.0}).read(0, loads)[PALM]
    np.testing.assert_array_equal(out, np.clip(loads, -0.5, 1.0)[PALM])


@pytest.mark.parametrize("channels", [1, 3])
def test_contact_bit_has_two_levels(channels):
    made = sensor(contact={"above": 0.5, "below": 0.2})
    loads = [0.0, 0.49, 0.51, 0.3, 0.21, 0.19, 0.3, 0.6, 0.0]
    bits = [first_reading(made, load, step, channels) for step, load in enumerate(loads)]
    assert bits == pytest.approx([0, 0, 1, 1, 1, 0, 0, 1, 0])


def test_history_has_the_last_outputs():
    made = sensor(noise={"std": 0.1}, history={"samples": 3})
    assert made.history["palm"].shape == (3, NUMBER, 0)
    outputs = []
    for step in range(5):
        outputs.append(made.read(step, held(1.0))[PALM])
        made.peek(step, held(2.0))
        past = [np.zeros((NUMBER, 3))] * 3 + outputs
        np.testing.assert_array_equal(made.history["palm"], past[-3:])
    assert made.history.keys() == {"palm"}


def test_memory_of_other_bodies_is_separate():
    stages = {
        "palm": {"smoothing": {"weights": [0.0, 1.0]}, "history": {"samples": 1}},
        "tip": {"smoothing": {"time_constant": 1e-12}, "history": {"samples": 2}},
    }
    made = SignalChain(SKIN, stages, TIMESTEP)
    out = [made.read(step, held(float(step), 1)) for step in (1, 2, 3)][-1]
    assert (out[PALM][0, 0], out[TIP][0, 0]) == (2.0, 3.0)
    np.testing.assert_allclose(made.history["palm"][:, 0, 0], [2.0])
    np.testing.assert_allclose(made.history["tip"][:, 0, 0], [2.0, 3.0])
