"""Base class of stages that differ between taxels, and their values and deviations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.signal_chain.draws import RESOLUTION
from tactile_sim.signal_chain.group import Draw, Group
from tactile_sim.signal_chain.loops import ZERO, copy, span
from tactile_sim.signal_chain.stage import Stage


@dataclass(frozen=True)
class ScatteredStage(Stage):
    """Base class of stages with a value for each taxel and random deviations.

    Subclasses have the parameters: the value of all taxels, ``scatter``, and ``taxels`` with a value for each
    taxel. In this order, the first two are the columns of ``own.parameters``.
    """

    @classmethod
    def check(cls, group: Group) -> None:
        group.check_lists()

    @classmethod
    def columns(cls, group: Group) -> int:
        """Return the number of random deviations for each taxel."""
        return 1

    @classmethod
    def integers(cls, group: Group) -> np.ndarray:
        """Return two flags: whether `constants` contain values, and whether they contain deviations."""
        lists = any(stage.taxels for stage in group.stages)
        return np.array([lists, group.ends[1, :, 1].any()], np.int32)

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return the value of each taxel in the group, and the random deviations; each can be absent.

        The deviations are two int16 numbers per word, all taxels for the first column, then for the next.
        """
        lists, scattered = cls.integers(group)
        values = group.each_taxel(draw, cls.numbers()[0]) if lists else np.empty(0)
        deviations = draw.normal(cls.columns(group)) if scattered else np.empty(0, np.float32)
        return np.concatenate([values.astype(np.float32), deviations])


@kernel(counted=False)
def fill_values(own, b, out):
    """Write the value of each taxel of run b to an array (taxels of the run,)."""
    if own.integers[0]:
        first = own.ranges[b, 2]
        copy(own.constants[first : first + len(out)], out)
    else:
        value = np.float32(own.parameters[b, 0])
        for i in range(len(out)):
            out[i] = value


@kernel(counted=False)
def fill_deviations(own, b, column, out):
    """Write the random deviation of each taxel of run b to an array (taxels of the run,)."""
    begin, end, first = span(own, b)
    taxels = own.ranges[-1, 2] + own.ranges[-1, 1] - own.ranges[-1, 0]
    if own.integers[1]:
        place, size = column * taxels + first, np.float32(own.parameters[b, 1] * RESOLUTION)
        drawn = own.constants[taxels if own.integers[0] else 0 :].view(np.int16)[place : place + end - begin]
        for i in range(len(out)):
            out[i] = size * np.float32(drawn[i])
    else:
        for i in range(len(out)):
            out[i] = ZERO
