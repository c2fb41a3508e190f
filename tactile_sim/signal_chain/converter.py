"""Stages of the converter: smoothing, threshold and quantisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.errors import ConfigError
from tactile_sim.schema import DURATION, SCATTER, Flag, Integer, Number, Numbers, parameter
from tactile_sim.signal_chain.codes import Codes
from tactile_sim.signal_chain.group import Draw, Group
from tactile_sim.signal_chain.loops import ONE, ZERO, copy, span, squares
from tactile_sim.signal_chain.scatter import ScatteredStage, fill_deviations, fill_values
from tactile_sim.signal_chain.stage import Stage, computation, ranged

_INSTANT = 1e-300
"""Time constant at which the filter has no effect [s]."""


@dataclass(frozen=True)
class Smoothing(Stage):
    """Each channel is smoothed over time, by a first-order low-pass filter or by a weighted sum."""

    time_constant: float = ranged(DURATION, "Time constant of the low pass [s].", default=0.0)
    weights: tuple[float, ...] = parameter(
        Numbers(Number()),
        "Weights of the last readings, the newest first, in place of `time_constant`.",
        default=(),
    )
    has_memory = True

    @classmethod
    def check(cls, group: Group) -> None:
        for body, stage in zip(group.bodies, group.stages, strict=True):
            if bool(stage.weights) == (stage.time_constant != 0.0):
                raise ConfigError(
                    f"{body.name}.smoothing: must have time_constant or weights, "
                    f"got {'both' if stage.weights else 'none'}"
                )

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the number of values in memory: the index of the newest slot, and all slots.

        A slot stores one reading of all taxels in the group (channels, taxels).
        """
        return 1 + max(1, *(len(stage.weights) for stage in group.stages)) * group.channels * group.number

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return the weights of all b runs as one array (b * slots,), run by run.

        Unused weights are zero, and so are all weights of a run with a low-pass filter.
        """
        out = np.zeros((len(group.runs), max(1, *(len(stage.weights) for stage in group.stages))))
        for row, stage in zip(out, group.run_stages, strict=True):
            row[: len(stage.weights)] = stage.weights
        return out.ravel()

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        weights = own.constants.reshape((len(own.ranges), -1))
        count = weights.shape[1]
        slots = memory[1:].reshape((count, len(values), -1))
        newest = np.int64(memory[0])
        if not now.again:
            newest = (newest + 1) % count
        if now.keep:
            memory[0] = newest
        for b in range(len(own.ranges)):
            begin, end, first = span(own, b)
            constant = own.parameters[b, 0]
            gain = np.float32(1.0 if now.first else -np.expm1(-now.interval / max(constant, _INSTANT)))
            for c in range(len(values)):
                row = values[c, begin:end]
                if constant > 0.0:
                    smooth = slots[0, c, first : first + end - begin]
                    for i in range(len(row)):
                        row[i] = smooth[i] + gain * (row[i] - smooth[i])
                    if now.keep:
                        copy(row, smooth)
                    continue
                total = now.work[0, : end - begin]
                for i in range(len(row)):
                    total[i] = weights[b, 0] * row[i]
                for k in range(1, count):
                    older = slots[(newest - k) % count, c, first : first + end - begin]
                    for i in range(len(row)):
                        total[i] += weights[b, k] * older[i]
                if now.keep:
                    copy(row, slots[newest, c, first : first + end - begin])
                copy(total, row)


@dataclass(frozen=True)
class Threshold(ScatteredStage):
    """A taxel whose magnitude is below a level reads zero."""

    level: float = ranged(Number(least=0), "Minimum magnitude that is reported [units].", default=0.0)
    scatter: float = ranged(
        SCATTER, "Relative standard deviation between taxels, drawn by the seed.", default=0.0
    )
    taxels: tuple[float, ...] = parameter(
        Numbers(Number(least=0)), "Level of each taxel [units], in place of `level`.", default=()
    )

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            begin, end, _ = span(own, b)
            levels, deviations = now.work[0, : end - begin], now.work[1, : end - begin]
            fill_values(own, b, levels)
            fill_deviations(own, b, 0, deviations)
            for i in range(len(levels)):
                levels[i] *= ONE + deviations[i]
                levels[i] *= abs(levels[i])
            magnitudes = now.work[2, : end - begin]
            squares(values, begin, end, magnitudes)
            for c in range(len(values)):
                row = values[c, begin:end]
                for i in range(len(row)):
                    row[i] = ZERO if magnitudes[i] < levels[i] else row[i]


@dataclass(frozen=True)
class Quantisation(Stage):
    """Each channel is rounded to a multiple of a step (half to even) and limited to the range of its bits."""

    step: float = ranged(Number(above=0), "Width of a step [units].")
    bits: int = parameter(Integer(0, 32), "Number of bits, which limits the range; 0: no limit.", default=0)
    signed: bool = parameter(
        Flag(),
        "Whether the steps are -2^(bits-1) to 2^(bits-1) - 1, rather than 0 to 2^bits - 1.",
        default=False,
    )
    marks = True

    def output_codes(self, codes: Codes | None) -> Codes | None:
        if type(self.step) is tuple or not 0 < self.bits <= 16:
            return None
        return Codes(self.step, -(2 ** (self.bits - 1)) if self.signed else 0)

    # Adding 0.0 makes a negative zero positive, because codes have only one zero.
    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            begin, end, _ = span(own, b)
            width, bits, signed = own.parameters[b, 0], own.parameters[b, 1], own.parameters[b, 2]
            size = 2.0 ** (bits - signed)
            least = -np.inf if bits == 0.0 else -size * signed
            most = np.inf if bits == 0.0 else size - 1.0
            step, low, high = np.float32(width), np.float32(least), np.float32(most)
            for c in range(len(values)):
                row, beyond = values[c, begin:end], np.int32(0)
                for i in range(len(row)):
                    count = np.rint(row[i] / step)
                    beyond = np.int32(beyond | np.int32(not low <= count <= high))
                    row[i] = np.float64(count) * width + 0.0
                if beyond:
                    for i in range(len(row)):
                        count = np.rint(row[i] / step)
                        if not low <= count <= high:
                            now.valid[begin + i] = 0
                            row[i] = min(max(count, least), most) * width + 0.0
