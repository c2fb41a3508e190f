"""What amplifier and converter make of a signal."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.sensor.stage import Plan, Stage


class Threshold(Stage):
    """A taxel whose magnitude is below ``level`` reads zero; the others read as they are."""

    def __init__(self, plan: Plan):
        self._least, self._ranges = plan.parameter("level"), plan.ranges

    def act(self, values: np.ndarray, step: int) -> None:
        _limit(values, self._ranges, self._least, np.full(len(self._least), np.inf))


class Saturation(Stage):
    """A taxel whose magnitude is above ``level`` reads that magnitude in its direction."""

    def __init__(self, plan: Plan):
        self._most, self._ranges = plan.parameter("level"), plan.ranges

    def act(self, values: np.ndarray, step: int) -> None:
        _limit(values, self._ranges, np.zeros(len(self._most)), self._most)


class Quantisation(Stage):
    """Each channel is the nearest multiple of ``step``, halves to the even one."""

    def __init__(self, plan: Plan):
        self._width, self._ranges = plan.parameter("step"), plan.ranges

    def act(self, values: np.ndarray, step: int) -> None:
        _round(values, self._ranges, self._width)


@kernel
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


@kernel
def _round(values, ranges, width):
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                values[t, c] = np.rint(values[t, c] / width[b]) * width[b]
