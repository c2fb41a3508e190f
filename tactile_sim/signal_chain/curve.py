"""Stages that convert force to counts and back: the transfer curve and its calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.common.errors import ConfigError
from tactile_sim.common.schema import Number, Numbers, parameter
from tactile_sim.signal_chain.group import Draw, Group
from tactile_sim.signal_chain.stage import Stage, ranged

_POINTS = 2049
"""Number of points at which a polynomial is tabulated."""
_CELLS = 8192
"""Number of equal cells into which a curve's input range is divided, as in ``core/src/stages.cpp``."""


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

        The first b numbers, one for each run, are the index at which the table of the run's curve begins. A
        table has 3 + `_CELLS` numbers: the indices of the curve's first and last points in `constants`, the
        largest number of points in a cell, and one index for each cell. This is the index of the point that
        ends the segment at the start of the cell, counted from the curve's first point.
        """
        places: dict[tuple, int] = {}
        rows: list[np.ndarray] = []
        begin = 0
        for law, (before, _) in cls._tables(group).items():
            last = len(before) - 1
            ends = np.searchsorted(before, np.linspace(0.0, before[-1], _CELLS + 1)[:-1]).clip(1, last)
            places[law] = len(group.runs) + len(rows) * (3 + _CELLS)
            rows.append(np.r_[begin, begin + last, np.diff(ends, append=last).max(), ends])
            begin += len(before)
        starts = [places[_law(stage)] for stage in group.run_stages]
        return np.concatenate([starts, *rows]).astype(np.int32)

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return the points of all distinct curves as one array (3 m,), where m is the number of points.

        The numbers of a point are its input, its output and the slope of the segment before it.
        """
        tables = cls._tables(group).values()
        return np.concatenate([np.c_[x, y, np.r_[0.0, np.diff(y) / np.diff(x)]].ravel() for x, y in tables])


@dataclass(frozen=True)
class Transfer(Curve):
    """Each channel becomes counts; the curve is odd about the baseline and saturates at its end."""

    marks = True


@dataclass(frozen=True)
class Calibration(Curve):
    """The driver turns counts into units with the inverse of a curve; the sensor's own curve may differ."""

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
