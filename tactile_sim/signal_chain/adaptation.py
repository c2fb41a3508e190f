"""First-order stages: viscoelastic material and receptors that adapt to a constant load."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from tactile_sim.schema import SHARE, TIME_CONSTANT
from tactile_sim.signal_chain.group import Draw, Group
from tactile_sim.signal_chain.loops import awake_span, copy, span
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
    recalls = rests = True

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the number of values in memory: one or two for each channel and taxel in the group.

        They are the lag x - y and, unless ``group.linked``, the last load x. Under a constant load, the lag
        decays to zero without loss of precision, however short the interval is compared to T.
        """
        return (2 - group.linked) * group.channels * group.number

    @classmethod
    @abstractmethod
    def coefficients(cls, parameters: np.ndarray) -> tuple:
        """Return own, late and T of r runs, as arrays (r,) or numbers, from the parameters (p, r)."""

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return the coefficients as one array (3 r,): own, late and T of each run."""
        runs = draw.parameters[group.runs]
        return np.column_stack(np.broadcast_arrays(*cls.coefficients(runs.T))).ravel()

    @classmethod
    def integers(cls, group: Group) -> np.ndarray:
        """Return two flags: ``group.linked`` and ``group.recalled``."""
        return np.array([group.linked, group.recalled], np.int32)

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        linked, recalled = own.integers[0], own.integers[1]
        size = len(memory) if linked else len(memory) // 2
        for b in range(len(own.ranges)):
            begin, end, first = span(own, b)
            rest, late = own.constants[3 * b], own.constants[3 * b + 1]
            gain, at = np.float32(-np.expm1(-now.interval / own.constants[3 * b + 2])), begin
            while at < end:
                start, at = awake_span(now.awake, at, end)
                for c in range(len(values)):
                    row, place = values[c, start:at], c * (size // len(values)) + first + start - begin
                    lags, last = memory[place : place + len(row)], now.last[c, start:at]
                    load = last if linked else memory[size + place : size + place + len(row)]
                    before = now.work[0, : at - start]  # because the loop below can overwrite ``last``
                    if recalled:
                        for i in range(len(row)):
                            before[i] = rest * load[i] - late * lags[i]
                    for i in range(len(row)):
                        x = row[i]
                        lag = lags[i] - gain * lags[i] + (x - load[i])
                        row[i] = rest * x - late * lag
                        if now.keep:
                            load[i], lags[i] = x, lag
                    if recalled:
                        copy(before, last)


@dataclass(frozen=True)
class Viscoelasticity(LowPass):
    """Part of the load arrives late, as in a creeping elastomer; hysteresis depends on the loading rate."""

    strength: float = ranged(SHARE, "Fraction of the load that arrives late, 0 to 1.")
    time_constant: float = ranged(TIME_CONSTANT, "Time constant of the late part [s].")

    @classmethod
    def coefficients(cls, parameters: np.ndarray) -> tuple:
        strength, time_constant = parameters
        return 1.0, strength, time_constant


@dataclass(frozen=True)
class SlowAdaptation(LowPass):
    """The reading of a held load decays exponentially to a fraction of its initial value."""

    fraction: float = ranged(SHARE, "Fraction of the initial reading that remains in the end, 0 to 1.")
    time_constant: float = ranged(TIME_CONSTANT, "Time constant of the decay [s].")

    @classmethod
    def coefficients(cls, parameters: np.ndarray) -> tuple:
        fraction, time_constant = parameters
        return fraction, fraction - 1.0, time_constant


@dataclass(frozen=True)
class FastAdaptation(LowPass):
    """Only changes are measured: a first-order high-pass filter."""

    time_constant: float = ranged(TIME_CONSTANT, "Time constant with which a held load fades [s].")

    @classmethod
    def coefficients(cls, parameters: np.ndarray) -> tuple:
        return 0.0, -1.0, parameters[0]
