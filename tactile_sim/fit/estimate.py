"""Estimate the signal-chain stages of a pad from recordings, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution, least_squares

from tactile_sim.common.errors import CommandError
from tactile_sim.fit.model import (
    LONGEST_DELAY,
    ORDERS,
    STAGES,
    Curves,
    Data,
    Estimate,
    Parameter,
    calm,
    delayed,
    parameters,
    powers,
    regress,
    respond,
)
from tactile_sim.fit.noise import NoiseFit, Semivariance, fit_noise, semivariance
from tactile_sim.fit.pad import FitPad
from tactile_sim.fit.recording import Recording, is_loaded
from tactile_sim.fit.replay import Verdict, replay

_FREE = 0.01
"""A taxel counts as unloaded up to this fraction of the largest load."""
_LEAST = 0.05
"""A gain is unidentifiable if the sum of the taxel's loads is below this fraction of the largest sum."""
_FLOOR = 1e-5
"""Errors below this fraction of the range are due to the resolution of files and of float32."""
_SEARCHED, _SELECTED = 1_500, 3_000
"""Numbers of samples for the global search, and for the selection of stages."""
_GLOBAL_TAXELS = 6
"""Number of taxels in the global search. The most loaded taxels are used."""
_PREFERENCE = 0.01
"""Weight of the penalty that keeps parameters near their neutral values in the global search."""
_STEP = 1e-4
"""Step of the numerical derivatives, as a fraction of a parameter's range."""
WIDE = 0.25
"""A parameter is undetermined if its confidence interval's half-width exceeds this fraction of its range."""
_UNKNOWN = 0.5
"""A stage is left out if the half-width of its strength's interval exceeds this fraction of its range."""
_AT_BOUND = 0.005
"""A parameter is at its bound within this fraction of its range."""
Z = 1.96
"""Half-width of a 95 % confidence interval in standard deviations."""
_PROBE = 0.1
"""Change of a parameter, as a fraction of its range, that tests whether the data are sensitive to it."""
_FEW_PRESSES = 4
_MORE = 1.02
"""Ratio of prediction errors below which the simpler curve is chosen."""
_UNCORRELATED = 0.02
"""Samples count as independent if their correlation is below this value."""


@dataclass(frozen=True)
class Fit:
    """Signal chain fitted to recordings of m taxels."""

    recordings: tuple[Recording, ...]
    data: Data
    """Loads and readings of all recordings, and which of them were used."""
    fitted: np.ndarray
    """(n, m) readings that the fitted signal chain predicts without noise [units]."""
    estimates: tuple[Estimate, ...]
    gains: np.ndarray
    """(m,) gain of each taxel, at its largest load [units/N]; NaN where unidentifiable."""
    gain_halves: np.ndarray
    offsets: np.ndarray
    """(m,) reading of each taxel without load, mean over the recordings [units]; NaN where unidentifiable."""
    rms: float
    """Root mean square of the residuals of the used readings [units]."""
    semivariance: Semivariance
    """Semivariance of the residuals."""
    stages: dict[str, dict[str, Any]]
    """Fitted stages of the pad and their parameters, in the form of a configuration."""
    lag: float = 0.0
    """Time by which the reference is behind the readings [s]; `data` has been corrected for it."""
    verdict: Verdict | None = None
    """Comparison of the replayed stages with the recordings."""

    @property
    def poor(self) -> bool:
        """True if the replayed signal chain does not behave like the recordings."""
        return self.verdict is not None and not self.verdict.good

    @property
    def unidentifiable(self) -> list[str]:
        """Keys of the parameters that the data do not determine."""
        return [estimate.key for estimate in self.estimates if estimate.status == "unidentifiable"]


