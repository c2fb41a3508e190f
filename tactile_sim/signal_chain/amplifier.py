"""Stages of each taxel's amplifier.

Random numbers depend only on the seed, stage, step, taxel and channel.
"""

from __future__ import annotations

from dataclasses import dataclass

from tactile_sim.schema import LARGEST, Number, Numbers, parameter
from tactile_sim.signal_chain.group import Group
from tactile_sim.signal_chain.stage import ScatteredStage, Stage, ranged


@dataclass(frozen=True)
class Gain(ScatteredStage):
    """Each taxel has its own sensitivity."""

    value: float = ranged(Number(), "Factor for all taxels.", default=1.0)
    scatter: float = ranged(
        Number(least=0), "Relative standard deviation between taxels, drawn by the seed.", default=0.0
    )
    taxels: tuple[float, ...] = parameter(
        Numbers(Number()), "Factor for each taxel, in place of `value`.", default=()
    )


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
    """A random walk is added to each channel."""

    rate: float = ranged(Number(least=0), "Standard deviation after 1 s [units/s^0.5]; it grows with √time.")
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
