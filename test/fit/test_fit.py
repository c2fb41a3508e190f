"""Fits to recordings from known configurations."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim.fit import Recording, fit, protocol
from tactile_sim.fit.model import Data, parameters, respond
from tactile_sim.fit.noise import fit_noise, semivariance
from tactile_sim.fit.output import merged
from tactile_sim.fit.recording import pressed_taxels
from tactile_sim.signal_chain import SignalChain
from tactile_sim.simulation import Simulation

SENSORS = {
    "soft": {
        "cross_talk": {"share": 0.2},
        "hysteresis": {"fraction": 0.08},
        "slow_adaptation": {"fraction": 0.7, "time_constant": 0.3},
        "gain": {"value": 0.9},
        "offset": {"value": 0.1},
        "noise": {"std": 0.01},
        "delay": {"time": 0.04},
    },
    "cut off": {
        "viscoelasticity": {"strength": 0.3, "time_constant": 0.15},
        "gain": {"value": 1.2},
        "noise": {"std": 0.005},
        "threshold": {"level": 0.1},
        "delay": {"time": 0.02},
    },
    "counts": {
        "gain": {"value": 1.0},
        "noise": {"std": 0.005},
        "drift": {"rate": 0.002},
        "transfer": {"coefficients": [1000.0, -60.0], "limit": 7.0, "baseline": 9000.0},
        "quantisation": {"step": 1.0, "bits": 16},
    },
}


@pytest.mark.parametrize("name", SENSORS)
def test_identifiable_parameters_come_back(name, record):
    stages = SENSORS[name]
    recording, reference = record(stages)
    result = fit(recording, reference)
    assert not result.verdict.failures
    found = {estimate.key: estimate for estimate in result.estimates}
    fitted = merged(result, reference)
    for stage, block in stages.items():
        for parameter, true in block.items():
            if stage in ("quantisation", "transfer", "gain", "offset", "noise", "drift"):
                continue
            value, half = fitted[stage][parameter], found[f"{stage}.{parameter}"].half
            assert value == pytest.approx(true, rel=0.05) or abs(value - true) <= half
    pressed = np.arange(len(result.gains)) < 5
    gains = np.array(fitted["gain"]["taxels"])
    np.testing.assert_array_equal(np.isfinite(result.gains), pressed)
    if "transfer" in stages:
        load = np.linspace(0, 5, 50)
        rows = [np.array(fitted["gain"][name])[:5] for name in ("taxels", "second")]
        third = fitted["gain"].get("third", [0.0] * 8)[:5]
        curve = rows[0] * load[:, None] + rows[1] * load[:, None] ** 2 + third * load[:, None] ** 3
        np.testing.assert_allclose(curve.T, np.tile(1000 * load - 60 * load**2, (5, 1)), atol=0.02 * 3500)
        np.testing.assert_allclose(result.offsets[pressed], 9000.0, rtol=2e-3)
        assert fitted["quantisation"] == stages["quantisation"]
        assert "transfer" not in fitted
    else:
        np.testing.assert_allclose(gains[pressed], stages["gain"]["value"], rtol=0.02)
        np.testing.assert_allclose(
            result.offsets[pressed], stages.get("offset", {"value": 0})["value"], atol=0.01
        )
        assert fitted["noise"]["std"] == pytest.approx(stages["noise"]["std"], rel=0.15)
    # No absent stage is found, and parameters that cannot be determined are named.
    shared = {"cross_talk", "hysteresis", "viscoelasticity", "slow_adaptation", "delay"}
    assert fitted.keys() & shared == stages.keys() & shared
    assert any("gain.taxels[5, 6, 7]" in key for key in result.unidentifiable)
    assert ("threshold.level" in result.unidentifiable) == ("threshold" not in stages)


def test_the_model_is_the_signal_chain(pad):
    values = {
        "cross_talk.share": 0.3,
        "hysteresis.fraction": 0.1,
        "viscoelasticity.strength": 0.4,
        "viscoelasticity.time_constant": 0.05,
        "slow_adaptation.fraction": 0.6,
        "slow_adaptation.time_constant": 0.3,
        "delay.time": 0.02,
    }
    assert [p.key for p in parameters(0.01, 1.0)] == list(values)
    stages: dict = {}
    for key, value in values.items():
        stage, _, name = key.partition(".")
        stages.setdefault(stage, {})[name] = value
    settings, reference = pad({})
    times = np.arange(200) * 0.01
    loads = np.random.default_rng(1).normal(size=(200, 8)).cumsum(axis=0)
    simulation = Simulation(settings)
    chain = SignalChain(simulation.skin, {"tip": stages}, simulation.engine.timestep)
    steps = np.round(times / simulation.engine.timestep).astype(int)
    expected = [chain.read(int(step), load[:, None])[:, 0] for step, load in zip(steps, loads, strict=True)]
    mixed, bounds = loads @ reference.cross_talk, ((0, len(times)),)
    data = Data(bounds, times, loads, mixed, loads, np.ones_like(loads))
    np.testing.assert_allclose(respond(data, values), expected, rtol=1e-5, atol=1e-5)


def test_readings_without_noise_are_fitted_exactly(record):
    recording, reference = record({"hysteresis": {"fraction": 0.1}}, taxels=range(8), hold=0.2)
    result = fit(recording, reference, ["hysteresis", "delay"])
    assert merged(result, reference)["hysteresis"]["fraction"] == pytest.approx(0.1, abs=1e-4)
    np.testing.assert_allclose(result.gains, 1.0, atol=1e-3)


def test_noisy_force_without_taxels_is_enough(record):
    stages = {
        "gain": {"value": 1.5},
        "offset": {"value": 9.0},
        "noise": {"std": 0.01},
        "delay": {"time": 0.04},
    }
    recording, reference = record(stages, taxels=range(8))
    noise = np.random.default_rng(3).normal(0, 0.01, len(recording.times))
    blind = Recording("blind", recording.times, recording.readings, recording.force + noise)
    result = fit(blind, reference, ["hysteresis", "delay"])
    assert not result.poor
    np.testing.assert_allclose(result.gains, 1.5, rtol=0.01)
    np.testing.assert_allclose(result.offsets, 9.0, atol=0.01)
    assert result.stages["delay"]["time"] == pytest.approx(0.04, rel=0.05)


def dead_zone_and_steps(readings):
    return np.where(readings < 1.5, 0.1 * readings, 2.0 + 0.05 * np.sin(20 * readings))


def other_dynamics(readings):
    return readings * (1.0 + 0.5 * np.sin(np.arange(len(readings)) / 15.0))[:, None]


@pytest.mark.parametrize("distort", [dead_zone_and_steps, other_dynamics])
def test_data_of_another_family_are_a_poor_fit(distort, record):
    recording, reference = record({}, distort=distort)
    result = fit(recording, reference)
    assert result.poor


def test_presses_without_dynamics_do_not_identify_it(record, pad):
    recording, reference = record({"noise": {"std": 0.01}}, taxels=[2])
    still = np.flatnonzero(recording.force == 5.0)[-15:]
    rest = np.flatnonzero(recording.force == 0.0)[:30]
    rows = np.r_[rest, still]
    times = np.arange(len(rows)) * 0.02
    cut = Recording("cut", times, recording.readings[rows], recording.force[rows], recording.taxel[rows])
    result = fit(cut, reference)
    assert {"slow_adaptation.time_constant", "viscoelasticity.time_constant"} <= set(result.unidentifiable)
    SignalChain(Simulation(pad({})[0]).skin, {"tip": merged(result, reference)}, 0.002)  # nothing is missing
    assert "hysteresis.fraction" in result.unidentifiable  # a single press does not determine it
    assert "second" not in result.stages["gain"]  # two forces, 0 and 5 N, do not determine a curve
    assert result.gains[2] == pytest.approx(1.0, abs=0.01)


def test_noise_and_drift_are_separated():
    random = np.random.default_rng(4)
    times = np.arange(4000) * 0.01
    white = 0.05 * random.normal(size=(4000, 6))
    walk = 0.02 * np.sqrt(0.01) * random.normal(size=(4000, 6)).cumsum(axis=0)
    found = fit_noise(semivariance([(times, white + walk, np.ones_like(white))]))
    assert found.std == pytest.approx(0.05, rel=0.05)
    assert found.rate * np.sqrt(10) == pytest.approx(0.02 * np.sqrt(10), rel=0.4)
    assert fit_noise(semivariance([(times, white, np.ones_like(white))])).rate == 0.0


def test_correlated_noise_of_the_chain_comes_back(pad):
    stages = {
        "drift": {"rate": 0.3, "correlation_time": 8.0},
        "noise": {"std": 1.4},
        "smoothing": {"time_constant": 0.03},
    }
    _, alone = pad({})
    chain, times = alone.chain(stages, 0.02), np.arange(20_000) * 0.02
    noise = np.array([chain.read(step, np.zeros((8, 1)))[:, 0] for step in range(len(times))])
    # A bounded drift has the standard deviation rate √(T/2), from the first reading on.
    slow = np.array([alone.chain({"drift": stages["drift"]}, 0.02).read(0, np.zeros((8, 1)))])
    assert 0 < np.abs(slow).max() < 5 * 0.3 * np.sqrt(4.0)
    found = fit_noise(semivariance([(times, noise, np.ones_like(noise))]))
    assert found.std == pytest.approx(1.4, rel=0.2)
    assert found.smoothing == pytest.approx(0.03, rel=0.3)
    assert found.rate * np.sqrt(found.correlation_time / 2) == pytest.approx(0.6, rel=0.25)


def test_exact_readings_have_no_stages(record):
    recording, reference = record({}, taxels=range(8))
    result = fit(recording, reference)
    assert result.verdict.good
    assert result.stages.keys() == {"gain", "offset"}
    np.testing.assert_allclose(result.gains, 1.0, atol=1e-4)


def test_offsets_of_days_become_a_range(record):
    days = [
        record({"offset": {"value": value}, "noise": {"std": 0.01}}, taxels=range(8)) for value in (3, 4, 5)
    ]
    result = fit([day[0] for day in days], days[0][1], ["delay"])
    np.testing.assert_allclose(result.offsets, 4.0, atol=0.02)
    assert result.stages["offset"]["scatter"] == pytest.approx([1.0, 1.0], rel=0.02)
    assert result.verdict.good


def test_readings_before_the_load_reveal_a_late_reference(record):
    recording, reference = record({"noise": {"std": 0.01}}, taxels=range(4))
    loads = np.where(recording.taxel[:, None] == np.arange(8), recording.force[:, None], 0.0)
    times = recording.times
    loads = np.stack([np.interp(times, times + 0.1, load) for load in loads.T], axis=1)
    result = fit(Recording("late", recording.times, recording.readings, loads=loads), reference, ["delay"])
    assert result.lag == pytest.approx(0.1, abs=0.02)
    assert "delay" not in result.stages


def test_pressed_taxel_is_found_and_slides_are_left_out(record):
    recording, reference = record({"cross_talk": {"share": 0.3}, "noise": {"std": 0.01}}, taxels=[4, 1, 6])
    blind = Recording("blind", recording.times, recording.readings, recording.force)
    found = pressed_taxels(blind)
    slide = protocol.make(reference, 5.0, 0.4, 20.0, 50.0, [4, 1, 6]).shear > 0
    loaded = (recording.force > 0.2) & ~slide
    np.testing.assert_array_equal(found[loaded], recording.taxel[loaded])
    assert (found[slide & (recording.force > 0.2)] == -2).all()
