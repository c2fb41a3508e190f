"""Stages that convert force to counts and back: the transfer curve and its calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tactile_sim.errors import ConfigError
from tactile_sim.schema import Number, Numbers, parameter
from tactile_sim.signal_chain.group import Draw, Group
from tactile_sim.signal_chain.loops import ZERO, span
from tactile_sim.signal_chain.stage import Stage, computation, ranged

_POINTS = 2049
"""Number of points at which a polynomial is tabulated."""
_CELLS = 8192
"""Number of equal cells into which a curve's input range is divided to find segments quickly."""
_LAST_CELL = np.float32(_CELLS - 1)


@dataclass(frozen=True)
class Curve(Stage):
    """A curve from the magnitude of a channel to counts, specified as a table or a polynomial."""

    inputs: tuple[float, ...] = parameter(
        Numbers(Number(least=0)), "Inputs of a table [units], increasing from 0.", default=()
    )
    outputs: tuple[float, ...] = parameter(
        Numbers(Number(least=0)),
        "Outputs of the table [counts], increasing from 0; linear in between.",
        default=(),
    )
    coefficients: tuple[float, ...] = parameter(
        Numbers(Number(most=1e15)),
        "Polynomial in place of a table: coefficients of x, x², ... [counts].",
        default=(),
    )
    limit: float = parameter(
        Number(least=0),
        "Maximum input of the polynomial [units], up to which it must increase.",
        default=0.0,
    )
    baseline: float = ranged(Number(), "Counts without load.", default=0.0)
    inverse: ClassVar[bool] = False
    """True if the stage turns counts into units."""

    @classmethod
    def check(cls, group: Group) -> None:
        cls._tables(group)

    @classmethod
    def _tables(cls, group: Group) -> dict[tuple, tuple[np.ndarray, np.ndarray]]:
        """Return the inputs (m,) and outputs (m,) of the points of each distinct curve, both ascending.

        The keys are the parameters that `_law` returns.

        Raises:
            ConfigError: The parameters of a curve are invalid.
        """
        return {
            _law(stage): _table(stage, f"{body.name}.{cls.key()}")
            for body, stage in zip(group.bodies, group.stages, strict=True)
        }

    @classmethod
    def integers(cls, group: Group) -> np.ndarray:
        """Return the lookup tables of all distinct curves as one array.

        The first number is 1 if the curves are inverted. The next b numbers, one for each run, are the index
        at which the table of the run's curve begins. A table has 3 + `_CELLS` numbers: the indices of the
        curve's first and last points in `constants`, the largest number of points in a cell, and one index
        for each cell. This is the index of the point that ends the segment at the start of the cell, counted
        from the curve's first point.
        """
        places: dict[tuple, int] = {}
        rows: list[np.ndarray] = []
        begin = 0
        for law, (before, _) in cls._tables(group).items():
            last = len(before) - 1
            ends = np.searchsorted(before, np.linspace(0.0, before[-1], _CELLS + 1)[:-1]).clip(1, last)
            places[law] = 1 + len(group.runs) + len(rows) * (3 + _CELLS)
            rows.append(np.r_[begin, begin + last, np.diff(ends, append=last).max(), ends])
            begin += len(before)
        starts = [places[_law(stage)] for stage in group.run_stages]
        return np.concatenate([[cls.inverse], starts, *rows]).astype(np.int32)

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return the points of all distinct curves as one array (3 m,), where m is the number of points.

        It contains the inputs of all points, then their outputs, then the slope of the segment before each
        point.
        """
        tables = cls._tables(group).values()
        columns = zip(*((x, y, np.r_[0.0, np.diff(y) / np.diff(x)]) for x, y in tables), strict=True)
        return np.concatenate([np.concatenate(column) for column in columns])

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        entries, inverse = own.constants, own.integers[0]
        for b in range(len(own.ranges)):
            begin, end, _ = span(own, b)
            index = own.integers[own.integers[1 + b] :]
            first, last, most, ends = index[0], index[1] - index[0], index[2], index[3 : 3 + _CELLS]
            third = len(entries) // 3
            x, y = entries[first : first + last + 1], entries[third + first : third + first + last + 1]
            slopes = entries[2 * third + first : 2 * third + first + last + 1]
            scale, limit, baseline = np.float32(_CELLS) / x[last], x[last], np.float32(own.parameters[b, 1])
            before, after = (baseline, ZERO) if inverse else (ZERO, baseline)
            sizes, cells = now.work[1, : end - begin], now.work[2].view(np.int32)[: end - begin]
            for c in range(len(values)):
                row, beyond = values[c, begin:end], np.int32(0)
                # Only the search cannot be vectorized, so it has a separate loop.
                for i in range(len(row)):
                    size = abs(row[i] - before)
                    beyond = np.int32(beyond | np.int32(size > limit))
                    size = size if size < limit else limit
                    cell = size * scale
                    sizes[i] = size
                    cells[i] = np.int32(cell if cell < _LAST_CELL else _LAST_CELL)
                if beyond and not inverse:
                    for i in range(len(row)):
                        if abs(row[i] - before) > limit:
                            now.valid[begin + i] = 0
                if most <= 1:
                    for i in range(len(row)):
                        # Unsigned, because Numba otherwise checks for negative indices.
                        k = np.uint32(ends[np.uint32(cells[i])])
                        k = np.uint32(k + np.uint32(sizes[i] > x[k]))
                        sizes[i] = y[k] + slopes[k] * (sizes[i] - x[k])
                else:
                    for i in range(len(row)):
                        k = min(max(np.searchsorted(x, sizes[i]), 1), last)
                        sizes[i] = y[k] + slopes[k] * (sizes[i] - x[k])
                for i in range(len(row)):
                    row[i] = after + np.copysign(sizes[i], row[i] - before)


@dataclass(frozen=True)
class Transfer(Curve):
    """Each channel becomes counts; the curve is odd about the baseline and saturates at its end."""

    marks = True


@dataclass(frozen=True)
class Calibration(Curve):
    """The driver turns counts into units with the inverse of a curve; the sensor's own curve may differ."""

    inverse = True

    @classmethod
    def _tables(cls, group: Group) -> dict[tuple, tuple[np.ndarray, np.ndarray]]:
        return {law: (outputs, inputs) for law, (inputs, outputs) in super()._tables(group).items()}


def _law(curve: Curve) -> tuple:
    """Return the parameters that define a curve's shape, without its baseline."""
    return curve.inputs, curve.outputs, curve.coefficients, curve.limit


def _table(curve: Curve, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Tabulate a curve.

    Args:
        curve: The stage with the parameters.
        where: Prefix for error messages (pad and key).

    Returns:
        Inputs (m,) and outputs (m,), which both begin with 0 and increase.

    Raises:
        ConfigError: The parameters are invalid, or the curve does not increase.
    """
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
