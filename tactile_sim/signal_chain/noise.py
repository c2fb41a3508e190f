"""Random stages: noise and drift.

Their random numbers depend only on the seed, stage, step, taxel and channel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.schema import Number
from tactile_sim.signal_chain.draws import add_normal
from tactile_sim.signal_chain.group import Group
from tactile_sim.signal_chain.loops import copy, span
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
            for c in range(len(values)):
                add_normal(now.normals, now.key, begin, c, std, values[c, begin:end])


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
            for c in range(len(values)):
                row, place = values[c, begin:end], walk[c, first : first + end - begin]
                here = place if now.keep else now.work[0, : end - begin]
                if not now.keep:
                    copy(place, here)
                if size > 0.0:
                    add_normal(now.normals, now.key, begin, c, size, here)
                for i in range(len(row)):
                    row[i] += here[i]
