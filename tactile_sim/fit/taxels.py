"""Estimate the gain and offset of each taxel, and convert a solution to stages of a configuration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tactile_sim.fit.model import Data, Estimate, curve
from tactile_sim.fit.search import Solution, solve
from tactile_sim.fit.selection import Z

_LEAST = 0.05
"""A gain is unidentifiable if the taxel's load, summed over time, is below this fraction of the largest sum.

It is also unidentifiable if the half-width of its confidence interval exceeds the gain.
"""
_STEP = 1e-3


class OwnParameters(NamedTuple):
    """The gain and the offset of each taxel, with the half-widths of their confidence intervals."""

    gains: np.ndarray
    gain_halves: np.ndarray
    offsets: np.ndarray
    offset_halves: np.ndarray
    estimates: list[Estimate]


def of_taxels(
    data: Data, solution: Solution, covariance: np.ndarray, sigma: float, baseline: float
) -> OwnParameters:
    """Estimate the gain [units/N] and offset [units] of each taxel; NaN where they are not identifiable.

    Args:
        data: The prepared recording.
        solution: Solution of the fit with the selected stages.
        covariance: Covariance (p, p) of the scaled shared parameters.
        sigma: Standard deviation of the residuals, corrected for their correlation [units].
        baseline: Baseline that was subtracted from all readings [units].
    """
    shape = [solution.values.get(f"transfer.{name}", 0.0) for name in ("second", "third")]
    xx, xo, oo = solution.moments
    determinant = np.maximum(xx * oo - xo**2, 1e-300)
    moves = [_moves(data, solution, k) for k in range(len(solution.parameters))]
    by_gain = np.array([move[0] for move in moves]).reshape(len(moves), len(xx))
    by_offset = np.array([move[1] for move in moves]).reshape(len(moves), len(xx))
    variance = sigma**2 * oo / determinant + np.einsum("pm,pq,qm->m", by_gain, covariance, by_gain)
    gain_halves = Z * np.sqrt(variance)
    variance = sigma**2 * xx / determinant + np.einsum("pm,pq,qm->m", by_offset, covariance, by_offset)
    offset_halves = Z * np.sqrt(np.where(xx > 0, variance, sigma**2 / np.maximum(oo, 1e-300)))
    loads = np.abs(data.weights * data.loads).sum(axis=0)
    no_gain = (loads < _LEAST * loads.max()) | (gain_halves > np.abs(solution.gains))
    no_offset = data.weights.sum(axis=0) < 10
    offsets = np.array([curve(offset, data.scale, *shape)[0] for offset in solution.offsets]) + baseline
    gains = np.where(no_gain | no_offset, np.nan, solution.gains)
    offsets = np.where(no_offset, np.nan, offsets)
    estimates = []
    for name, each, halves in (("gain", gains, gain_halves), ("offset", offsets, offset_halves)):
        known = np.isfinite(each)
        if known.any():
            pair = float(np.mean(each[known])), float(np.median(halves[known]))
            estimates.append(Estimate(f"{name}.taxels", *pair, "fitted", f"mean of {known.sum()} taxels"))
        if not known.all():
            listed = ", ".join(map(str, np.flatnonzero(~known)[:12]))
            more = ", ..." if (~known).sum() > 12 else ""
            key = f"{name}.taxels[{listed}{more}]"
            note = f"{(~known).sum()} taxels with too little load"
            estimates.append(Estimate(key, np.nan, np.nan, "unidentifiable", note))
    return OwnParameters(gains, gain_halves, offsets, offset_halves, estimates)


def _moves(data: Data, solution: Solution, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of the gains (m,) and of the offsets (m,) with respect to a shared parameter.

    ``k`` is the index of the parameter, which is scaled to the range 0 to 1.
    """
    step = _STEP if solution.scaled[k] < 0.5 else -_STEP
    at = solution.scaled.copy()
    at[k] += step
    moved = solve(data, solution.parameters, at)
    return (moved.gains - solution.gains) / step, (moved.offsets - solution.offsets) / step


def to_stages(
    kept: dict[str, Estimate], solution: Solution, own: OwnParameters, baseline: float, scale: float
) -> dict[str, dict[str, Any]]:
    """Convert a solution to stages in the form of a configuration.

    Taxels with an unidentifiable gain get the mean gain. If there is a transfer curve, gains are relative to
    their mean.

    Args:
        kept: Estimates to include, keyed by parameter such as ``delay.time``.
        solution: Solution of the fit with the selected stages.
        own: Gain and offset of each taxel.
        baseline: Baseline that was subtracted from all readings [units].
        scale: Largest magnitude of a reading [units].

    Returns:
        Parameters and their values, by stage.
    """
    stages: dict[str, dict[str, Any]] = {}
    for key, estimate in kept.items():
        stage, _, name = key.partition(".")
        if stage not in ("gain", "offset", "transfer"):
            stages.setdefault(stage, {})[name] = float(estimate.value)
    for stage, strength in (("viscoelasticity", "strength"), ("slow_adaptation", "fraction")):
        if strength not in stages.get(stage, {}):
            stages.pop(stage, None)
        else:  # the time constant may be a guess
            stages[stage]["time_constant"] = solution.values[f"{stage}.time_constant"]
    known = np.isfinite(own.gains)
    mean = float(np.mean(own.gains[known])) if known.any() else 1.0
    gains = np.where(known, own.gains, mean)
    curved = {name: solution.values.get(f"transfer.{name}", 0.0) for name in ("second", "third")}
    if not any(curved.values()):
        offsets = np.where(np.isfinite(own.offsets), own.offsets, baseline)
        return {"gain": {"taxels": gains.tolist()}, "offset": {"taxels": offsets.tolist()}, **stages}
    for stage, name in (("noise", "std"), ("drift", "rate")):  # they act before the curve
        if stage in stages:
            stages[stage][name] /= mean
    # In counts h(z) = z + second z²/scale + third z³/scale²; a load x of the mean taxel has z = mean x.
    coefficients = [mean, curved["second"] * mean**2 / scale, curved["third"] * mean**3 / scale**2]
    grid = np.linspace(0.0, 3 * scale / mean, 3001)
    slope = np.polynomial.polynomial.polyval(grid, [1.0, 2.0, 3.0] * np.array(coefficients))
    falls = np.flatnonzero(slope <= 0)
    limit = float(grid[falls[0] - 1] if len(falls) else grid[-1])
    return {
        "gain": {"taxels": (gains / mean).tolist()},
        "offset": {"taxels": (solution.offsets / mean).tolist()},
        "transfer": {"coefficients": coefficients, "limit": limit, "baseline": baseline},
        **stages,
    }
