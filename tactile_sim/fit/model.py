"""Predict the readings in a recording from the parameters of the signal chain."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tactile_sim import _core

_ITERATIONS = 6
"""Number of Gauss-Newton steps for fitting the gain and offset of a taxel with a transfer curve."""
_LEAST_SLOPE = 0.05
"""Minimum slope of the transfer curve in the Gauss-Newton steps; smaller slopes are replaced by it."""
LONGEST_DELAY = 0.5
"""Upper bound of the fitted delay [s]."""


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


STAGES = ("cross_talk", "hysteresis", "viscoelasticity", "slow_adaptation", "transfer", "delay")
"""Stages with fitted parameters that all taxels share."""


def parameters(interval: float, duration: float, stages: tuple[str, ...] = STAGES) -> list[Parameter]:
    """Return the parameters that all taxels share in the specified stages, with bounds for the search.

    Args:
        interval: Sampling interval [s].
        duration: Longest time for which the pad stays loaded or unloaded [s].
        stages: A subset of `STAGES`.
    """
    slowest = max(4 * duration, 4 * interval)
    every = [
        Parameter("cross_talk", "share", 0.0, 0.0, 0.8),
        Parameter("hysteresis", "fraction", 0.0, 0.0, 0.6),
        Parameter("viscoelasticity", "strength", 0.0, 0.0, 0.95),
        Parameter("viscoelasticity", "time_constant", None, 2 * interval, slowest, log=True),
        Parameter("slow_adaptation", "fraction", 1.0, 0.02, 1.0),
        Parameter("slow_adaptation", "time_constant", None, 2 * interval, slowest, log=True),
        Parameter("transfer", "second", 0.0, -0.24, 1.0),
        Parameter("transfer", "third", 0.0, -0.1, 1.0),
        Parameter("delay", "time", 0.0, 0.0, min(LONGEST_DELAY, duration)),
    ]
    return [parameter for parameter in every if parameter.stage in stages]


@dataclass(frozen=True)
class Data:
    """A recording of n samples of m taxels, prepared for the fit."""

    times: np.ndarray
    """(n,) times of the samples [s]."""
    loads: np.ndarray
    """(n, m) loads of the taxels [N]."""
    mixed: np.ndarray
    """(n, m) loads of the taxels if cross-talk passed each load entirely to other taxels [N]."""
    readings: np.ndarray
    """(n, m) readings of the taxels with the baseline subtracted [units]."""
    weights: np.ndarray
    """(n, m) 1 for readings to use in the fit, 0 for others."""
    scale: float
    """Largest magnitude of a reading [units]."""

    def some(self, taxels: np.ndarray) -> Data:
        """Return the data of a subset of the taxels, selected by a mask or by indices."""
        columns = (self.loads, self.mixed, self.readings, self.weights)
        loads, mixed, readings, weights = (np.ascontiguousarray(column[:, taxels]) for column in columns)
        return replace(self, loads=loads, mixed=mixed, readings=readings, weights=weights)


def respond(data: Data, values: dict[str, float]) -> np.ndarray:
    """Return the loads (n, m) after cross-talk, hysteresis, viscoelasticity, adaptation and delay [N].

    The stages are computed as in the signal chain, except that the delay interpolates between samples, so
    that the result is a continuous function of the delay.

    Args:
        data: The prepared recording.
        values: Values of the shared parameters by key; stages without a value have no effect.
    """
    share = values.get("cross_talk.share", 0.0)
    loads = data.loads + share * (data.mixed - data.loads) if share else data.loads
    steps = np.diff(data.times, prepend=data.times[0])
    out = _core.respond(
        loads,
        steps,
        values.get("hysteresis.fraction", 0.0),
        values.get("viscoelasticity.strength", 0.0),
        values.get("viscoelasticity.time_constant", 1.0),
        values.get("slow_adaptation.fraction", 1.0),
        values.get("slow_adaptation.time_constant", 1.0),
    )
    late = values.get("delay.time", 0.0)
    return _delayed(out, data.times, late) if late > 0 else out


def _delayed(values: np.ndarray, times: np.ndarray, late: float) -> np.ndarray:
    """Delay values (n, m) by interpolation between their times (n,) [s]; they are 0 before the first one."""
    before = np.searchsorted(times, times - late, side="right") - 1
    after = np.minimum(before + 1, len(times) - 1)
    spans = np.where(after > before, times[after] - times[before], 1.0)
    shares = (times - late - times[before]) / spans
    out = values[before] + shares[:, None] * (values[after] - values[before])
    out[before < 0] = 0.0
    return out


def curve(
    amplified: np.ndarray, scale: float, second: float, third: float
) -> tuple[np.ndarray, np.ndarray]:
    """Evaluate the transfer curve ``z + second z |z| / scale + third z**3 / scale**2`` and its slope.

    Args:
        amplified: Input z of the curve: load times gain, plus offset [units].
        scale: Largest magnitude of a reading [units].
        second: Second-order coefficient.
        third: Third-order coefficient.

    Returns:
        The value [units] and the slope.
    """
    size = abs(amplified) / scale
    slope = 1.0 + 2.0 * second * size + 3.0 * third * size**2
    return amplified * (1.0 + second * size + third * size**2), slope


def taxel_parameters(
    data: Data, response: np.ndarray, values: dict[str, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Fit the gain a and the offset d of each taxel by least squares.

    The fitted readings are h(a u + d) for the response u and the transfer curve h. Taxels without load have a
    gain of 0.

    Args:
        data: The prepared recording.
        response: (n, m) loads at the input of the gain stage [N].
        values: Values of the shared parameters by key.

    Returns:
        gains: (m,) gains a [units/N].
        offsets: (m,) offsets d [units].
        fitted: (n, m) fitted readings [units].
        moments: (3, m) sums over the samples: of (h' u)², of h'² u and of h'², with the slope h' of the
            curve.
    """
    second, third = values.get("transfer.second", 0.0), values.get("transfer.third", 0.0)
    weights, readings = data.weights > 0.0, data.readings
    gains, offsets = np.zeros((2, response.shape[1]))
    for _ in range(1 if second == 0.0 and third == 0.0 else _ITERATIONS):
        value, slope = curve(gains * response + offsets, data.scale, second, third)
        one = np.where(weights, np.maximum(slope, _LEAST_SLOPE), 0.0)
        x, y = one * response, readings - value
        xx, xo, oo, xy, oy = (
            np.einsum("kt,kt->t", a, b) for a, b in ((x, x), (x, one), (one, one), (x, y), (one, y))
        )
        determinant = xx * oo - xo * xo
        regular = determinant > 1e-9 * xx * oo
        divisor = np.where(regular, determinant, 1.0)
        gains = gains + np.where(regular, oo * xy - xo * oy, 0.0) / divisor
        alone = np.divide(oy, oo, out=np.zeros_like(oy), where=oo > 0.0)
        offsets = offsets + np.where(regular, (xx * oy - xo * xy) / divisor, alone)
    fitted = curve(gains * response + offsets, data.scale, second, third)[0]
    return gains, offsets, fitted, np.stack([xx, xo, oo])
