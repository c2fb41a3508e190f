"""Estimate white noise and drift of residuals by a maximum-likelihood fit of a local-level model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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

    def likelihoods(ratios: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        squares, logs, number = _innovations(residuals, times, weights, ratios)
        variances = np.maximum(squares / max(number, 1), 1e-300)
        return -0.5 * (number * np.log(variances) + logs), variances

    ratios = np.concatenate([[0.0], _RATIOS])
    values, variances = likelihoods(ratios)
    best = int(values.argmax())
    if 0 < best < len(ratios) - 1:
        fine = np.geomspace(ratios[max(best - 1, 1)], ratios[best + 1], 21)
        ratios = np.concatenate([ratios, fine])
        values, variances = np.concatenate([(values, variances), likelihoods(fine)], axis=1)
        best = int(values.argmax())
    std = np.sqrt(variances[best])
    inside = ratios[values > values[best] - _DROP]
    rates = np.sqrt(inside.max()) * std, np.sqrt(inside.min()) * std
    number = max(int(weights.sum()), 1)
    rate = np.sqrt(ratios[best]) * std
    half = max(rates[0] - rate, rate - rates[1])
    return NoiseFit(
        float(std), 1.96 * float(std) / np.sqrt(2 * number), float(rate), float(half), rates[1] > 0
    )


def _innovations(
    residuals: np.ndarray, times: np.ndarray, weights: np.ndarray, ratios: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Run a Kalman filter over each taxel's residuals and return the terms of the likelihood.

    The level of each taxel is unknown at the start. All variances are relative to the variance of the noise.

    Args:
        residuals: Residuals (n, m) [units].
        times: Times (n,) of the samples [s].
        weights: (n, m) nonzero for the residuals to use.
        ratios: (r,) variances of the level's drift over 1 s, relative to the noise variance.

    Returns:
        squares: (r,) sums of the squared innovations, each divided by its variance.
        logs: (r,) sums of the logarithms of these variances.
        number: Number of innovations.
    """
    taxels = residuals.shape[1]
    squares, logs = np.zeros((2, len(ratios)))
    level, variance = np.zeros((2, len(ratios), taxels))
    last, started = np.zeros(taxels), np.zeros(taxels, bool)
    for time, residual, used in zip(times, residuals, weights != 0.0, strict=True):
        news = used & started
        variance = variance + np.where(news, ratios[:, None] * (time - last), 0.0)
        total = variance + 1.0
        innovation = np.where(news, residual - level, 0.0)
        squares += (innovation**2 / total).sum(axis=1)
        logs += np.where(news, np.log(total), 0.0).sum(axis=1)
        level = np.where(news, level + variance / total * innovation, level)
        variance = np.where(news, variance / total, variance)
        begins = used & ~started
        level, variance = np.where(begins, residual, level), np.where(begins, 1.0, variance)
        last, started = np.where(used, time, last), started | used
    number = int((weights != 0.0).sum()) - int(started.sum())
    return squares, logs, number
