"""First-order stages: viscoelastic material and receptors that adapt to a constant load."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.schema import SHARE, TIME_CONSTANT
from tactile_sim.signal_chain.group import Group
from tactile_sim.signal_chain.loops import copy
from tactile_sim.signal_chain.stage import Stage, computation, ranged


@dataclass(frozen=True)
class LowPass(Stage):
    """Base class of stages that are first-order filters of the load x.

    The output is own * x - late * (x - y), where y follows the load: T dy/dt = x - y. Each subclass chooses
    the coefficients own and late, and the time constant T. After a step of the load from 0 to x, the reading
    is x * (own - late * exp(-t / T)). If the load is constant between two readings, the filter is exact for
    any interval.
    """

    has_memory = True
    recalls = True

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the number of values in memory: one or two for each channel and taxel in the group.

        They are the lag x - y and, unless ``group.linked``, the last load x. Under a constant load, the lag
        decays to zero without loss of precision, however short the interval is compared to T.
        """
        return (2 - group.linked) * group.channels * group.number


@dataclass(frozen=True)
class Viscoelasticity(LowPass):
    """Part of the load arrives late, as in a creeping elastomer; hysteresis depends on the loading rate."""

    strength: float = ranged(SHARE, "Fraction of the load that arrives late, 0 to 1.")
    time_constant: float = ranged(TIME_CONSTANT, "Time constant of the late part [s].")

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            late, constant = own.parameters[b, 0], own.parameters[b, 1]
            _filter(values, own.ranges, b, 1.0, late, constant, memory, now)


@dataclass(frozen=True)
class SlowAdaptation(LowPass):
    """The reading of a held load decays exponentially to a fraction of its initial value."""

    fraction: float = ranged(SHARE, "Fraction of the initial reading that remains in the end, 0 to 1.")
    time_constant: float = ranged(TIME_CONSTANT, "Time constant of the decay [s].")

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            rest, constant = own.parameters[b, 0], own.parameters[b, 1]
            _filter(values, own.ranges, b, rest, rest - 1.0, constant, memory, now)


@dataclass(frozen=True)
class FastAdaptation(LowPass):
    """Only changes are measured: a first-order high-pass filter."""

    time_constant: float = ranged(TIME_CONSTANT, "Time constant with which a held load fades [s].")

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            constant = own.parameters[b, 0]
            _filter(values, own.ranges, b, 0.0, -1.0, constant, memory, now)


@kernel(error_model="numpy")
def _filter(values, ranges, b, own, late, constant, memory, now):
    begin, end, first = ranges[b, 0], ranges[b, 1], ranges[b, 2]
    gain, own, late = np.float32(-np.expm1(-now.interval / constant)), np.float32(own), np.float32(late)
    size, taxels = end - begin, ranges[-1, 2] + ranges[-1, 1] - ranges[-1, 0]
    for c in range(len(values)):
        row, last, place = values[c, begin:end], now.last[c, begin:end], c * taxels + first
        lags = memory[place : place + size]
        if len(memory) > len(values) * taxels:  # the group is not linked
            load = memory[len(values) * taxels + place :][:size]
            copy(load, last)
            if now.keep:
                copy(row, load)
        if now.keep:
            for i in range(size):
                lag = lags[i] - gain * lags[i] + (row[i] - last[i])
                last[i] = own * last[i] - late * lags[i]
                lags[i] = lag
                row[i] = own * row[i] - late * lag
        else:
            for i in range(size):
                lag = lags[i] - gain * lags[i] + (row[i] - last[i])
                last[i] = own * last[i] - late * lags[i]
                row[i] = own * row[i] - late * lag
