"""Select the stages that the data support, and estimate the shared parameters with their uncertainty."""

from __future__ import annotations

import numpy as np

from tactile_sim.fit.model import Data, Estimate, Parameter
from tactile_sim.fit.search import Solution, jacobian, refine, solve

WIDE = 0.25
"""A parameter is undetermined if its confidence interval's half-width exceeds this fraction of its range."""
Z = 1.96
"""Half-width of a 95 % confidence interval in standard deviations."""
_PROBE = 0.1
"""Change of a parameter, as a fraction of its range, that tests whether the data are sensitive to it."""
_UNCORRELATED = 0.02
"""Samples count as independent if their correlation is below this value."""


def independent(data: Data, solution: Solution) -> float:
    """Estimate the number of independent samples in the residuals from their autocorrelation."""
    residuals = data.weights * (data.readings - solution.fitted)
    spectrum = np.abs(np.fft.rfft(residuals, 2 * len(residuals), axis=0)) ** 2
    together = np.fft.irfft(spectrum.sum(axis=1))[: len(residuals) // 4]
    correlation = together / max(together[0], 1e-300)
    ends = np.flatnonzero(correlation < _UNCORRELATED)
    length = 2 * correlation[: ends[0] if len(ends) else None].sum() - 1
    return float(data.weights.sum()) / max(length, 1.0)  # without residuals there is no correlation


def select(data: Data, solution: Solution) -> Solution:
    """Remove the stages that the Bayesian information criterion rejects, and refine the solution."""
    number = independent(data, solution)
    while solution.parameters:
        scores = []
        for stage in dict.fromkeys(p.stage for p in solution.parameters):
            keep = [k for k, p in enumerate(solution.parameters) if p.stage != stage]
            fewer = tuple(solution.parameters[k] for k in keep)
            cost = (len(solution.parameters) - len(fewer)) * np.log(number)
            without = solve(data, fewer, solution.scaled[keep])
            if number * np.log(without.rss / solution.rss) > cost:  # other stages may take over its effect
                without = refine(data, fewer, solution.scaled[keep])
            scores.append((number * np.log(without.rss / solution.rss) - cost, without))
        score, without = min(scores, key=lambda entry: entry[0])
        if score > 0:
            break
        solution = refine(data, without.parameters, without.scaled)
    return solution


def uncertainty(data: Data, solution: Solution) -> tuple[float, np.ndarray, np.ndarray]:
    """Estimate the uncertainty of the shared parameters.

    Returns:
        sigma: Standard deviation of the residuals, corrected for their correlation [units].
        slopes: (r, p) derivatives of the r used readings with respect to the p scaled parameters [units].
        covariance: (p, p) covariance of the scaled parameters.
    """
    used = data.weights > 0
    inflation = used.sum() / max(independent(data, solution), 1.0)
    sigma = float(np.sqrt(solution.rss / max(used.sum() - 2 * used.shape[1], 1) * inflation))
    slopes = jacobian(data, solution.parameters, solution.scaled)
    information = slopes.T @ slopes / sigma**2 + np.eye(slopes.shape[1])  # with the prior of `refine`
    return sigma, slopes, np.linalg.inv(information)


def without_unknown(data: Data, solution: Solution) -> Solution:
    """Remove stages whose strength cannot be determined from the data, and refine the solution.

    Such stages would make all other parameters uncertain.
    """
    while True:
        _, _, covariance = uncertainty(data, solution)
        wide = Z * np.sqrt(np.diag(covariance)) > WIDE
        unknown = {
            p.stage for p, w in zip(solution.parameters, wide, strict=True) if w and p.neutral is not None
        }
        if not unknown:
            return solution
        keep = [k for k, p in enumerate(solution.parameters) if p.stage not in unknown]
        fewer = tuple(solution.parameters[k] for k in keep)
        solution = refine(data, fewer, solution.scaled[keep])


def shared_estimates(solution: Solution, covariance: np.ndarray) -> list[Estimate]:
    """Return estimates for the parameters of the selected stages, with confidence intervals.

    Args:
        solution: The fitted solution with the selected stages.
        covariance: (p, p) covariance of the p scaled parameters.
    """
    estimates = []
    for k, parameter in enumerate(solution.parameters):
        deviation = Z * float(np.sqrt(max(covariance[k, k], 0.0)))
        scaled = solution.scaled[k]
        low, high = (parameter.unscaled(min(max(scaled + s * deviation, 0.0), 1.0)) for s in (-1, 1))
        value = parameter.unscaled(scaled)
        at_bound = parameter.log and not 0.005 < scaled < 0.995
        wide = deviation > WIDE or at_bound
        note = "at its bound" if at_bound else "any value fits" if wide else ""
        status = "unidentifiable" if wide else "fitted"
        estimates.append(Estimate(parameter.key, value, max(high - value, value - low), status, note))
    return estimates


def absent_estimates(
    data: Data, solution: Solution, candidates: tuple[Parameter, ...], slopes: np.ndarray, sigma: float
) -> list[Estimate]:
    """Return estimates for the parameters of stages that were not selected.

    Each parameter is either absent (the data show that it is neutral) or unidentifiable.

    Args:
        data: The prepared recording.
        solution: The fitted solution with the selected stages.
        candidates: Parameters of all stages that may be fitted.
        slopes: (r, p) derivatives of the used readings with respect to the solution's scaled parameters.
        sigma: Standard deviation of the residuals, corrected for their correlation [units].
    """
    estimates = []
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
        change = solve(data, more, at).fitted[data.weights > 0] - solution.fitted[data.weights > 0]
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
