"""First-order stages: viscoelastic material and receptors that adapt to a constant load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.schema import SHARE, TIME_CONSTANT
from tactile_sim.signal_chain.stage import Group, Stage, computation, ranged


@dataclass(frozen=True)
class LowPass(Stage):
    """Base class of stages that replace a load x by own * x + late * y, where T dy/dt = x - y.

    After a step to x, the reading is x * (own + late * (1 - exp(-t / T))). The load is assumed
    constant between two readings, so the filter is exact for any interval.
    """

    has_memory = True

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the size of the load and the filtered load, each (channels, taxels in the group)."""
        return 2 * group.channels * group.number


@dataclass(frozen=True)
class Viscoelasticity(LowPass):
    """Part of the load arrives late, as in a creeping elastomer, so hysteresis depends on its speed."""

    strength: float = ranged(SHARE, "Fraction of the load that arrives late, 0 to 1.")
    time_constant: float = ranged(TIME_CONSTANT, "Time constant of the late part [s].")

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            late, constant = own.parameters[b, 0], own.parameters[b, 1]
            _filter(values, own.ranges, b, 1.0 - late, late, constant, memory, now.interval, now.keep)


@dataclass(frozen=True)
class SlowAdaptation(LowPass):
    """The reading of a held load decays exponentially to a fraction of it."""

    fraction: float = ranged(SHARE, "Fraction of the initial reading that remains in the end, 0 to 1.")
    time_constant: float = ranged(TIME_CONSTANT, "Time constant of the decay [s].")

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            late, constant = own.parameters[b, 0] - 1.0, own.parameters[b, 1]
            _filter(values, own.ranges, b, 1.0, late, constant, memory, now.interval, now.keep)


@dataclass(frozen=True)
class FastAdaptation(LowPass):
    """Only changes are measured: a first-order high-pass filter."""

    time_constant: float = ranged(TIME_CONSTANT, "Time constant with which a held load fades [s].")

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            _filter(
                values, own.ranges, b, 1.0, -1.0, own.parameters[b, 0], memory, now.interval, now.keep
            )  # fmt: skip


@kernel(error_model="numpy")
def _filter(values, ranges, b, own, late, constant, memory, interval, keep):
    begin, end, first = ranges[b, 0], ranges[b, 1], ranges[b, 2]
    gain = -np.expm1(-interval / constant)
    size, half = end - begin, len(memory) // 2
    for c in range(len(values)):
        row, place = values[c, begin:end], c * (half // len(values)) + first
        load, average = memory[place : place + size], memory[half + place : half + place + size]
        if keep:
            for i in range(size):
                mean = average[i] + gain * (load[i] - average[i])
                average[i] = mean
                load[i] = row[i]
                row[i] = own * row[i] + late * mean
        else:
            for i in range(size):
                mean = average[i] + gain * (load[i] - average[i])
                row[i] = own * row[i] + late * mean
