"""Estimate the noise of a sensor from the increments of its residuals, like an Allan deviation.

The semivariance S(t) is half of the mean square of the change of the residuals within the time t. White noise
has a constant S, noise that a low pass has filtered rises to a constant, bounded drift rises slowly to
another one, and S of a random walk is proportional to t.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, least_squares

_LAGS = 24
"""Number of time differences at which the semivariance is computed."""
_LONGEST = 0.4
"""Longest time difference, as a fraction of the recording."""
_GAIN = 9.0
"""Minimum decrease of χ² for a part with two parameters; a low pass needs more."""
_WALKS = 2.0
"""Growth of the semivariance over the last two octaves from which drift may be a random walk (theory: 4)."""
_WHITE = 0.15
"""Noise is white if the correlation of successive samples is below this value."""


class Semivariance(NamedTuple):
    """Semivariance of the residuals at k time differences."""

    lags: np.ndarray
    """(k,) time differences [s]."""
    values: np.ndarray
    """(k,) semivariance [units²]."""
    errors: np.ndarray
    """(k,) relative standard errors of the values."""
    interval: float
    """Sampling interval [s]."""
    duration: float
    """Duration of the longest recording [s]."""

    def deviation(self, times: np.ndarray) -> np.ndarray:
        """Return the standard deviation of increments / √2 [units] at some time differences [s]."""
        return np.sqrt(np.interp(np.log(times), np.log(self.lags), self.values))


def semivariance(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Semivariance:
    """Compute the semivariance of residuals, over all recordings and taxels.

    Args:
        parts: For each recording: times (n,) [s], residuals (n, m) [units], and weights (n, m), not 0 for the
            residuals to use.
    """
    interval = float(np.median(np.concatenate([np.diff(times) for times, _, _ in parts])))
    duration = max(float(times[-1] - times[0]) for times, _, _ in parts)
    longest = max(_LONGEST * duration, interval)
    lags = interval * np.unique(np.round(np.geomspace(1, longest / interval, _LAGS)))
    rows = []
    for lag in lags.tolist():
        total, count, taxels = 0.0, 0, 0
        for times, residuals, weights in parts:
            later = np.minimum(np.searchsorted(times, times + lag - 0.5 * interval), len(times) - 1)
            near = np.abs(times[later] - times - lag) < 0.5 * interval + 0.05 * lag
            used = (near & (later > np.arange(len(times))))[:, None] & (weights > 0) & (weights[later] > 0)
            total += float((used * (residuals[later] - residuals) ** 2).sum())
            count += int(used.sum())
            taxels = max(taxels, int(used.any(axis=0).sum()))
        if count:
            independent = max(count * interval / lag, taxels, 1)
            rows.append((lag, 0.5 * total / count, np.sqrt(2.0 / independent) + 0.03))
    if not rows:
        rows = [(interval, 0.0, 1.0)]
    lags, values, errors = (np.array(column) for column in zip(*rows, strict=True))
    return Semivariance(lags, values, errors, interval, duration)


class NoiseFit(NamedTuple):
    """Stages of noise, with the half-widths of the 95 % confidence intervals of their parameters."""

    std: float
    """Standard deviation of white noise before the low pass [units]."""
    std_half: float
    smoothing: float
    """Time constant of the low pass [s]; 0: none."""
    smoothing_half: float
    rate: float
    """Standard deviation of the drift after 1 s [units/s^0.5]; 0: none."""
    rate_half: float
    correlation_time: float
    """Time after which the drift is forgotten [s]; 0: a random walk."""
    correlation_half: float

    def stages(self) -> dict[str, dict[str, Any]]:
        """Return the stages as in a configuration."""
        out: dict[str, dict[str, Any]] = {}
        if self.rate > 0:
            out["drift"] = {"rate": self.rate}
            if self.correlation_time > 0:
                out["drift"]["correlation_time"] = self.correlation_time
        if self.std > 0:
            out["noise"] = {"std": self.std}
        if self.smoothing > 0:
            out["smoothing"] = {"time_constant": self.smoothing}
        return out


def fit_noise(data: Semivariance, rounding: float = 0.0, stationary: bool = False) -> NoiseFit:
    """Fit noise, a low pass and drift to the semivariance of residuals.

    Drift is a random walk only if its semivariance rises up to the longest time differences; otherwise it is
    bounded.

    Args:
        data: Semivariance of the residuals.
        rounding: Standard deviation of the rounding error of the readings [units], which another stage adds.
        stationary: Whether the sensor has no low pass, so that noise is white.
    """
    level = float(data.values.max(initial=0.0))
    if level <= 1.2 * rounding**2 or level == 0.0:
        return NoiseFit(0, 0, 0, 0, 0, 0, 0, 0)
    lags, values = data.lags, np.maximum(data.values, 1e-12 * level)
    fixed = min(rounding**2, 0.9 * float(values[0]))

    def model(x: np.ndarray, kinds: str) -> np.ndarray:
        out, at = np.full(len(lags), fixed), iter(np.exp(x))
        for kind in kinds:
            if kind == "w":  # white
                out = out + next(at)
            elif kind == "d":  # random walk
                out = out + next(at) * lags
            else:  # f: fast, s: slow
                height, time = next(at), next(at)
                out = out - height * np.expm1(-lags / time)
        return out

    def solve(kinds: str) -> tuple[float, np.ndarray, np.ndarray]:
        starts, low, high = [], [], []
        for kind in kinds:
            starts.append(np.log(0.5 * level if kind != "d" else 0.5 * level / lags[-1]))
            low.append(np.log(1e-9 * level) - (np.log(lags[-1]) if kind == "d" else 0))
            high.append(np.log(100 * level) - (np.log(lags[0]) if kind == "d" else 0))
            if kind in "fs":
                bounds = (
                    (0.2 * lags[0], 5 * data.interval) if kind == "f" else (5 * data.interval, 3 * lags[-1])
                )
                low.append(np.log(bounds[0]))
                high.append(np.log(max(bounds[1], 1.01 * bounds[0])))
                starts.append(0.5 * (low[-1] + high[-1]))
        best = None
        for shift in (-2.0, 0.0, 2.0) if "s" in kinds else (0.0,):
            at = np.array(starts)
            at[-1] += shift if kinds[-1] == "s" else 0.0
            found = least_squares(
                lambda x: np.log(model(x, kinds) / values) / data.errors,
                np.clip(at, np.array(low) + 1e-6, np.array(high) - 1e-6),
                bounds=(low, high),
            )
            if best is None or found.cost < best.cost:
                best = found
        assert best is not None
        covariance = np.linalg.pinv(best.jac.T @ best.jac)
        covariance *= max(2 * best.cost / max(len(lags) - len(starts), 1), 1.0)
        return 2 * float(best.cost), best.x, 1.96 * np.sqrt(np.diag(covariance))

    kinds = "w"
    chi, x, half = solve(kinds)
    options = ["wd", "ws"] if stationary else ["f", "wd", "ws", "fd", "fs"]
    tail = np.interp(np.log(lags[-1] / 4), np.log(lags), values) - fixed
    if values[-1] - fixed < _WALKS * tail:  # it stops growing
        options = [option for option in options if option[-1] != "d"]
    if len(lags) >= 6:
        trials = {option: solve(option) for option in options}
        score = {"w": chi} | {
            o: t[0] + _GAIN * (0.5 * (len(t[1]) - 1) + (o[0] == "f")) for o, t in trials.items()
        }
        kinds = min(score, key=lambda option: score[option])
        if kinds != "w":
            chi, x, half = trials[kinds]
    return _parts(kinds, np.exp(x), half, data)


def _parts(kinds: str, x: np.ndarray, half: np.ndarray, data: Semivariance) -> NoiseFit:
    """Convert the fitted parts of the semivariance to parameters of stages."""
    std = float(np.sqrt(x[0]))
    out = NoiseFit(std, 0.5 * std * half[0], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    rest = 1
    if kinds[0] == "f":
        rest, correlation = 2, float(np.exp(-data.interval / x[1]))
        if correlation > _WHITE:
            smoothing, share = _low_pass(correlation, data.interval)
            std /= np.sqrt(share)
            out = out._replace(
                std=std, std_half=0.5 * std * half[0], smoothing=smoothing, smoothing_half=smoothing * half[1]
            )
    if kinds[-1] == "d":
        rate = float(np.sqrt(2 * x[rest]))
        out = out._replace(rate=rate, rate_half=0.5 * rate * half[rest])
    elif kinds[-1] == "s":
        time = float(x[rest + 1])
        rate = float(np.sqrt(2 * x[rest] / time))
        share = 0.5 * np.hypot(half[rest], half[rest + 1])
        out = out._replace(
            rate=rate, rate_half=rate * share, correlation_time=time, correlation_half=time * half[rest + 1]
        )
    return out


def _low_pass(correlation: float, interval: float) -> tuple[float, float]:
    """Return the low pass that gives white noise a correlation between successive samples.

    Args:
        correlation: Correlation of successive samples.
        interval: Sampling interval [s].

    Returns:
        Time constant of the stage ``smoothing`` [s], and the variance of its output for white noise of unit
        variance.
    """

    def response(time: float) -> np.ndarray:
        """Return the output (k,) of the low pass, which interpolates linearly, for an input 1, 0, 0, ..."""
        lost = -np.expm1(-interval / time)
        ramp = lost * time / interval
        first, second = 1 - ramp, -(1 - lost) * ramp + ramp
        tail = second * (1 - lost) ** np.arange(max(int(20 * time / interval), 3))
        return np.r_[first, tail]

    def excess(log_time: float) -> float:
        h = response(float(np.exp(log_time)))
        return float((h[1:] * h[:-1]).sum() / (h**2).sum()) - correlation

    low, high = np.log(1e-3 * interval), np.log(1e3 * interval)
    time = float(np.exp(brentq(excess, low, high))) if excess(low) < 0 < excess(high) else interval
    return time, float((response(time) ** 2).sum())
