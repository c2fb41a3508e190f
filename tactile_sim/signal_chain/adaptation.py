"""Stages of receptors that adapt to a held load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.schema import SHARE, TIME_CONSTANT, parameter
from tactile_sim.signal_chain.stage import Group, Stage


@dataclass(frozen=True)
class SlowAdaptation(Stage):
    """The reading of a held load decays exponentially to a fraction of it."""

    fraction: float = parameter(SHARE, "Fraction that remains in the end, 0 to 1.")
    time_constant: float = parameter(TIME_CONSTANT, "Time constant of the decay [s].")
    has_memory = True

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: tuple | None, step: int) -> tuple:
        """Memory: load and low-passed load (taxels of these bodies, channels), step of the last reading."""
        return _adapt(values, group, 1.0 - group.parameters["fraction"], memory, step)


@dataclass(frozen=True)
class FastAdaptation(Stage):
    """Only changes are measured: a high-pass filter of first order."""

    time_constant: float = parameter(TIME_CONSTANT, "Time constant with which a held load fades [s].")
    has_memory = True

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: tuple | None, step: int) -> tuple:
        """Memory: as in `SlowAdaptation`."""
        return _adapt(values, group, np.ones(len(group.bodies)), memory, step)


def _adapt(values: np.ndarray, group: Group, removed: np.ndarray, memory: tuple | None, step: int) -> tuple:
    """Subtract removed (b,) times the low-passed load y, where T dy/dt = x - y for a load x.

    A step to x then reads x (f + (1 - f) exp(-t / T)) with f = 1 - removed. The load counts as constant
    between two readings, for which the filter is exact whatever the time between them.
    """
    load, average, last = memory or (group.zeros(values), group.zeros(values), step)
    gain = -np.expm1((last - step) * group.timestep / group.parameters["time_constant"])
    next_load, next_average = np.empty_like(load), np.empty_like(load)
    _filter(values, group.ranges, removed, gain, load, average, next_load, next_average)
    return next_load, next_average, step


@kernel(nogil=True)
def _filter(values, ranges, removed, gain, load, average, next_load, next_average):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                mean = average[k, c] + gain[b] * (load[k, c] - average[k, c])
                next_load[k, c] = values[t, c]
                next_average[k, c] = mean
                values[t, c] -= removed[b] * mean
            k += 1
