"""Stages of the converter: low-pass filter, threshold, rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.errors import ConfigError
from tactile_sim.schema import Flag, Integer, Number, Numbers, parameter
from tactile_sim.signal_chain.stage import Group, Stage, ranged

_INSTANT = 1e-300
"""Time constant of a filter that does nothing [s]."""


@dataclass(frozen=True)
class Smoothing(Stage):
    """Each channel is smoothed over time, by a low pass of first order or by a weighted sum."""

    time_constant: float = ranged(
        Number(least=0, unit="s"), "Time constant of the low pass [s].", default=0.0
    )
    weights: tuple[float, ...] = parameter(
        Numbers(Number()), "Weights of the last readings, the newest first, in place of it.", default=()
    )
    has_memory = True

    @classmethod
    def start(cls, group: Group) -> None:
        for body, stage in zip(group.bodies, group.configured, strict=True):
            if bool(stage.weights) == (stage.time_constant != 0.0):
                raise ConfigError(
                    f"{body.name}.smoothing: must have time_constant or weights, "
                    f"got {'both' if stage.weights else 'none'}"
                )

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: tuple | None, step: int) -> tuple:
        """Smooth the readings.

        The memory holds the output (taxels of these bodies, channels) and the step of the last reading, and
        (input, step) of the last readings, newest first.
        """
        before, last, recent = memory or (group.take(values), step, ())
        constants = np.maximum(group.parameters["time_constant"], _INSTANT)
        gains = -np.expm1((last - step) * group.timestep / constants)
        most = max(len(stage.weights) for stage in group.stages)
        if most:
            recent = (group.take(values), step), *(reading for reading in recent if reading[1] != step)
        output = np.empty_like(before)
        _follow(values, group.ranges, gains, before, output)
        for stage, rows in zip(group.stages, group.rows, strict=True):
            if stage.weights:
                output[rows] = sum(
                    weight * reading[rows]
                    for weight, (reading, _) in zip(stage.weights, recent, strict=False)
                )
        if most:
            group.put(values, output)
        return output, step, recent[:most]


@dataclass(frozen=True)
class Threshold(Stage):
    """A taxel whose magnitude is below a level reads zero."""

    level: float = ranged(Number(least=0), "Least magnitude that is reported [units].", default=0.0)
    scatter: float = ranged(
        Number(least=0), "Relative standard deviation between taxels, drawn by the seed.", default=0.0
    )
    taxels: tuple[float, ...] = parameter(
        Numbers(Number(least=0)), "Level of each taxel [units], in place of `level`.", default=()
    )

    @classmethod
    def start(cls, group: Group) -> np.ndarray:
        """Return the levels (taxels of these bodies,)."""
        return group.each_taxel("level") * (1.0 + group.scattered()[:, 0])

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: np.ndarray, step: int) -> np.ndarray:
        _cut(values, group.ranges, memory)
        return memory


@dataclass(frozen=True)
class Quantisation(Stage):
    """Each channel is rounded to a multiple of a step, halves to the even one, within the bits' range."""

    step: float = ranged(Number(above=0), "Width of a step [units].")
    bits: int = parameter(Integer(0, 32), "Number of bits, which limits the range; 0: no limit.", default=0)
    signed: bool = parameter(
        Flag(), "Steps from -2^(bits-1) to 2^(bits-1) - 1, rather than 0 to 2^bits - 1.", default=False
    )
    marks = True

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: None, step: int) -> None:
        bits, signed = group.parameters["bits"], group.parameters["signed"]
        size = np.where(signed, 2.0 ** (bits - 1.0), 2.0**bits)
        least = np.where(bits == 0, -np.inf, np.where(signed, -size, 0.0))
        most = np.where(bits == 0, np.inf, size - 1.0)
        _round(values, group.ranges, group.parameters["step"], least, most, group.skin.valid)


@kernel(nogil=True)
def _follow(values, ranges, gains, before, after):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                after[k, c] = before[k, c] + gains[b] * (values[t, c] - before[k, c])
                values[t, c] = after[k, c]
            k += 1


@kernel(nogil=True)
def _cut(values, ranges, levels):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            square = 0.0
            for c in range(values.shape[1]):
                square += values[t, c] ** 2
            if square < levels[k] * abs(levels[k]):
                for c in range(values.shape[1]):
                    values[t, c] = 0.0
            k += 1


@kernel(nogil=True)
def _round(values, ranges, width, least, most, valid):
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                count = np.rint(values[t, c] / width[b])
                if not least[b] <= count <= most[b]:
                    valid[t] = 0
                    count = min(max(count, least[b]), most[b])
                values[t, c] = count * width[b]
