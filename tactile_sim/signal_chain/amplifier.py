"""Stages of each taxel's amplifier, except noise: gain, offset and saturation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.schema import LARGEST, SCATTER, Number, Numbers, parameter
from tactile_sim.signal_chain.group import Group
from tactile_sim.signal_chain.loops import ONE, ZERO, span, squares
from tactile_sim.signal_chain.scatter import ScatteredStage, fill_deviations, fill_values
from tactile_sim.signal_chain.stage import Stage, computation, ranged


@dataclass(frozen=True)
class Gain(ScatteredStage):
    """Each taxel has its own sensitivity."""

    value: float = ranged(Number(usual=(1e-3, 1e6)), "Factor for all taxels.", default=1.0)
    scatter: float = ranged(
        SCATTER, "Relative standard deviation between taxels, drawn by the seed.", default=0.0
    )
    taxels: tuple[float, ...] = parameter(
        Numbers(Number()), "Factor for each taxel, in place of `value`.", default=()
    )

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            begin, end, _ = span(own, b)
            factors, deviations = now.work[0, : end - begin], now.work[1, : end - begin]
            fill_values(own, b, factors)
            fill_deviations(own, b, 0, deviations)
            for i in range(len(factors)):
                factors[i] *= ONE + deviations[i]
            for c in range(len(values)):
                row = values[c, begin:end]
                for i in range(len(row)):
                    row[i] *= factors[i]


@dataclass(frozen=True)
class Offset(ScatteredStage):
    """Each channel reads a constant without load: the sensor's bias."""

    value: float = ranged(Number(), "Offset of all channels [units].", default=0.0)
    scatter: float = ranged(
        Number(least=0), "Standard deviation between channels [units], drawn by the seed.", default=0.0
    )
    taxels: tuple[float, ...] = parameter(
        Numbers(Number()), "Offset of all channels of each taxel [units], in place of `value`.", default=()
    )

    @classmethod
    def columns(cls, group: Group) -> int:
        return group.channels

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            begin, end, _ = span(own, b)
            offsets, deviations = now.work[0, : end - begin], now.work[1, : end - begin]
            fill_values(own, b, offsets)
            for c in range(len(values)):
                fill_deviations(own, b, c, deviations)
                row = values[c, begin:end]
                for i in range(len(row)):
                    row[i] += offsets[i] + deviations[i]


@dataclass(frozen=True)
class Saturation(Stage):
    """A taxel whose magnitude is above a level reads that level; normal and shear have their own limits."""

    level: float = ranged(Number(above=0), "Maximum magnitude [units].", default=LARGEST)
    normal: float = ranged(
        Number(above=0), "Maximum of the component along the normal [units].", default=LARGEST
    )
    shear: float = ranged(
        Number(above=0), "Maximum of the component across the normal [units].", default=LARGEST
    )
    marks = True

    # In the world frame the normal is unknown, so the larger of these two limits applies to the magnitude.
    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            begin, end, _ = span(own, b)
            level, normal = np.float32(own.parameters[b, 0]), np.float32(own.parameters[b, 1])
            shear = np.float32(own.parameters[b, 2])
            magnitudes = now.work[0, : end - begin]
            squares(values, begin, end, magnitudes)
            least, beyond = min(level, normal, shear), np.int32(0)
            for i in range(len(magnitudes)):
                beyond = np.int32(beyond | np.int32(magnitudes[i] > least * least))
            if beyond:
                _limit_parts(values, begin, end, now.axes, normal, shear, now.valid)
                _limit(values, begin, end, level, now.valid)


@kernel(error_model="numpy", counted=False)
def _limit(values, begin, end, most, valid):
    for t in range(begin, end):
        square = ZERO
        for c in range(len(values)):
            square += values[c, t] * values[c, t]
        if square > most * most:
            valid[t] = 0
            ratio = most / np.sqrt(square)
            for c in range(len(values)):
                values[c, t] *= ratio


@kernel(error_model="numpy", counted=False)
def _limit_parts(values, begin, end, axes, normal, shear, valid):
    for t in range(begin, end):
        split = len(values) == 3 and (axes[0, t] != ZERO or axes[1, t] != ZERO or axes[2, t] != ZERO)
        along, square = ZERO, ZERO
        for c in range(len(values)):
            square += values[c, t] * values[c, t]
            if split:
                along += values[c, t] * axes[c, t]
        if not split:
            most = max(normal, shear) if len(values) == 3 else normal
            if square > most * most:
                valid[t] = 0
                for c in range(len(values)):
                    values[c, t] *= most / np.sqrt(square)
            continue
        across = np.sqrt(max(square - along * along, ZERO))
        inward = min(max(along, -normal), normal)
        ratio = shear / across if across > shear else ONE
        if ratio < ONE or inward != along:
            valid[t] = 0
            for c in range(3):
                values[c, t] = ratio * (values[c, t] - along * axes[c, t]) + inward * axes[c, t]