@dataclass(frozen=True)
class Solution:
    """Shared parameters, and the curves of the taxels that fit best with them."""

    parameters: tuple[Parameter, ...]
    scaled: np.ndarray
    """(p,) values of the shared parameters, scaled to the range 0 to 1."""
    order: int
    """Order of the polynomials."""
    curves: Curves
    rss: float
    """Sum of squared residuals of the used readings [units²]."""

    @property
    def values(self) -> dict[str, float]:
        """Values of the shared parameters, by key such as ``delay.time``."""
        return {p.key: p.unscaled(float(x)) for p, x in zip(self.parameters, self.scaled, strict=True)}


def fit(
    recordings: Recording | Sequence[Recording],
    pad: FitPad,
    stages: Sequence[str] = STAGES,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
    foundation: float = 0.0,
) -> Fit:
    """Fit the signal-chain stages of a pad to recordings.

    Args:
        recordings: Measured readings with the reference forces or loads, each with an offset of its own.
        pad: Ideal skin of the pad, and the indenter.
        stages: What may be fitted besides gain, offset, threshold and noise; a subset of `STAGES`.
        seed: Seed of the global search.
        progress: Called with a description of each phase as it starts.
        foundation: Foundation stiffness of the pad [Pa/m]; the configured one by default.

    Raises:
        CommandError: A recording does not match the pad, or its loads or readings are constant.
    """
    several = (recordings,) if isinstance(recordings, Recording) else tuple(recordings)
    data, level = prepare(several, pad, foundation)
    orders = ORDERS["curve" in stages and not level]
    candidates = parameters(*_durations(data), stages)
    progress("searching")
    some = data.thinned(_SELECTED)
    solution = _search(some, candidates, orders[-1], seed)
    for _ in range(2 if level else 0):  # leave out readings that the noise may have moved over the threshold
        some = replace(some, weights=some.weights * _above(solution, level, some))
        solution = refine(some, solution)
    progress("selecting stages")
    solution = _without_unknown(some, _select(some, solution, orders))
    rounding = resolution(data.readings)
    exact = max(rounding / np.sqrt(12), 10 * _FLOOR * data.scale)
    solution = solve(data, solution.parameters, solution.scaled, solution.order)
    if level:
        data = replace(data, weights=data.weights * _above(solution, level, data))
    solution = refine(data, solution, most=6)
    if (lag := -solution.values.get("delay.time", 0.0)) > 0:  # not a property of the sensor
        lag_half = _lag_half(data, solution)
        data = earlier(data, lag)
        keep = [k for k, p in enumerate(solution.parameters) if p.stage != "delay"]
        fewer = tuple(solution.parameters[k] for k in keep)
        candidates = tuple(p for p in candidates if p.stage != "delay")
        solution = solve(data, fewer, solution.scaled[keep], solution.order)
    found = fit_noise(_semivariance(data, solution), exact)
    if found.smoothing > 0:
        smooth = replace(data, smoothing=found.smoothing)
        smoothed = refine(smooth, solution, most=6)
        if smoothed.rss < _MORE * solution.rss:  # the low pass does not contradict the signal
            data, solution = smooth, smoothed
    spectrum = _semivariance(data, solution)
    noise = fit_noise(spectrum, exact, stationary=not data.smoothing)
    if data.smoothing > 0 and noise.smoothing > 0:
        noise = noise._replace(smoothing=data.smoothing)
    progress("computing confidence intervals")
    result = _result(several, data, solution, candidates, noise, spectrum, level, rounding)
    if lag > 0:
        note = "the readings change before the load: the reference is late; corrected"
        estimate = Estimate("reference.lag", lag, lag_half, "fitted", note)
        result = replace(result, lag=lag, estimates=(estimate, *result.estimates))
    progress("replaying")
    return replace(result, verdict=replay(result.data, result.fitted, result.stages, pad))


