"""Stages of the amplifier of each taxel, besides its noise: gain, offset and range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.schema import LARGEST, Number, Numbers, parameter
from tactile_sim.signal_chain.stage import Group, Stage, ranged


@dataclass(frozen=True)
class Gain(Stage):
    """Each taxel has its own sensitivity."""

    value: float = ranged(Number(), "Factor of all taxels.", default=1.0)
    scatter: float = ranged(
        Number(least=0), "Relative standard deviation between taxels, drawn by the seed.", default=0.0
    )
    taxels: tuple[float, ...] = parameter(
        Numbers(Number()), "Factor of each taxel, in place of `value`.", default=()
    )

    @classmethod
    def start(cls, group: Group) -> np.ndarray:
        """Return the factors (taxels of these bodies,)."""
        return group.each_taxel("value") * (1.0 + group.scattered()[:, 0])

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: np.ndarray, step: int) -> np.ndarray:
        _scale(values, group.ranges, memory)
        return memory


@dataclass(frozen=True)
class Offset(Stage):
    """Each channel reads a constant without load: the bias of the sensor."""

    value: float = ranged(Number(), "Offset of all channels [units].", default=0.0)
    scatter: float = ranged(
        Number(least=0), "Standard deviation between channels [units], drawn by the seed.", default=0.0
    )
    taxels: tuple[float, ...] = parameter(
        Numbers(Number()), "Offset of all channels of each taxel [units], in place of `value`.", default=()
    )

    @classmethod
    def start(cls, group: Group) -> np.ndarray:
        """Return the offsets (taxels of these bodies,) without their scatter."""
        return group.each_taxel("value")

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: np.ndarray, step: int) -> np.ndarray:
        channels = values.shape[1]
        if channels not in group.cache:
            group.cache[channels] = memory[:, None] + group.scattered(channels)
        _add(values, group.ranges, group.cache[channels])
        return memory


@dataclass(frozen=True)
class Saturation(Stage):
    """A taxel whose magnitude is above a level reads that level, in its own direction."""

    level: float = ranged(Number(above=0), "Greatest magnitude [units].", default=LARGEST)
    normal: float = ranged(Number(above=0), "Greatest part along the normal [units].", default=LARGEST)
    shear: float = ranged(Number(above=0), "Greatest part across the normal [units].", default=LARGEST)
    marks = True

    # In the world's frame the normal is not known: there the wider of both ranges limits the magnitude.
    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: None, step: int) -> None:
        most = group.parameters
        if min(most["normal"].min(), most["shear"].min()) < LARGEST:
            parts = most["normal"], most["shear"]
            _limit_parts(values, group.ranges, group.skin.axes, *parts, group.skin.valid)
        _limit(values, group.ranges, most["level"], group.skin.valid)


@kernel(nogil=True)
def _scale(values, ranges, factors):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                values[t, c] *= factors[k]
            k += 1


@kernel(nogil=True)
def _add(values, ranges, offsets):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                values[t, c] += offsets[k, c]
            k += 1


@kernel(nogil=True)
def _limit(values, ranges, most, valid):
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            square = 0.0
            for c in range(values.shape[1]):
                square += values[t, c] ** 2
            if square > most[b] * most[b]:
                valid[t] = 0
                ratio = most[b] / np.sqrt(square)
                for c in range(values.shape[1]):
                    values[t, c] *= ratio


@kernel(nogil=True)
def _limit_parts(values, ranges, axes, normal, shear, valid):
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            split = values.shape[1] == 3 and axes[t].any()
            along, square = 0.0, 0.0
            for c in range(values.shape[1]):
                square += values[t, c] ** 2
                if split:
                    along += values[t, c] * axes[t, c]
            if not split:
                most = max(normal[b], shear[b]) if values.shape[1] == 3 else normal[b]
                ratio = most / np.sqrt(square) if square > most * most else 1.0
                if ratio < 1.0:
                    valid[t] = 0
                    for c in range(values.shape[1]):
                        values[t, c] *= ratio
                continue
            across = np.sqrt(max(square - along * along, 0.0))
            inward = min(max(along, -normal[b]), normal[b])
            ratio = shear[b] / across if across > shear[b] else 1.0
            if ratio < 1.0 or inward != along:
                valid[t] = 0
                for c in range(3):
                    values[t, c] = ratio * (values[t, c] - along * axes[t, c]) + inward * axes[t, c]
