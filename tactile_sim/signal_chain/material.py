"""Stages in the skin's material, before any receptor: cross-talk and hysteresis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.schema import SHARE, parameter
from tactile_sim.signal_chain.stage import Group, Stage


@dataclass(frozen=True)
class CrossTalk(Stage):
    """Each taxel passes a share of its load to its neighbors on the skin, in equal parts; none is lost."""

    share: float = parameter(SHARE, "Fraction that is passed on, 0 to 1.")

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: None, step: int) -> None:
        _pass_on(values, values.copy(), group.ranges, group.parameters["share"], *group.neighbours)


@dataclass(frozen=True)
class Hysteresis(Stage):
    """Friction in the material holds the reading back, up and down, by up to a fraction of the load."""

    fraction: float = parameter(SHARE, "Fraction of the load, 0 to 1.")
    has_memory = True

    # The play of a joint with dry friction that grows with the load, as Coulomb's does. The reading stays
    # where it is while it is within fraction * |x| of the load x; otherwise it is the nearest point that is.
    # It rises as (1 - fraction) x, falls as (1 + fraction) x, and is zero without load. A cycle to F and back
    # encloses fraction (1 - fraction) / (1 + fraction) F^2. For vectors the interval is a ball, so that no
    # direction is special. Visintin, Differential Models of Hysteresis (1994), III.2.
    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: np.ndarray | None, step: int) -> np.ndarray:
        """Memory: (taxels of these bodies, channels) the last reading."""
        before = group.zeros(values) if memory is None else memory
        after = np.empty_like(before)
        _hold_back(values, group.ranges, group.parameters["fraction"], before, after)
        return after


@kernel(nogil=True)
def _pass_on(values, loads, ranges, share, begin, beside):
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            number = begin[t + 1] - begin[t]
            if number == 0:
                continue
            for c in range(values.shape[1]):
                passed = share[b] * loads[t, c]
                if passed != 0.0:
                    values[t, c] -= passed
                    for e in range(begin[t], begin[t + 1]):
                        values[beside[e], c] += passed / number


@kernel(nogil=True)
def _hold_back(values, ranges, fraction, before, after):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            load, apart = 0.0, 0.0
            for c in range(values.shape[1]):
                load += values[t, c] ** 2
                apart += (before[k, c] - values[t, c]) ** 2
            width, apart = fraction[b] * np.sqrt(load), np.sqrt(apart)
            for c in range(values.shape[1]):
                held = before[k, c]
                if apart > width:
                    held = values[t, c] + (held - values[t, c]) * (width / apart)
                after[k, c] = held
                values[t, c] = held
            k += 1