def prepare(
    recordings: Sequence[Recording], pad: FitPad, foundation: float = 0.0
) -> tuple[Data, tuple[float, float] | None]:
    """Combine recordings, and select the readings to use in the fit.

    Returns:
        The prepared recordings; and the threshold below which taxels read zero and the half-width of its
        confidence interval [units], None if there is no threshold.
    """
    parts = []
    for recording in recordings:
        loads, known = pad.loads(recording, foundation)
        if not np.abs(loads[known]).max(initial=0.0) > 0:
            raise CommandError(
                f"{recording.source}: the reference has no load on a known taxel; nothing to fit"
            )
        if not np.ptp(loads[known], axis=0).any():
            raise CommandError(
                f"{recording.source}: the reference is constant, got {np.abs(loads[known]).max():g} N;"
                " record presses and releases"
            )
        if not np.ptp(recording.readings, axis=0).any():
            raise CommandError(
                f"{recording.source}: all readings are {recording.readings.flat[0]:g}; nothing to fit"
            )
        # Before the first reading has arrived, delayed sensors report zero.
        started = recording.times >= recording.times[0] + min(LONGEST_DELAY, 0.1 * np.ptp(recording.times))
        parts.append((recording.times, loads, recording.readings, known & started))
    times, loads, readings, used = (np.concatenate(column) for column in zip(*parts, strict=True))
    loads = np.ascontiguousarray(loads, float)
    weights = np.broadcast_to(used[:, None], readings.shape).astype(float)
    level = _threshold(readings)
    if level:
        weights = weights * (readings != 0)
    ends = np.cumsum([0, *(len(recording.times) for recording in recordings)]).tolist()
    bounds = tuple(zip(ends[:-1], ends[1:], strict=True))
    return Data(bounds, times, loads, loads @ pad.cross_talk, readings.astype(float), weights), level


def earlier(data: Data, lag: float) -> Data:
    """Return the data with loads that act earlier by a time [s]."""
    loads, mixed = data.loads.copy(), data.mixed.copy()
    for start, stop in data.bounds:
        for array in (loads, mixed):
            array[start:stop] = delayed(array[start:stop], data.times[start:stop], -lag)
    return replace(data, loads=loads, mixed=mixed)


def _lag_half(data: Data, solution: Solution) -> float:
    """Return the half-width of the confidence interval of the delay [s]."""
    index = next(k for k, p in enumerate(solution.parameters) if p.stage == "delay")
    _, covariance = _covariance(data, solution, _variances(data, solution)[0])
    delay = solution.parameters[index]
    return Z * float(np.sqrt(covariance[index, index])) * (delay.high - delay.low)


def _durations(data: Data) -> tuple[float, float]:
    """Return two durations of recordings for the search bounds.

    Returns:
        The sampling interval [s], and the longest time for which the pad stays loaded or unloaded [s].
    """
    longest, steps = 0.0, []
    for start, stop in data.bounds:
        times, loaded = data.times[start:stop], is_loaded(data.loads[start:stop])
        ends = times[np.r_[0, np.flatnonzero(np.diff(loaded)) + 1, len(loaded) - 1]]
        longest = max(longest, float(np.diff(ends).max()))
        steps.append(np.diff(times))
    return float(np.median(np.concatenate(steps))), longest


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
    noise = np.sqrt(solution.rss / max((data.weights > 0).sum(), 1))
    return np.abs(solution.curves.fitted) > level[0] + 3 * noise


def resolution(readings: np.ndarray) -> float:
    """Return the step [units] of which all readings are multiples; 0 if it is not visible."""
    values = np.unique(readings)
    gaps = np.diff(values)
    if not len(gaps) or len(values) > 20_000:
        return 0.0
    step = float(gaps.min())
    steps = gaps / step
    if step < 1e-4 * np.ptp(values) or np.abs(steps - np.round(steps)).max() > 0.01:
        return 0.0
    return step


