"""Estimate the signal-chain stages of a pad from a recording, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tactile_sim.errors import CommandError
from tactile_sim.fit.model import LONGEST_DELAY, STAGES, Data, Estimate, Parameter, parameters, respond
from tactile_sim.fit.noise import NoiseFit, fit_noise
from tactile_sim.fit.recording import Recording, is_loaded
from tactile_sim.fit.reference import Reference
from tactile_sim.fit.search import Solution, refine, search, solve
from tactile_sim.fit.selection import absent_estimates, select, shared_estimates, uncertainty, without_unknown
from tactile_sim.fit.taxels import of_taxels, to_stages

POOR = 0.03
"""A fit is poor if its systematic error exceeds this fraction of the range of the readings."""
_LOADED = 0.01
"""The search leaves out taxels whose load, summed over time, is at most this fraction of the largest sum."""
_FREE = 0.01
"""A taxel counts as unloaded up to this fraction of the largest load."""
_CALM = 0.2
"""Minimum mean number of unloaded readings per sample; with fewer, noise is estimated from all readings."""


@dataclass(frozen=True)
class Fit:
    """Signal chain fitted to a recording with n samples of m taxels."""

    recording: Recording
    loads: np.ndarray
    """(n, m) loads of the taxels, from the reference force or loads in the recording [N]."""
    fitted: np.ndarray
    """(n, m) readings that the fitted signal chain predicts for these loads [units]."""
    used: np.ndarray
    """(n, m) bool: True for readings that were used in the fit."""
    estimates: tuple[Estimate, ...]
    gains: np.ndarray
    """(m,) gain of each taxel [units/N]; NaN where unidentifiable."""
    gain_halves: np.ndarray
    offsets: np.ndarray
    """(m,) reading of each taxel without load [units]; NaN where unidentifiable."""
    offset_halves: np.ndarray
    misfit: float
    """Systematic error as a fraction of the range of the readings."""
    rms: float
    """Root mean square of the residuals of the used readings [units]."""
    stages: dict[str, dict[str, Any]]
    """Fitted stages of the pad and their parameters, in the form of a configuration."""

    @property
    def poor(self) -> bool:
        """True if the systematic error exceeds `POOR`; the model then does not suit the sensor."""
        return self.misfit > POOR

    @property
    def unidentifiable(self) -> list[str]:
        """Keys of the parameters that the data do not determine."""
        return [estimate.key for estimate in self.estimates if estimate.status == "unidentifiable"]


def fit(
    recording: Recording,
    reference: Reference,
    stages: Sequence[str] = STAGES,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> Fit:
    """Fit the signal-chain stages of a pad to a recording.

    Args:
        recording: Measured readings with the reference forces or loads.
        reference: Ideal skin of the pad.
        stages: Stages whose shared parameters may be fitted; a subset of `STAGES`.
        seed: Seed of the global search.
        progress: Called with a description of each phase as it starts.

    Raises:
        CommandError: The recording does not match the pad, or its loads or readings are constant.
    """
    loads, known = reference.loads(recording)
    if not np.abs(loads[known]).max(initial=0.0) > 0:
        raise CommandError(f"{recording.source}: the reference has no load on a known taxel; nothing to fit")
    if not np.ptp(loads[known], axis=0).any():
        raise CommandError(
            f"{recording.source}: the reference is constant, got a load of {np.abs(loads[known]).max():g} N;"
            " record presses and releases"
        )
    if not np.ptp(recording.readings):
        raise CommandError(
            f"{recording.source}: all readings are {recording.readings.flat[0]:g}; nothing to fit"
        )
    level = _threshold(recording.readings)
    if level:
        stages = [stage for stage in stages if stage != "transfer"]
    data, baseline = _prepare(recording, reference, loads, known, level)
    candidates = tuple(parameters(*_durations(recording, loads), tuple(stages)))
    progress("searching")
    loaded = data.some(np.abs(data.mixed).sum(axis=0) > _LOADED * np.abs(data.mixed).sum(axis=0).max())
    solution = search(loaded, candidates, seed)
    for _ in range(2 if level else 0):  # leave out readings that the noise may have moved over the threshold
        loaded = replace(loaded, weights=loaded.weights * _above(solution, level, loaded))
        solution = refine(loaded, candidates, solution.scaled)
    progress("selecting stages")
    solution = without_unknown(loaded, select(loaded, solution))
    solution = solve(data, solution.parameters, solution.scaled)
    if level:
        data = replace(data, weights=data.weights * _above(solution, level, data))
        solution = solve(data, solution.parameters, solution.scaled)
    free = data.weights * _free(data, solution)
    calm = free if free.sum() > _CALM * len(recording.times) else data.weights
    noise = fit_noise(data.readings - solution.fitted, data.times, calm)
    progress("computing confidence intervals")
    return _result(recording, loads, data, solution, candidates, noise, level, baseline)


def _prepare(
    recording: Recording, reference: Reference, loads: np.ndarray, known: np.ndarray, level: tuple | None
) -> tuple[Data, float]:
    """Subtract the baseline from the readings, and select the readings to use in the fit.

    Args:
        recording: The recording, with n samples of m taxels.
        reference: Ideal skin of the pad.
        loads: (n, m) loads of the taxels [N].
        known: (n,) bool: True for samples whose loads are known.
        level: Threshold below which taxels read zero, and the half-width of its confidence interval [units];
            None if there is no threshold.

    Returns:
        The prepared recording, and the baseline that was subtracted [units].
    """
    loads = np.ascontiguousarray(loads, float)
    rest = ~is_loaded(loads) & known
    baseline = float(np.median(recording.readings[rest])) if rest.any() and not level else 0.0
    readings = recording.readings - baseline
    # Before the first reading has arrived, delayed sensors report zero.
    started = recording.times >= recording.times[0] + min(LONGEST_DELAY, 0.1 * np.ptp(recording.times))
    weights = np.broadcast_to((known & started)[:, None], readings.shape).astype(float)
    if level:
        weights = weights * (recording.readings != 0)
    mixed = loads @ reference.cross_talk
    scale = float(np.abs(readings).max())
    return Data(recording.times, loads, mixed, readings, weights, scale), baseline


def _durations(recording: Recording, loads: np.ndarray) -> tuple[float, float]:
    """Return two durations of a recording for the search bounds.

    Returns:
        The sampling interval [s], and the longest time for which the pad stays loaded or unloaded [s].
    """
    loaded = is_loaded(loads)
    edges = np.flatnonzero(np.diff(loaded)) + 1
    ends = recording.times[np.r_[0, edges, len(loaded) - 1]]
    return float(np.median(np.diff(recording.times))), float(np.diff(ends).max())


def _threshold(readings: np.ndarray) -> tuple[float, float] | None:
    """Estimate the threshold below which taxels read zero.

    Returns:
        The threshold and the half-width of its confidence interval [units]; None if there is no threshold.
    """
    sizes = np.sort(np.abs(readings[readings != 0]))
    if (readings == 0).mean() < 0.05 or len(sizes) < 100:
        return None
    gaps = np.diff(np.unique(sizes))
    if not len(gaps) or sizes[0] < 3 * gaps.min() or sizes[0] < 1e-6 * sizes[-1]:
        return None
    spacing = (sizes[20] - sizes[0]) / 20
    return float(sizes[0] - spacing), float(3 * spacing)


def _above(solution: Solution, level: tuple | None, data: Data) -> np.ndarray:
    """Return a mask (n, m) of the readings that are far enough above the threshold to be used."""
    assert level is not None
    used = data.weights > 0
    noise = np.sqrt(solution.rss / max(used.sum(), 1))
    return np.abs(solution.fitted) > level[0] + 3 * noise


def _result(
    recording: Recording,
    loads: np.ndarray,
    data: Data,
    solution: Solution,
    candidates: tuple[Parameter, ...],
    noise: NoiseFit,
    level: tuple[float, float] | None,
    baseline: float,
) -> Fit:
    used = data.weights > 0
    sigma, slopes, covariance = uncertainty(data, solution)
    estimates = shared_estimates(solution, covariance)
    estimates += absent_estimates(data, solution, candidates, slopes, sigma)
    own = of_taxels(data, solution, covariance, sigma, baseline)
    estimates += own.estimates
    if level:
        estimates.append(Estimate("threshold.level", level[0], level[1]))
    else:
        estimates.append(
            Estimate("threshold.level", 0.0, 0.0, "unidentifiable", "no reading is cut off at zero")
        )
    estimates.append(Estimate("noise.std", noise.std, noise.std_half))
    if noise.drifts:
        estimates.append(Estimate("drift.rate", noise.rate, noise.rate_half))
    else:
        estimates.append(Estimate("drift.rate", 0.0, noise.rate + noise.rate_half, "absent"))
    kept = {estimate.key: estimate for estimate in estimates if estimate.status == "fitted"}
    return Fit(
        recording,
        loads,
        solution.fitted + baseline,
        used,
        tuple(estimates),
        own.gains,
        own.gain_halves,
        own.offsets,
        own.offset_halves,
        _misfit(data, solution, noise),
        float(np.sqrt(solution.rss / max(used.sum(), 1))),
        to_stages(kept, solution, own, baseline, data.scale),
    )


def _free(data: Data, solution: Solution) -> np.ndarray:
    """Return a mask (n, m): True where a taxel is unaffected by current and earlier loads."""
    return np.abs(respond(data, solution.values)) <= _FREE * np.abs(data.loads).max()


def _misfit(data: Data, solution: Solution, noise: NoiseFit) -> float:
    """Return the systematic error of loaded taxels as a fraction of the range of the readings."""
    used = data.weights > 0
    loaded = ~_free(data, solution) & used
    if not loaded.any():
        return 0.0
    errors = (data.readings - solution.fitted) ** 2
    rest = used & ~loaded
    wander = noise.rate**2 * (data.times[-1] - data.times[0]) / 6.0 if noise.drifts else 0.0
    wander = min(wander, float(errors[rest].mean()) if rest.any() else wander)
    excess = max(float(errors[loaded].mean()) - noise.std**2 - wander, 0.0)
    moved = np.abs(solution.fitted - solution.offsets)[loaded]
    return float(np.sqrt(excess) / max(np.percentile(moved, 95), 1e-300))
