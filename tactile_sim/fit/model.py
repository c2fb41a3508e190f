"""Predict the readings in recordings from the parameters of the signal chain.

The readings of a taxel are b + f(u): u is its load after cross-talk, hysteresis, viscoelasticity, adaptation,
the low pass and the delay, which all taxels share. f is a polynomial, and b the reading without load, which
may differ between recordings. For given u, the coefficients and b follow from linear regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tactile_sim import _core

LONGEST_DELAY = 0.5
"""Upper bound of the fitted delay [s]."""
STAGES = ("cross_talk", "hysteresis", "viscoelasticity", "slow_adaptation", "curve", "delay")
"""What a fit may add to gain, offset, threshold and noise. ``curve`` is a polynomial in the stage gain."""
ORDERS = {False: (1,), True: (1, 2, 3)}
"""Orders of the polynomial to try, without and with ``curve``."""
_RIDGE = 1e-9
_FREE = 0.01
"""A taxel counts as unloaded up to this fraction of the largest load."""
_CALM = 0.2
"""Minimum mean number of unloaded readings per sample; with fewer, noise is estimated from all readings."""


@dataclass(frozen=True)
class Parameter:
    """A stage parameter that all taxels of the pad share."""

    stage: str
    name: str
    neutral: float | None
    """Value at which the stage has no effect; None if another parameter switches the stage off."""
    low: float
    high: float
    log: bool = False
    """True if the search uses a logarithmic scale."""

    @property
    def key(self) -> str:
        """Key of the parameter in the configuration of a pad: ``stage.name``."""
        return f"{self.stage}.{self.name}"

    def unscaled(self, scaled: float) -> float:
        """Convert a scaled value (0 to 1) to a parameter value."""
        if self.log:
            return float(self.low * (self.high / self.low) ** scaled)
        return self.low + (self.high - self.low) * scaled

    def scaled(self, value: float) -> float:
        """Convert a parameter value to a scaled value (0 to 1)."""
        inside = min(max(value, self.low), self.high)
        if self.log:
            return float(np.log(inside / self.low) / np.log(self.high / self.low))
        return (inside - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Estimate:
    """The estimated value of one parameter."""

    key: str
    """Key of the parameter, such as ``delay.time`` for a stage of the pad."""
    value: float
    half: float
    """Half-width of the 95 % confidence interval, in the unit of the value."""
    status: str = "fitted"
    """``fitted``, ``absent`` (the data show that it is neutral) or ``unidentifiable``."""
    note: str = ""


def parameters(interval: float, duration: float, stages: Sequence[str] = STAGES) -> tuple[Parameter, ...]:
    """Return the parameters that all taxels share in the specified stages, with bounds for the search.

    Args:
        interval: Sampling interval [s].
        duration: Longest time for which the pad stays loaded or unloaded [s].
        stages: A subset of `STAGES`.
    """
    slowest, longest = max(4 * duration, 4 * interval), min(LONGEST_DELAY, duration)
    every = (
        Parameter("cross_talk", "share", 0.0, 0.0, 0.8),
        Parameter("hysteresis", "fraction", 0.0, 0.0, 0.6),
        Parameter("viscoelasticity", "strength", 0.0, 0.0, 0.95),
        Parameter("viscoelasticity", "time_constant", None, 2 * interval, slowest, log=True),
        Parameter("slow_adaptation", "fraction", 1.0, 0.02, 1.0),
        Parameter("slow_adaptation", "time_constant", None, 2 * interval, slowest, log=True),
        Parameter("delay", "time", 0.0, -longest, longest),  # negative: the reference is late
    )
    return tuple(parameter for parameter in every if parameter.stage in stages)


@dataclass(frozen=True)
class Data:
    """Recordings with together n samples of m taxels, prepared for the fit."""

    bounds: tuple[tuple[int, int], ...]
    """(r,) first sample of each recording, and the one after its last."""
    times: np.ndarray
    """(n,) times of the samples [s], which increase in each recording."""
    loads: np.ndarray
    """(n, m) loads of the taxels [N]."""
    mixed: np.ndarray
    """(n, m) loads of the taxels if cross-talk passed each load entirely to other taxels [N]."""
    readings: np.ndarray
    """(n, m) readings of the taxels [units]."""
    weights: np.ndarray
    """(n, m) 1 for readings to use in the fit, 0 for others."""
    smoothing: float = 0.0
    """Time constant of the sensor's low pass [s]; 0: none."""

    def some(self, taxels: np.ndarray) -> Data:
        """Return the data of a subset of the taxels, selected by a mask or by indices."""
        columns = (self.loads, self.mixed, self.readings, self.weights)
        loads, mixed, readings, weights = (np.ascontiguousarray(column[:, taxels]) for column in columns)
        return replace(self, loads=loads, mixed=mixed, readings=readings, weights=weights)

    def thinned(self, most: int) -> Data:
        """Return every k-th sample of each recording, so that there are at most about ``most`` samples."""
        step = -(-len(self.times) // most)
        if step == 1:
            return self
        chosen = [np.arange(start, stop, step) for start, stop in self.bounds]
        ends = np.cumsum([0, *map(len, chosen)]).tolist()
        at = np.concatenate(chosen)
        columns = ("times", "loads", "mixed", "readings", "weights")
        arrays = {name: getattr(self, name)[at] for name in columns}
        return replace(self, bounds=tuple(zip(ends[:-1], ends[1:], strict=True)), **arrays)

    @cached_property
    def scale(self) -> float:
        """Largest change of a taxel's used readings [units]."""
        return float(np.where(self.weights > 0, np.abs(self.readings - self.readings[0]), 0.0).max())


def respond(data: Data, values: dict[str, float]) -> np.ndarray:
    """Return the loads (n, m) after cross-talk, hysteresis, creep, adaptation, low pass and delay [N].

    The stages are computed as in the signal chain, except that the delay interpolates between samples, so
    that the result is a continuous function of the delay, and that the low pass precedes the polynomial.

    Args:
        data: The prepared recordings.
        values: Values of the shared parameters by key; stages without a value have no effect.
    """
    share = values.get("cross_talk.share", 0.0)
    loads = data.loads + share * (data.mixed - data.loads) if share else data.loads
    late, parts = values.get("delay.time", 0.0), []
    for start, stop in data.bounds:
        times = data.times[start:stop]
        steps = np.diff(times, prepend=times[0])
        out = _core.respond(
            np.ascontiguousarray(loads[start:stop]),
            steps,
            values.get("hysteresis.fraction", 0.0),
            values.get("viscoelasticity.strength", 0.0),
            values.get("viscoelasticity.time_constant", 1.0),
            values.get("slow_adaptation.fraction", 1.0),
            values.get("slow_adaptation.time_constant", 1.0),
        )
        if data.smoothing > 0:
            out = _core.respond(out, steps, 0.0, 1.0, data.smoothing, 1.0, 1.0)
        parts.append(delayed(out, times, late) if late else out)
    return np.concatenate(parts)


def delayed(values: np.ndarray, times: np.ndarray, late: float) -> np.ndarray:
    """Delay values (n, m) by interpolation between their times (n,) [s]; they are 0 before the first one.

    A negative delay makes them early; the last ones are then repeated.
    """
    before = np.searchsorted(times, times - late, side="right") - 1
    after = np.minimum(before + 1, len(times) - 1)
    spans = np.where(after > before, times[after] - times[before], 1.0)
    shares = (times - late - times[before]) / spans
    out = values[before] + shares[:, None] * (values[after] - values[before])
    out[before < 0] = 0.0
    return out


def calm(data: Data) -> np.ndarray:
    """Return weights (n, m) of the readings that show noise: those without load, or all if these are too few.

    Errors of the model are not noise. Without pauses, such as in a staircase of loads, the two cannot be
    separated, and slow errors count as drift.
    """
    free = data.weights * (np.abs(data.loads) <= _FREE * np.abs(data.loads).max())
    return free if free.sum() > _CALM * len(data.times) else data.weights


@dataclass(frozen=True)
class Curves:
    """Polynomials of m taxels, from linear regression over r recordings."""

    coefficients: np.ndarray
    """(k, m) coefficients of x, x |x| and x³ [units/N, ...]; 0 for taxels without load."""
    offsets: np.ndarray
    """(r, m) reading of each taxel without load [units]; NaN without a used sample."""
    fitted: np.ndarray
    """(n, m) predicted readings [units]."""
    inverse: np.ndarray
    """(m, k, k) inverse of the normal matrix of the coefficients."""


def powers(x: np.ndarray, order: int) -> np.ndarray:
    """Return x, x |x|, x³, ... as an array with one more axis in front."""
    return np.stack([x * np.abs(x) ** k for k in range(order)])


def regress(data: Data, response: np.ndarray, order: int) -> Curves:
    """Fit the polynomials of all taxels to their readings.

    Args:
        data: The prepared recordings.
        response: (n, m) loads after the stages that all taxels share [N].
        order: Order k of the polynomials.
    """
    size = float(np.abs(response).max()) or 1.0
    basis, used = powers(response / size, order), data.weights
    means, levels = (
        np.empty((len(data.bounds), order, used.shape[1])),
        np.empty((len(data.bounds), used.shape[1])),
    )
    matrix, right = np.zeros((used.shape[1], order, order)), np.zeros((used.shape[1], order))
    for r, (start, stop) in enumerate(data.bounds):
        w, b, y = used[start:stop], basis[:, start:stop], data.readings[start:stop]
        count = np.maximum(w.sum(axis=0), 1e-9)
        means[r], levels[r] = (w * b).sum(axis=1) / count, (w * y).sum(axis=0) / count
        b, y = w * (b - means[r][:, None]), y - levels[r]
        matrix += np.einsum("knm,lnm->mkl", b, b)
        right += np.einsum("knm,nm->mk", b, y)
        levels[r] = np.where(w.any(axis=0), levels[r], np.nan)
    trace = np.trace(matrix, axis1=1, axis2=2)
    alone = trace <= 1e-12 * max(float(trace.max()), 1e-300)
    matrix += np.where(alone, 1.0, _RIDGE * trace)[:, None, None] * np.eye(order)
    inverse = np.linalg.inv(matrix)
    scaled = np.where(alone, 0.0, np.einsum("mkl,ml->km", inverse, right))
    offsets = levels - np.einsum("rkm,km->rm", means, scaled)
    fitted = np.einsum("knm,km->nm", basis, scaled)
    for r, (start, stop) in enumerate(data.bounds):
        fitted[start:stop] += np.nan_to_num(offsets[r])
    units = size ** -np.arange(1.0, order + 1)
    inverse = np.where(alone[:, None, None], 0.0, inverse * units[:, None] * units)
    return Curves(scaled * units[:, None], offsets, fitted, inverse)
