"""The stage that subtracts a stored reading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tactile_sim.schema import Number
from tactile_sim.signal_chain.stage import Group, Stage, ranged


class TareMemory(NamedTuple):
    """State of the tare, which survives a reset."""

    zero: np.ndarray | None
    """(taxels, channels) subtracted from the readings; None: nothing was tared."""
    waiting: tuple[int, ...]
    """Indices in the group of the bodies whose time has not come yet."""


@dataclass(frozen=True)
class Tare(Stage):
    """The reading at some time after the start counts as zero from then on, without a call of ``~/tare``."""

    at: float = ranged(Number(least=0, unit="s"), "Time after the start [s].")
    has_memory = True

    @classmethod
    def start(cls, group: Group) -> TareMemory:
        return TareMemory(None, tuple(range(len(group.bodies))))

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: TareMemory, step: int) -> TareMemory:
        zero = memory.zero
        due = [k for k in memory.waiting if step >= group.steps(group.stages[k].at)]
        if due:
            zero = np.zeros_like(values) if zero is None else zero.copy()
            for k in due:
                taxels = slice(*group.ranges[k])
                zero[taxels] = values[taxels]
        if zero is not None:
            values -= zero
        return TareMemory(zero, tuple(k for k in memory.waiting if k not in due))
