"""Stages of the converter: smoothing, threshold and quantisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.common.errors import ConfigError
from tactile_sim.common.schema import DURATION, SCATTER, Flag, Integer, Number, Numbers, parameter
from tactile_sim.signal_chain.group import Draw, Group
from tactile_sim.signal_chain.stage import Codes, ScatteredStage, Stage, ranged


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
    def room(cls, group: Group, rate: float) -> int:
        """Return the number of weights, or 2: the low pass stores its lag and the last input."""
        return max(len(stage.weights) or 2 for stage in group.stages)

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return the weights of all b runs as one array (b * slots,), run by run.

        Unused weights are zero.
        """
        out = np.zeros((len(group.runs), cls.room(group, 0.0)))
        for row, stage in zip(out, group.run_stages, strict=True):
            row[: len(stage.weights)] = stage.weights
        return out.ravel()


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