def solve(data: Data, shared: tuple[Parameter, ...], scaled: np.ndarray, order: int) -> Solution:
    """Fit the curves of all taxels for fixed shared parameters.

    Args:
        data: The prepared recordings.
        shared: The p parameters that all taxels share.
        scaled: (p,) values of these parameters, scaled to the range 0 to 1.
        order: Order of the polynomials.
    """
    values = {p.key: p.unscaled(float(x)) for p, x in zip(shared, scaled, strict=True)}
    curves = regress(data, respond(data, values), order)
    floor = data.weights.sum() * (_FLOOR * data.scale) ** 2
    rss = float((data.weights * (data.readings - curves.fitted) ** 2).sum() + floor)
    return Solution(shared, scaled, order, curves, rss)


def _search(data: Data, shared: tuple[Parameter, ...], order: int, seed: int) -> Solution:
    """Find the values of the shared parameters with a global search and a local refinement."""
    if not shared:
        return solve(data, shared, np.empty(0), order)
    taxels = np.argsort(-np.abs(data.loads).sum(axis=0))[:_GLOBAL_TAXELS]
    part, neutral = data.some(taxels).thinned(_SEARCHED), _start(shared)
    found = differential_evolution(
        lambda at: solve(part, shared, at, order).rss * (1.0 + _PREFERENCE * ((at - neutral) ** 2).sum()),
        [(0.0, 1.0)] * len(shared),
        popsize=5,
        maxiter=25,
        tol=1e-3,
        rng=np.random.default_rng(seed),
        polish=False,
        x0=neutral,
    )
    return refine(data, solve(data, shared, found.x, order))


def _start(shared: tuple[Parameter, ...]) -> np.ndarray:
    """Return starting values (p,), scaled to 0 to 1, at which the stages have almost no effect."""
    near = [0.5 if p.neutral is None else p.scaled(p.neutral) for p in shared]
    return np.clip(near, 0.01, 0.99)


def refine(data: Data, solution: Solution, most: int = 25) -> Solution:
    """Refine the shared parameters by bounded least squares, with at most a number of iterations."""
    shared, order = solution.parameters, solution.order
    if not shared:
        return solve(data, shared, np.empty(0), order)
    used, neutral, scale = data.weights > 0, _start(shared), data.scale
    noise = np.sqrt(solve(data, shared, solution.scaled, order).rss / max(used.sum(), 1)) / scale

    # A weak prior (one extra residual) pulls each parameter to its neutral value if the data do not fix it.
    def residuals(at: np.ndarray) -> np.ndarray:
        errors = (solve(data, shared, at, order).curves.fitted - data.readings)[used] / scale
        return np.concatenate([errors, noise * (at - neutral)])

    found = least_squares(
        residuals,
        np.clip(solution.scaled, 1e-3, 1 - 1e-3),
        bounds=(0.0, 1.0),
        diff_step=_STEP,
        max_nfev=most,
        xtol=1e-5,
        ftol=1e-7,
    )
    return solve(data, shared, np.clip(found.x, 0.0, 1.0), order)


