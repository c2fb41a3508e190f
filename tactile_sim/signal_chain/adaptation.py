"""Stages of first order in time: viscoelastic material and receptors that adapt to a held load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.schema import SHARE, TIME_CONSTANT
from tactile_sim.signal_chain.stage import Group, Stage, ranged


@dataclass(frozen=True)
class Viscoelasticity(Stage):
    """Part of the load arrives late, as in a creeping elastomer, so faster cycles have another hysteresis."""

    strength: float = ranged(SHARE, "Fraction of the load that arrives late, 0 to 1.")
    time_constant: float = ranged(TIME_CONSTANT, "Time constant of the late part [s].")
    has_memory = True

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: tuple | None, step: int) -> tuple:
        """Memory: load and low-passed load (taxels of these bodies, channels), step of the last reading."""
        late = group.parameters["strength"]
        return _add_low_pass(values, group, 1.0 - late, late, memory, step)


@dataclass(frozen=True)
class SlowAdaptation(Stage):
    """The reading of a held load decays exponentially to a fraction of it."""

    fraction: float = ranged(SHARE, "Fraction that remains in the end, 0 to 1.")
    time_constant: float = ranged(TIME_CONSTANT, "Time constant of the decay [s].")
    has_memory = True

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: tuple | None, step: int) -> tuple:
        """Memory: as in `Viscoelasticity`."""
        remains = group.parameters["fraction"]
        return _add_low_pass(values, group, np.ones(len(remains)), remains - 1.0, memory, step)


@dataclass(frozen=True)
class FastAdaptation(Stage):
    """Only changes are measured: a high-pass filter of first order."""

    time_constant: float = ranged(TIME_CONSTANT, "Time constant with which a held load fades [s].")
    has_memory = True

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: tuple | None, step: int) -> tuple:
        """Memory: as in `Viscoelasticity`."""
        ones = np.ones(len(group.bodies))
        return _add_low_pass(values, group, ones, -ones, memory, step)


def _add_low_pass(
    values: np.ndarray, group: Group, own: np.ndarray, late: np.ndarray, memory: tuple | None, step: int
) -> tuple:
    """Replace a load x by own x + late y, where T dy/dt = x - y; own and late (b,).

    A step to x then reads x (own + late (1 - exp(-t / T))). The load counts as constant between two readings,
    for which the filter is exact at any interval.
    """
    load, average, last = memory or (group.zeros(values), group.zeros(values), step)
    gain = -np.expm1((last - step) * group.timestep / group.parameters["time_constant"])
    next_load, next_average = np.empty_like(load), np.empty_like(load)
    _filter(values, group.ranges, own, late, gain, load, average, next_load, next_average)
    return next_load, next_average, step


@kernel(nogil=True)
def _filter(values, ranges, own, late, gain, load, average, next_load, next_average):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                mean = average[k, c] + gain[b] * (load[k, c] - average[k, c])
                next_load[k, c] = values[t, c]
                next_average[k, c] = mean
                values[t, c] = own[b] * values[t, c] + late[b] * mean
            k += 1
