"""Stages with time constants follow their laws in seconds, at any time step and rate of the readings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.signal_chain import SKIN, TAXELS, TIP

from tactile_sim.signal_chain import SignalChain

PAIRS = [(0.0005, 1000), (0.001, 500), (0.002, 250), (0.002, 100), (0.005, 100), (0.002, 50), (0.01, 50)]
"""Time step [s] and rate of the readings [Hz]."""
CONSTANT, STRENGTH, FRACTION = 0.03, 0.4, 0.3
LAWS = {
    "smoothing": ({"time_constant": CONSTANT}, 1.0, 1.0),
    "viscoelasticity": ({"strength": STRENGTH, "time_constant": CONSTANT}, 1.0, STRENGTH),
    "slow_adaptation": ({"fraction": FRACTION, "time_constant": CONSTANT}, FRACTION, FRACTION - 1.0),
    "fast_adaptation": ({"time_constant": CONSTANT}, 0.0, -1.0),
}
"""Parameters of each stage, and the factors own and late in its law: own * x - late * l for a load x with lag l,
where dl/dt = dx/dt - l / T."""


def output(stage, timestep, rate, load, channels=3):
    """Return the times [s] of 1.5 s of readings, and a taxel's output for the load as a function of time."""
    made = SignalChain(SKIN, {"tip": {stage: LAWS[stage][0]}}, timestep)
    steps = np.arange(0, round(1.5 / timestep), round(1.0 / rate / timestep))
    direction = np.array([2.0, 3.0, 6.0]) / 7.0 if channels == 3 else np.ones(1)
    out = [made.read(int(k), np.full((TAXELS, 1), load(k * timestep)) * direction)[TIP][0] for k in steps]
    return steps * timestep, np.array(out) @ direction


@pytest.mark.parametrize("stage", LAWS)
@pytest.mark.parametrize(("timestep", "rate"), PAIRS)
@pytest.mark.parametrize("channels", [1, 3])
def test_step_response(stage, timestep, rate, channels):
    _, own, late = LAWS[stage]
    begin, end = 0.1, 0.5
    times, out = output(stage, timestep, rate, lambda t: 2.0 * (begin - 1e-9 < t < end - 1e-9), channels)
    lag = np.where(times > begin - 1e-9, 2.0 * np.exp(-(times - begin) / CONSTANT), 0.0)
    lag -= np.where(times > end - 1e-9, 2.0 * np.exp(-(times - end) / CONSTANT), 0.0)
    load = 2.0 * ((times > begin - 1e-9) & (times < end - 1e-9))
    np.testing.assert_allclose(out, own * load - late * lag, atol=1e-5)


@pytest.mark.parametrize("stage", LAWS)
@pytest.mark.parametrize(("timestep", "rate"), PAIRS)
def test_ramp_response(stage, timestep, rate):
    _, own, late = LAWS[stage]
    begin, end, slope = 0.2, 0.6, 5.0
    times, out = output(stage, timestep, rate, lambda t: 1.0 + slope * (np.clip(t, begin, end) - begin))
    load = 1.0 + slope * (np.clip(times, begin, end) - begin)
    # The lag after a step of 1 at the first reading, which smoothing assumes to be over, and after the ramp.
    lag = 0.0 if stage == "smoothing" else np.exp(-times / CONSTANT)
    for edge, sign in ((begin, 1.0), (end, -1.0)):
        since = np.maximum(times - edge, 0.0)
        lag += sign * slope * CONSTANT * (1.0 - np.exp(-since / CONSTANT))
    np.testing.assert_allclose(out, own * load - late * lag, atol=1e-5)


@pytest.mark.parametrize("stage", LAWS)
@pytest.mark.parametrize(("timestep", "rate"), PAIRS)
def test_response_to_a_sine(stage, timestep, rate):
    # The lag of exp(i w t) is i w T / (1 + i w T) exp(i w t).
    _, own, late = LAWS[stage]
    turns = 2.0 * math.pi * 1.0
    times, out = output(stage, timestep, rate, lambda t: 10.0 + math.sin(turns * t))
    cycle = times >= 0.5 - 1e-9  # whole periods, when the beginning has faded
    gain = 2.0 * np.mean(out[cycle] * 1j * np.exp(-1j * turns * times[cycle]))
    product = 1j * turns * CONSTANT
    assert gain == pytest.approx(own - late * product / (1.0 + product), rel=0.01)


@pytest.mark.parametrize(("timestep", "rate"), PAIRS)
def test_area_of_the_viscoelastic_loop(timestep, rate):
    # A cycle x = 10 + sin w t encloses pi s w T / (1 + (w T)^2).
    turns = 2.0 * math.pi * 2.0
    times, out = output("viscoelasticity", timestep, rate, lambda t: 10.0 + math.sin(turns * t))
    cycle = times >= 0.5 - 1e-9
    area = -0.5 * np.mean(out[cycle] * turns * np.cos(turns * times[cycle]))
    product = turns * CONSTANT
    assert area == pytest.approx(math.pi * STRENGTH * product / (1.0 + product**2), rel=0.01)
