"""Search for the shared parameters: globally by differential evolution, then locally by least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import differential_evolution, least_squares

from tactile_sim.fit.model import Data, Parameter, respond, taxel_parameters

_GLOBAL_TAXELS = 6
"""Number of taxels in the global search. The most loaded taxels are used."""
_EXACT = 1e-7
"""Assumed error of a perfect fit, relative to the largest reading."""
_PREFERENCE = 0.01
"""Weight of the penalty that keeps parameters near their neutral values in the global search."""
_STEP = 1e-4
"""Step of the numerical derivatives, as a fraction of a parameter's range."""


@dataclass(frozen=True)
class Solution:
    """Shared parameters, and the resulting best-fit gains and offsets of the taxels."""

    parameters: tuple[Parameter, ...]
    scaled: np.ndarray
    """(p,) values of the shared parameters, scaled to the range 0 to 1."""
    gains: np.ndarray
    """(m,) gain of each taxel [units/N]."""
    offsets: np.ndarray
    """(m,) offset of each taxel from the baseline, before the transfer curve [units]."""
    fitted: np.ndarray
    """(n, m) readings that the fitted model predicts for the taxels, relative to the baseline [units]."""
    moments: np.ndarray
    """(3, m) sums over the samples, as returned by `taxel_parameters`."""
    rss: float
    """Sum of squared residuals of the used readings [units²]."""

    @property
    def values(self) -> dict[str, float]:
        """Values of the shared parameters, by key such as ``delay.time``."""
        return values_of(self.parameters, self.scaled)


def values_of(parameters: tuple[Parameter, ...], scaled: np.ndarray) -> dict[str, float]:
    """Convert scaled values (0 to 1) to parameter values, by key such as ``delay.time``."""
    return {p.key: p.unscaled(float(x)) for p, x in zip(parameters, scaled, strict=True)}


def solve(data: Data, parameters: tuple[Parameter, ...], scaled: np.ndarray) -> Solution:
    """Fit the gains and offsets of all taxels for fixed shared parameters.

    Args:
        data: The prepared recording.
        parameters: The p parameters that all taxels share.
        scaled: (p,) values of these parameters, scaled to the range 0 to 1.
    """
    values = values_of(parameters, scaled)
    gains, offsets, fitted, moments = taxel_parameters(data, respond(data, values), values)
    floor = data.weights.sum() * (_EXACT * data.scale) ** 2  # readings without any noise
    rss = float((data.weights * (data.readings - fitted) ** 2).sum() + floor)
    return Solution(parameters, scaled, gains, offsets, fitted, moments, rss)


def search(data: Data, parameters: tuple[Parameter, ...], seed: int) -> Solution:
    """Find the values of the shared parameters with a global search and a local refinement.

    Args:
        data: The prepared recording.
        parameters: The p parameters that all taxels share.
        seed: Seed of the global search.
    """
    if not parameters:
        return solve(data, parameters, np.empty(0))
    order = np.argsort(-np.abs(data.loads).sum(axis=0))[:_GLOBAL_TAXELS]
    part = data.some(order)
    neutral = start(parameters)
    found = differential_evolution(
        lambda at: solve(part, parameters, at).rss * (1.0 + _PREFERENCE * ((at - neutral) ** 2).sum()),
        [(0.0, 1.0)] * len(parameters),
        popsize=6,
        maxiter=30,
        tol=1e-3,
        rng=np.random.default_rng(seed),
        polish=False,
        x0=neutral,
    )
    return refine(data, parameters, found.x)


def start(parameters: tuple[Parameter, ...]) -> np.ndarray:
    """Return starting values (p,), scaled to 0 to 1, at which the stages have almost no effect."""
    near = [0.5 if p.neutral is None else p.scaled(p.neutral) for p in parameters]
    return np.clip(near, 0.01, 0.99)


def refine(data: Data, parameters: tuple[Parameter, ...], scaled: np.ndarray) -> Solution:
    """Refine the values of the shared parameters by bounded least squares, and return the solution.

    Args:
        data: The prepared recording.
        parameters: The p parameters that all taxels share.
        scaled: (p,) initial values of these parameters, scaled to the range 0 to 1.
    """
    if not parameters:
        return solve(data, parameters, np.empty(0))
    used, neutral = data.weights > 0, start(parameters)
    noise = np.sqrt(solve(data, parameters, scaled).rss / max(used.sum(), 1)) / data.scale

    # A weak prior (one extra residual) pulls each parameter to its neutral value if the data do not fix it.
    def residuals(at: np.ndarray) -> np.ndarray:
        errors = (solve(data, parameters, at).fitted - data.readings)[used] / data.scale
        return np.concatenate([errors, noise * (at - neutral)])

    found = least_squares(
        residuals,
        np.clip(scaled, 1e-3, 1 - 1e-3),
        bounds=(0.0, 1.0),
        diff_step=_STEP,
        max_nfev=25,
        xtol=1e-5,
        ftol=1e-7,
    )
    return solve(data, parameters, np.clip(found.x, 0.0, 1.0))


def jacobian(data: Data, parameters: tuple[Parameter, ...], at: np.ndarray) -> np.ndarray:
    """Return the derivatives of the fitted readings with respect to the scaled parameters [units].

    Gains and offsets are refitted after each change, so effects that they can compensate have derivative 0.

    Args:
        data: The prepared recording.
        parameters: The p parameters that all taxels share.
        at: (p,) values of these parameters, scaled to the range 0 to 1.

    Returns:
        (r, p) derivatives, with one row for each of the r readings that are used in the fit.
    """
    used = data.weights > 0
    centre = solve(data, parameters, at).fitted[used]
    columns = []
    for k in range(len(parameters)):
        step = 10 * _STEP if at[k] < 0.5 else -10 * _STEP
        moved = at.copy()
        moved[k] += step
        columns.append((solve(data, parameters, moved).fitted[used] - centre) / step)
    return np.stack(columns, axis=1) if columns else np.empty((used.sum(), 0))
