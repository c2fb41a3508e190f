"""Estimate the load from readings with a fitted signal chain: the inverse of the fit."""

from __future__ import annotations

import numpy as np

from tactile_sim.fit.estimate import Fit
from tactile_sim.fit.model import powers

_LEVELS = 800
"""Number of loads on the grid of the search."""
_BELOW = 0.1
"""The grid begins below zero, by this fraction of the largest load, as noise does."""


def invert(
    result: Fit, times: np.ndarray, readings: np.ndarray, taxels: np.ndarray | None = None
) -> np.ndarray:
    """Return the load (n,) of readings under the same load on all taxels [N].

    For each sample, it is the load whose predicted readings are nearest, weighted by the covariance of the
    residuals of the fit. Viscoelasticity is inverted exactly; hysteresis, adaptation and delay are not.

    Args:
        result: The fit.
        times: (n,) times of the samples [s].
        readings: (n, m) readings [units].
        taxels: Indices of the taxels to use; all by default.
    """
    chosen = np.arange(readings.shape[1]) if taxels is None else np.asarray(taxels)
    gain = result.stages["gain"]
    coefficients = np.array([gain[name] for name in ("taxels", "second", "third") if name in gain])[:, chosen]
    most = float(np.abs(result.data.loads).max())
    grid = np.linspace(-_BELOW, 1.2, _LEVELS) * most
    offsets = np.array(result.stages["offset"]["taxels"])[chosen]
    predicted = np.einsum("kg,km->gm", powers(grid, len(coefficients)), coefficients) + offsets
    used = (result.data.weights > 0).all(axis=1)
    residuals = (result.data.readings - result.fitted)[used][:, chosen]
    covariance = np.atleast_2d(np.cov(residuals.T)) + 1e-9 * np.eye(len(chosen)) * np.var(residuals)
    white = np.linalg.cholesky(np.linalg.inv(covariance))
    near, far = readings[:, chosen] @ white, predicted @ white
    response = np.empty(len(readings))
    for start in range(0, len(readings), 4096):
        part = near[start : start + 4096]
        distance = (far**2).sum(axis=1) - 2 * part @ far.T
        response[start : start + 4096] = grid[distance.argmin(axis=1)]
    stage = result.stages.get("viscoelasticity")
    return _without_creep(response, times, stage["strength"], stage["time_constant"]) if stage else response


def _without_creep(
    response: np.ndarray, times: np.ndarray, strength: float, time_constant: float
) -> np.ndarray:
    """Return the loads (n,) for which the stage viscoelasticity gives a response (n,)."""
    out = np.empty_like(response)
    intervals = np.diff(times, prepend=times[0])
    lost = -np.expm1(-intervals / time_constant)
    ramp = np.divide(lost * time_constant, intervals, out=np.ones_like(lost), where=intervals > 0)
    load = lag = 0.0
    for k, (value, part, share) in enumerate(
        zip(response.tolist(), lost.tolist(), ramp.tolist(), strict=True)
    ):
        before = (1 - part) * lag - share * load
        load = (value + strength * before) / (1 - strength * share)
        lag = before + share * load
        out[k] = load
    return out
