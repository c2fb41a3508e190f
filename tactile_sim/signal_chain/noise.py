"""Random stages: noise and drift.

Their random numbers depend only on the seed, stage, step, taxel and channel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.schema import Number
from tactile_sim.signal_chain.draws import fill_normal
from tactile_sim.signal_chain.group import Group
from tactile_sim.signal_chain.loops import span
from tactile_sim.signal_chain.stage import Stage, computation, ranged


@dataclass(frozen=True)
class Noise(Stage):
    """White Gaussian noise is added to each channel."""

    std: float = ranged(Number(least=0), "Standard deviation [units].")

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            begin, end, _ = span(own, b)
            std = np.float32(own.parameters[b, 0])
            one, other = now.work[0, : end - begin], now.work[1, : end - begin]
            for c in range(len(values)):
                if c % 2 == 0:
                    fill_normal(now.key, begin, c >> 1, one, other)
                row, drawn = values[c, begin:end], other if c % 2 else one
                for i in range(len(row)):
                    row[i] += std * drawn[i]


@dataclass(frozen=True)
class Drift(Stage):
    """A random walk is added to each channel."""

    rate: float = ranged(Number(least=0), "Standard deviation after 1 s [units/s^0.5]; it grows with √time.")
    has_memory = True

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the number of values in memory: the drift of each channel of each taxel in the group."""
        return group.channels * group.number

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        walk = memory.reshape((len(values), -1))
        for b in range(len(own.ranges)):
            begin, end, first = span(own, b)
            size = np.float32(own.parameters[b, 0] * np.sqrt(now.interval))
            one, other = now.work[0, : end - begin], now.work[1, : end - begin]
            for c in range(len(values)):
                if c % 2 == 0 and size > 0.0:
                    fill_normal(now.key, begin, c >> 1, one, other)
                row, place, drawn = (
                    values[c, begin:end],
                    walk[c, first : first + end - begin],
                    other if c % 2 else one,
                )
                if size > 0.0:
                    for i in range(len(row)):
                        here = place[i] + size * drawn[i]
                        row[i] += here
                        if now.keep:
                            place[i] = here
                else:
                    for i in range(len(row)):
                        row[i] += place[i]
