"""Stages of each taxel's amplifier.

Random numbers depend only on the seed, stage, step, taxel and channel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.common.schema import DURATION, LARGEST, SCATTER, Number, Numbers, parameter
from tactile_sim.signal_chain.group import Draw, Group
from tactile_sim.signal_chain.stage import ScatteredStage, Stage, ranged


@dataclass(frozen=True)
class Gain(ScatteredStage):
    """Each taxel has its own sensitivity."""

    value: float = ranged(Number(usual=(1e-3, 1e6)), "Factor for all taxels.", default=1.0)
    scatter: float = ranged(
        SCATTER, "Relative standard deviation between taxels, drawn by the seed.", default=0.0
    )
    limit: float = ranged(
        Number(above=0), "Largest input with a curve; the reading stays beyond it [units].", default=LARGEST
    )
    taxels: tuple[float, ...] = parameter(
        Numbers(Number()), "Factor for each taxel, in place of `value`.", default=()
    )
    second: tuple[float, ...] = parameter(
        Numbers(Number()), "Coefficient of x · abs(x) for each taxel: a curve.", default=()
    )
    third: tuple[float, ...] = parameter(Numbers(Number()), "Coefficient of x³ for each taxel.", default=())

    @classmethod
    def check(cls, group: Group) -> None:
        for name in ("taxels", "second", "third"):
            group.check_lists(name)

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return the factors of all taxels and the coefficients of their curves, if there are lists."""
        if not any(stage.second or stage.third for stage in group.stages):
            return super().constants(group, draw)
        zeros = [(0.0,) * (body.stop - body.start) for body in group.bodies]
        curves = [
            np.concatenate(
                [getattr(stage, name) or none for stage, none in zip(group.stages, zeros, strict=True)]
            )
            for name in ("second", "third")
        ]
        return np.concatenate([group.each_taxel(draw, "value"), *curves])


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


@dataclass(frozen=True)
class Drift(Stage):
    """A slow random change is added to each channel: a random walk, or bounded with a correlation time."""

    rate: float = ranged(Number(least=0), "Standard deviation after 1 s [units/s^0.5]; it grows with √time.")
    correlation_time: float = ranged(
        DURATION,
        "Time after which drift is forgotten [s], which bounds it to rate · √(time / 2); 0: a random walk.",
        default=0.0,
    )
    has_memory = True


@dataclass(frozen=True)
class Noise(Stage):
    """White Gaussian noise is added to each channel."""

    std: float = ranged(Number(least=0), "Standard deviation [units].")


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
