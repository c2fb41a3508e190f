"""Stages from force to counts and back: the transfer curve of a sensor and its calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.errors import ConfigError
from tactile_sim.schema import Number, Numbers, parameter
from tactile_sim.signal_chain.stage import Group, Stage, ranged

_POINTS = 2049
"""Points of a polynomial in its table."""


class Curves(NamedTuple):
    """The curves of a group as tables."""

    inputs: np.ndarray
    """(m,) magnitudes, those of the first body first."""
    outputs: np.ndarray
    """(m,) magnitudes."""
    begin: np.ndarray
    """(b + 1,) first entry of each body."""


@dataclass(frozen=True)
class Curve(Stage):
    """A curve from the magnitude of a channel to counts, given as a table or as a polynomial."""

    inputs: tuple[float, ...] = parameter(
        Numbers(Number(least=0)), "Inputs of a table [units], from 0 up.", default=()
    )
    outputs: tuple[float, ...] = parameter(
        Numbers(Number(least=0)), "Its outputs [counts], from 0 up, linear in between.", default=()
    )
    coefficients: tuple[float, ...] = parameter(
        Numbers(Number(most=1e15)), "Or a polynomial: factors of x, x², ... [counts].", default=()
    )
    limit: float = parameter(
        Number(least=0),
        "Greatest input of the polynomial [units], up to which it must increase.",
        default=0.0,
    )
    baseline: float = ranged(Number(), "Counts without load.", default=0.0)

    @classmethod
    def start(cls, group: Group) -> Curves:
        tables = [
            _table(stage, f"{body.name}.{cls.key()}")
            for body, stage in zip(group.bodies, group.configured, strict=True)
        ]
        inputs, outputs = (np.concatenate(column) for column in zip(*tables, strict=True))
        return Curves(inputs, outputs, np.cumsum([0, *(len(table[0]) for table in tables)]))


class Transfer(Curve):
    """Each channel becomes counts by a curve, odd about the baseline, and holds beyond its end."""

    marks = True

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: Curves, step: int) -> Curves:
        baseline = group.parameters["baseline"]
        _interpolate(values, group.ranges, *memory, 0.0 * baseline, baseline, group.skin.valid)
        return memory


class Calibration(Curve):
    """The driver turns counts into units by the inverse of a curve, the sensor's or another one."""

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: Curves, step: int) -> Curves:
        baseline, ignored = group.parameters["baseline"], np.ones_like(group.skin.valid)
        inverse = memory.outputs, memory.inputs, memory.begin
        _interpolate(values, group.ranges, *inverse, baseline, 0.0 * baseline, ignored)
        return memory


def _table(curve: Curve, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve as increasing inputs and outputs (m,)."""
    if bool(curve.coefficients) == bool(curve.inputs or curve.outputs):
        both = "both" if curve.coefficients else "none"
        raise ConfigError(f"{where}: must have inputs and outputs, or coefficients and limit, got {both}")
    if curve.coefficients:
        if curve.limit == 0:
            raise ConfigError(f"{where}.limit: must be > 0 for a polynomial, got 0")
        inputs = np.linspace(0.0, curve.limit, _POINTS)
        outputs = np.polynomial.polynomial.polyval(inputs, [0.0, *curve.coefficients])
        falls = np.flatnonzero(np.diff(outputs) <= 0)
        if len(falls):
            raise ConfigError(
                f"{where}.coefficients: must give a curve that increases up to the limit {curve.limit:g}, "
                f"got one that does not at {inputs[falls[0]]:g}"
            )
        return inputs, outputs
    if len(curve.inputs) != len(curve.outputs) or len(curve.inputs) < 2:
        raise ConfigError(
            f"{where}.outputs: must have one number per input, at least 2, got {len(curve.outputs)} for "
            f"{len(curve.inputs)} inputs"
        )
    for name, column in (("inputs", curve.inputs), ("outputs", curve.outputs)):
        if column[0] != 0 or (np.diff(column) <= 0).any():
            raise ConfigError(f"{where}.{name}: must begin with 0 and increase, got {list(column)}")
    return np.array(curve.inputs), np.array(curve.outputs)


@kernel(nogil=True)
def _interpolate(values, ranges, inputs, outputs, begin, before, after, valid):
    for b in range(len(ranges)):
        x, y = inputs[begin[b] : begin[b + 1]], outputs[begin[b] : begin[b + 1]]
        last = len(x) - 1
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                signed = values[t, c] - before[b]
                size = abs(signed)
                if size > x[last]:
                    valid[t] = 0
                    size = x[last]
                k = min(1 + int(last * size / x[last]), last)  # right for even steps
                if not x[k - 1] <= size <= x[k]:
                    k = min(max(np.searchsorted(x, size), 1), last)
                size = y[k - 1] + (y[k] - y[k - 1]) * (size - x[k - 1]) / (x[k] - x[k - 1])
                values[t, c] = after[b] + (size if signed >= 0 else -size)
