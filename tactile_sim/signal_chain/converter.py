"""Stages of amplifier and analog-to-digital converter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.schema import Number, parameter
from tactile_sim.signal_chain.stage import Group, Stage


@dataclass(frozen=True)
class Threshold(Stage):
    """A taxel whose magnitude is below a level reads zero."""

    level: float = parameter(Number(least=0), "Least magnitude that is reported [units].")

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: None, step: int) -> None:
        least = group.parameters["level"]
        _limit(values, group.ranges, least, np.full(len(least), np.inf))


@dataclass(frozen=True)
class Saturation(Stage):
    """A taxel whose magnitude is above a level reads that level, in its own direction."""

    level: float = parameter(Number(above=0), "Greatest magnitude that is reported [units].")

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: None, step: int) -> None:
        most = group.parameters["level"]
        _limit(values, group.ranges, np.zeros(len(most)), most)


@dataclass(frozen=True)
class Quantisation(Stage):
    """Each channel is rounded to a multiple of a step, halves to the even one."""

    step: float = parameter(Number(above=0), "Width of a step [units].")

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: None, step: int) -> None:
        _round(values, group.ranges, group.parameters["step"])


@kernel(nogil=True)
def _limit(values, ranges, least, most):
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            square = 0.0
            for c in range(values.shape[1]):
                square += values[t, c] ** 2
            magnitude = np.sqrt(square)
            if 0.0 < magnitude < least[b]:
                for c in range(values.shape[1]):
                    values[t, c] = 0.0
            elif magnitude > most[b]:
                for c in range(values.shape[1]):
                    values[t, c] *= most[b] / magnitude


@kernel(nogil=True)
def _round(values, ranges, width):
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                values[t, c] = np.rint(values[t, c] / width[b]) * width[b]
