"""Estimate white noise and drift of residuals by a maximum-likelihood fit of a local-level model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel

_RATIOS = np.geomspace(1e-8, 1e4, 61)
"""Initial search grid for the variance of the random walk over 1 s, relative to the noise variance."""
_DROP = 1.92
"""Decrease of the log-likelihood from its maximum to the ends of a 95 % confidence interval."""


class NoiseFit(NamedTuple):
    """Noise [units] and drift [units/s^0.5], each with the half-width of its 95 % confidence interval."""

    std: float
    std_half: float
    rate: float
    rate_half: float
    drifts: bool
    """True if the data show a drift."""


def fit_noise(residuals: np.ndarray, times: np.ndarray, weights: np.ndarray) -> NoiseFit:
    """Estimate the noise [units] and drift [units/s^0.5] that all taxels share.

    Args:
        residuals: Residuals (n, m) of the fit [units].
        times: Times (n,) of the samples [s].
        weights: (n, m) nonzero for the residuals to use.
    """

    def likelihood(ratio: float) -> tuple[float, float]:
        squares, logs, number = _innovations(residuals, times, weights, ratio)
        variance = max(squares / max(number, 1), 1e-300)
        return -0.5 * (number * np.log(variance) + logs), variance

    ratios = np.concatenate([[0.0], _RATIOS])
    values = np.array([likelihood(ratio)[0] for ratio in ratios])
    best = int(values.argmax())
    if 0 < best < len(ratios) - 1:
        fine = np.geomspace(ratios[max(best - 1, 1)], ratios[best + 1], 21)
        ratios = np.concatenate([ratios, fine])
        values = np.concatenate([values, [likelihood(ratio)[0] for ratio in fine]])
        best = int(values.argmax())
    std = np.sqrt(likelihood(ratios[best])[1])
    inside = ratios[values > values[best] - _DROP]
    rates = np.sqrt(inside.max()) * std, np.sqrt(inside.min()) * std
    number = max(int(weights.sum()), 1)
    rate = np.sqrt(ratios[best]) * std
    half = max(rates[0] - rate, rate - rates[1])
    return NoiseFit(
        float(std), 1.96 * float(std) / np.sqrt(2 * number), float(rate), float(half), rates[1] > 0
    )


@kernel
def _innovations(residuals, times, weights, ratio):
    """Run a Kalman filter over each taxel's residuals and return the terms of the likelihood.

    The level of each taxel is unknown at the start. All variances are relative to the variance of the noise.

    Args:
        residuals: Residuals (n, m) [units].
        times: Times (n,) of the samples [s].
        weights: (n, m) nonzero for the residuals to use.
        ratio: Variance of the level's drift over 1 s, relative to the noise variance.

    Returns:
        squares: Sum of the squared innovations, each divided by its variance.
        logs: Sum of the logarithms of these variances.
        number: Number of innovations.
    """
    squares, logs, number = 0.0, 0.0, 0
    for t in range(residuals.shape[1]):
        level, variance, last, started = 0.0, 0.0, 0.0, False
        for k in range(residuals.shape[0]):
            if weights[k, t] == 0.0:
                continue
            value = residuals[k, t]
            if not started:
                level, variance, last, started = value, 1.0, times[k], True
                continue
            variance += ratio * (times[k] - last)
            last = times[k]
            innovation = value - level
            total = variance + 1.0
            squares += innovation**2 / total
            logs += np.log(total)
            number += 1
            level += variance / total * innovation
            variance /= total
    return squares, logs, number
