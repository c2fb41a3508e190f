"""Stage that subtracts a stored reading."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tactile_sim.schema import DURATION
from tactile_sim.signal_chain.group import Group
from tactile_sim.signal_chain.loops import ZERO, span
from tactile_sim.signal_chain.stage import SLACK, Stage, computation, ranged


@dataclass(frozen=True)
class Tare(Stage):
    """The reading at some time after the start is subtracted from all later ones, as if by ``~/tare``."""

    at: float = ranged(DURATION, "Time after the start [s].")
    has_memory = True

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the number of values in memory: flags, and the reading that is subtracted.

        There is one flag for the environment and one for each run of pads. The reading has the shape
        (channels, taxels of the skin). A reset keeps this memory, unlike that of the other stages. If no pad
        has the stage, the reading is stored only after the first ``~/tare``, which sets ``group.room`` to 1.
        """
        return 1 + len(group.runs) + group.room * group.channels * len(group.skin.positions)

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        if memory[0] == 0.0 and len(own.ranges) == 0:
            return
        done = memory[1 : 1 + len(own.ranges)]
        zero = memory[1 + len(own.ranges) :].reshape(values.shape)
        if memory[0] != 0.0:
            for c in range(len(values)):
                row, subtracted = values[c], zero[c]
                for i in range(len(row)):
                    row[i] -= subtracted[i]
        for b in range(len(own.ranges)):
            if done[b] == 0.0 and now.step >= math.ceil(own.parameters[b, 0] / now.timestep - SLACK):
                begin, end, _ = span(own, b)
                if now.keep:
                    memory[0] = done[b] = 1.0
                for c in range(len(values)):
                    row, subtracted = values[c, begin:end], zero[c, begin:end]
                    for i in range(len(row)):
                        if now.keep:
                            subtracted[i] += row[i]
                        row[i] = ZERO