def _independent(data: Data, solution: Solution) -> float:
    """Estimate the number of independent samples in the residuals from their autocorrelation."""
    residuals = data.weights * (data.readings - solution.curves.fitted)
    spectrum = np.abs(np.fft.rfft(residuals, 2 * len(residuals), axis=0)) ** 2
    together = np.fft.irfft(spectrum.sum(axis=1))[: len(residuals) // 4]
    correlation = together / max(together[0], 1e-300)
    ends = np.flatnonzero(correlation < _UNCORRELATED)
    length = 2 * correlation[: ends[0] if len(ends) else None].sum() - 1
    return float(data.weights.sum()) / max(length, 1.0)  # without residuals there is no correlation


def _select(data: Data, solution: Solution, orders: tuple[int, ...]) -> Solution:
    """Choose the order of the curves, and remove stages that the Bayesian information criterion rejects."""
    solution = _without_trends(data, solution)
    trials = [solution]
    trials += [refine(data, replace(solution, order=order)) for order in reversed(orders[:-1])]
    errors = [_prediction_error(data, trial) for trial in trials]
    enough = [t for t, error in zip(trials, errors, strict=True) if error <= _MORE * min(errors)]
    solution = min(enough, key=lambda trial: trial.order)
    number = _independent(data, solution)
    while solution.parameters:
        scores = []
        for stage in dict.fromkeys(p.stage for p in solution.parameters):
            keep = [k for k, p in enumerate(solution.parameters) if p.stage != stage]
            fewer = tuple(solution.parameters[k] for k in keep)
            cost = (len(solution.parameters) - len(fewer)) * np.log(number)
            without = solve(data, fewer, solution.scaled[keep], solution.order)
            if number * np.log(without.rss / solution.rss) > cost:  # other stages may take over its effect
                without = refine(data, without)
            scores.append((number * np.log(without.rss / solution.rss) - cost, without))
        score, without = min(scores, key=lambda entry: entry[0])
        if score > 0:
            break
        solution = refine(data, without)
    return solution


def _prediction_error(data: Data, solution: Solution) -> float:
    """Return the mean square error of predicting parts of the recordings from the other parts [units²]."""
    response, total = respond(data, solution.values), (_FLOOR * data.scale) ** 2 * data.weights.sum()
    fold = np.zeros(len(data.times), int)
    for start, stop in data.bounds:
        fold[start:stop] = np.arange(stop - start) * 50 // (stop - start) % 5
    for k in range(5):
        left_out = data.weights * (fold == k)[:, None]
        curves = regress(replace(data, weights=data.weights - left_out), response, solution.order)
        total += float((left_out * (data.readings - curves.fitted) ** 2).sum())
    return total / data.weights.sum()


def _press_lengths(data: Data) -> tuple[float, np.ndarray]:
    """Return the mean number of used samples in a press (of all taxels), and in a press of each taxel (m,).

    Both are 1 in a recording without separate presses.
    """
    loaded = (np.abs(data.loads) > _FREE * np.abs(data.loads).max()) & (data.weights > 0)
    either, taxels = loaded.any(axis=1), loaded.shape[1]
    presses, counts = 0, np.zeros(taxels, int)
    for start, stop in data.bounds:
        presses += int((np.diff(either[start:stop].astype(int), prepend=0) == 1).sum())
        counts += (np.diff(loaded[start:stop].astype(int), axis=0, prepend=0) == 1).sum(axis=0)
    if presses < _FEW_PRESSES:
        return 1.0, np.ones(taxels)
    return float(loaded.sum()) / presses, loaded.sum(axis=0) / np.maximum(counts, 1)


def _variances(
    data: Data, solution: Solution, spectrum: Semivariance | None = None
) -> tuple[float, np.ndarray]:
    """Return the variance of the residuals per independent sample [units²], of all taxels and each (m,).

    Noise is independent after its correlation time. The rest of the residuals are errors of the model, which
    are correlated over a whole press.
    """
    used = data.weights > 0
    residuals = np.where(used, data.readings - solution.curves.fitted, 0.0)
    freedom = max(used.sum() - used.shape[1] * (1 + solution.order), 1)
    each = (residuals**2).sum(axis=0) / np.maximum(used.sum(axis=0), 1)
    total = solution.rss / freedom
    fast = min(float((spectrum or _semivariance(data, solution)).values[0]), total)
    correlated = max(used.sum() / max(_independent(data, solution), 1.0), 1.0)
    press, presses = _press_lengths(data)
    systematic = max(total - fast, 0.0)
    whole = max(total * correlated, fast + systematic * press)
    own = np.maximum(each * correlated, fast + np.maximum(each - fast, 0.0) * presses)
    return whole, own


def _covariance(data: Data, solution: Solution, variance: float) -> tuple[np.ndarray, np.ndarray]:
    """Return derivatives (r, p) of the r used readings, and the covariance (p, p) of shared parameters.

    Both are for parameters scaled to the range 0 to 1. The curves are refitted after each change, so effects
    that they can compensate have derivative 0.
    """
    used, shared, at = data.weights > 0, solution.parameters, solution.scaled
    center, columns = solution.curves.fitted[used], []
    for k in range(len(shared)):
        step = 10 * _STEP if at[k] < 0.5 else -10 * _STEP
        moved = at.copy()
        moved[k] += step
        columns.append((solve(data, shared, moved, solution.order).curves.fitted[used] - center) / step)
    slopes = np.stack(columns, axis=1) if columns else np.empty((used.sum(), 0))
    information = slopes.T @ slopes / variance + np.eye(len(shared))  # with the prior of `refine`
    return slopes, np.linalg.inv(information)


def _without_trends(data: Data, solution: Solution) -> Solution:
    """Remove stages whose time constant is at the upper end of the search: they follow a trend."""
    trends = {
        p.stage
        for p, x in zip(solution.parameters, solution.scaled, strict=True)
        if p.log and x > 1 - _AT_BOUND
    }
    return _without(data, solution, trends) if trends else solution


def _without(data: Data, solution: Solution, stages: set[str]) -> Solution:
    """Remove stages and refine the solution."""
    keep = [k for k, p in enumerate(solution.parameters) if p.stage not in stages]
    fewer = tuple(solution.parameters[k] for k in keep)
    return refine(data, solve(data, fewer, solution.scaled[keep], solution.order))


def _without_unknown(data: Data, solution: Solution) -> Solution:
    """Remove stages whose strength the data do not determine; they would make all parameters uncertain."""
    while True:
        _, covariance = _covariance(data, solution, _variances(data, solution)[0])
        wide = Z * np.sqrt(np.diag(covariance)) > _UNKNOWN
        unknown = {
            p.stage for p, w in zip(solution.parameters, wide, strict=True) if w and p.neutral is not None
        }
        if not unknown:
            return _without_trends(data, solution)
        solution = _without(data, solution, unknown)


def _semivariance(data: Data, solution: Solution) -> Semivariance:
    residuals = data.readings - solution.curves.fitted
    weights = calm(data)
    return semivariance([(data.times[a:b], residuals[a:b], weights[a:b]) for a, b in data.bounds])


def _result(
    recordings: tuple[Recording, ...],
    data: Data,
    solution: Solution,
    candidates: tuple[Parameter, ...],
    noise: NoiseFit,
    spectrum: Semivariance,
    level: tuple[float, float] | None,
    rounding: float,
) -> Fit:
    variance, own = _variances(data, solution, spectrum)
    slopes, covariance = _covariance(data, solution, variance)
    estimates = _shared_estimates(solution, covariance)
    estimates += _absent_estimates(data, solution, candidates, slopes, np.sqrt(variance))
    gains, gain_halves, offsets, own_estimates = _taxel_estimates(data, solution, covariance, own)
    estimates += own_estimates
    if level:
        estimates.append(Estimate("threshold.level", level[0], level[1]))
    else:
        note = "no reading is cut off at zero"
        estimates.append(Estimate("threshold.level", 0.0, 0.0, "unidentifiable", note))
    estimates += _noise_estimates(noise, rounding)
    kept = solution.values | {e.key: e.value for e in estimates if e.status == "fitted"}
    stages: dict[str, dict[str, Any]] = {}
    for key, value in kept.items():
        stage, _, name = key.partition(".")
        if stage in ("cross_talk", "hysteresis", "viscoelasticity", "slow_adaptation", "delay", "threshold"):
            stages.setdefault(stage, {})[name] = float(value)
    stages |= noise.stages()
    if rounding:
        stages["quantisation"] = {"step": rounding}
    known = np.isfinite(gains)
    coefficients = solution.curves.coefficients
    mean = coefficients[:, known].mean(axis=1) if known.any() else np.eye(len(coefficients))[0]
    coefficients = np.where(known, coefficients, mean[:, None])
    stages["gain"] = {"taxels": coefficients[0].tolist()}
    for name, row in zip(("second", "third"), coefficients[1:], strict=False):
        stages["gain"][name] = row.tolist()
    if solution.order > 1:
        stages["gain"]["limit"] = 1.2 * float(np.abs(data.loads).max())
    stages["offset"] = {"taxels": np.where(np.isfinite(offsets), offsets, np.nanmean(offsets)).tolist()}
    if len(data.bounds) > 1:
        scatter = float(np.sqrt(np.nanmean(np.nanvar(solution.curves.offsets, axis=0, ddof=1))))
        stages["offset"]["scatter"] = [scatter, scatter]
        note = f"between {len(data.bounds)} recordings; drawn again at each reset"
        half = Z * scatter / np.sqrt(2 * (len(data.bounds) - 1) * max(int(known.sum()), 1))
        estimates.append(Estimate("offset.scatter", scatter, half, "fitted", note))
    rms = float(
        np.sqrt((data.weights * (data.readings - solution.curves.fitted) ** 2).sum() / data.weights.sum())
    )
    return Fit(
        recordings, data, solution.curves.fitted, tuple(estimates), gains, gain_halves, offsets, rms,
        spectrum, stages,
    )  # fmt: skip


def _shared_estimates(solution: Solution, covariance: np.ndarray) -> list[Estimate]:
    """Return estimates for the parameters of the selected stages, with confidence intervals."""
    estimates = []
    for k, parameter in enumerate(solution.parameters):
        deviation = Z * float(np.sqrt(max(covariance[k, k], 0.0)))
        scaled = solution.scaled[k]
        low, high = (parameter.unscaled(min(max(scaled + s * deviation, 0.0), 1.0)) for s in (-1, 1))
        value = parameter.unscaled(scaled)
        at_bound = not _AT_BOUND < scaled < 1 - _AT_BOUND and (parameter.log or parameter.neutral != value)
        note = "a wide interval: the recording hardly depends on it" if deviation > WIDE else ""
        if at_bound:
            note = f"at its bound {value:.3g}; longer holds and pauses determine it"
        status = "unidentifiable" if at_bound else "fitted"
        estimates.append(Estimate(parameter.key, value, max(high - value, value - low), status, note))
    return estimates


def _absent_estimates(
    data: Data, solution: Solution, candidates: tuple[Parameter, ...], slopes: np.ndarray, sigma: float
) -> list[Estimate]:
    """Return estimates for the parameters of stages that were not selected.

    Each parameter is either absent (the data show that it is neutral) or unidentifiable.
    """
    estimates, used = [], data.weights > 0
    chosen = {parameter.stage for parameter in solution.parameters}
    for parameter in candidates:
        if parameter.stage in chosen:
            continue
        if parameter.neutral is None:
            note = f"{parameter.stage} has no effect"
            estimates.append(Estimate(parameter.key, np.nan, np.nan, "unidentifiable", note))
            continue
        beside = [p for p in candidates if p.stage == parameter.stage and p.neutral is None]
        more = (*solution.parameters, parameter, *beside)
        neutral = parameter.scaled(parameter.neutral)
        probe = neutral + (_PROBE if neutral < 0.5 else -_PROBE)
        at = np.concatenate([solution.scaled, [probe], [0.5] * len(beside)])
        change = (solve(data, more, at, solution.order).curves.fitted - solution.curves.fitted)[used]
        if slopes.shape[1]:
            change = change - slopes @ np.linalg.lstsq(slopes, change, rcond=None)[0]
        half = Z * sigma * _PROBE / max(float(np.linalg.norm(change)), 1e-300)
        wide = half > WIDE
        span = parameter.high - parameter.low
        estimates.append(
            Estimate(
                parameter.key,
                parameter.neutral,
                min(half, 1.0) * span,
                "unidentifiable" if wide else "absent",
                "the recording hardly depends on it" if wide else "",
            )
        )
    return estimates


def _taxel_estimates(
    data: Data, solution: Solution, covariance: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[Estimate]]:
    """Estimate the gain at the largest load [units/N] and the offset [units] of each taxel.

    Args:
        data: The prepared recordings.
        solution: Solution of the fit with the selected stages.
        covariance: Covariance (p, p) of the scaled shared parameters.
        variance: (m,) variance of the residuals of each taxel per independent sample [units²].

    Returns:
        Gains (m,) and the half-widths of their intervals, offsets (m,), NaN where they are not identifiable,
        and the estimates.
    """
    loads = np.abs(data.weights * data.loads)
    largest = np.where(loads.max(axis=0) > 0, loads.max(axis=0), 1.0)
    at = powers(largest, solution.order) / largest  # (k, m), so that the gain is f(x) / x

    def slope(of: Solution) -> np.ndarray:
        return np.einsum("km,km->m", at, of.curves.coefficients)

    gains, moves = slope(solution), []
    for k in range(len(solution.parameters)):
        step = 1e-3 if solution.scaled[k] < 0.5 else -1e-3
        moved = solution.scaled.copy()
        moved[k] += step
        moves.append((slope(solve(data, solution.parameters, moved, solution.order)) - gains) / step)
    by = np.array(moves).reshape(len(moves), len(gains))
    spread = np.einsum("km,mkl,lm->m", at, solution.curves.inverse, at) * variance
    floor = 2 * _FLOOR * data.scale / largest  # the resolution of the readings
    halves = np.hypot(Z * np.sqrt(spread + np.einsum("pm,pq,qm->m", by, covariance, by)), floor)
    sums = loads.sum(axis=0)
    unknown = (sums < _LEAST * sums.max()) | (data.weights.sum(axis=0) < 10)
    gains, halves = np.where(unknown, np.nan, gains), np.where(unknown, np.nan, halves)
    offsets = np.nanmean(np.where(data.weights.any(axis=0), solution.curves.offsets, np.nan), axis=0)
    known, estimates = np.isfinite(gains), []
    if known.any():
        note = f"mean of {known.sum()} taxels" + (", at the largest load" if solution.order > 1 else "")
        estimates.append(
            Estimate(
                "gain.taxels", float(gains[known].mean()), float(np.median(halves[known])), "fitted", note
            )
        )
        rest = Z * float(np.median(np.sqrt(variance / np.maximum(data.weights.sum(axis=0), 1))))
        estimates.append(Estimate("offset.taxels", float(np.nanmean(offsets)), rest, "fitted", "mean"))
    if not known.all():
        listed = ", ".join(map(str, np.flatnonzero(~known)[:12]))
        more = ", ..." if (~known).sum() > 12 else ""
        note = f"{(~known).sum()} taxels with too little load; they get the mean"
        estimates.append(Estimate(f"gain.taxels[{listed}{more}]", np.nan, np.nan, "unidentifiable", note))
    return gains, halves, offsets, estimates


def _noise_estimates(noise: NoiseFit, rounding: float) -> list[Estimate]:
    estimates = [Estimate("noise.std", noise.std, noise.std_half)] if noise.std else []
    if not noise.std:
        note = "the resolution of the recording" if not rounding else f"steps of {rounding:g} explain it"
        estimates.append(Estimate("noise.std", 0.0, 0.0, "absent", note))
    if noise.smoothing:
        note = "from the correlation of noise"
        estimates.append(
            Estimate("smoothing.time_constant", noise.smoothing, noise.smoothing_half, "fitted", note)
        )
    if noise.rate:
        walk = "" if noise.correlation_time else "a random walk up to the end of the recording"
        estimates.append(Estimate("drift.rate", noise.rate, noise.rate_half, "fitted", walk))
        if noise.correlation_time:
            level = noise.rate * np.sqrt(0.5 * noise.correlation_time)
            estimates.append(
                Estimate(
                    "drift.correlation_time", noise.correlation_time, noise.correlation_half, "fitted",
                    f"a standard deviation of {level:.3g} in the long run",
                )
            )  # fmt: skip
    else:
        estimates.append(Estimate("drift.rate", 0.0, 0.0, "absent"))
    return estimates
