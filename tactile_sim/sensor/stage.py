"""What all stages have in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from tactile_sim.skin import SkinBody

_SLACK = 1e-9
"""Times and time steps are decimal fractions: 1.1 s / 0.1 s must count as exactly 11."""


@dataclass(frozen=True)
class Plan:
    """What a stage is made from."""

    bodies: Sequence[SkinBody]
    """The bodies that have the stage."""
    blocks: Sequence[Any]
    """The stage's parameters for each of them, a dataclass of `tactile_sim.config.stages`."""
    neighbours: tuple[np.ndarray, np.ndarray]
    """As `tactile_sim.skin.Skin.neighbours`."""
    timestep: float
    """Of the simulation [s]."""
    seed: int

    @property
    def ranges(self) -> np.ndarray:
        """(b, 2) first taxel of each of the bodies and the one after its last, in the whole skin."""
        return np.array([(body.start, body.stop) for body in self.bodies], np.int64).reshape(-1, 2)

    def steps(self, time: float) -> int:
        """The least number of time steps that take at least a time [s]."""
        return math.ceil(time / self.timestep - _SLACK)

    def parameter(self, name: str) -> np.ndarray:
        """(b,) a parameter of each body."""
        return np.array([getattr(block, name) for block in self.blocks], float)


class Stage(ABC):
    """One step on the way from the touch on the skin to what is told of it.

    A stage with memory computes what it will remember together with the reading, and takes it over only at
    ``keep``: so a reading can be looked at any number of times.
    """

    remembers: ClassVar[bool] = False
    """Whether a reading depends on those before it."""

    @abstractmethod
    def act(self, values: np.ndarray, step: int) -> None:
        """Turns values (taxels of the skin, channels), which the stages before left, into its own, in place.

        step: of the simulation, since its start or its last reset.
        """

    def keep(self) -> None:  # noqa: B027 - what has no memory keeps nothing
        """Takes the last reading over into memory."""

    def restart(self) -> None:  # noqa: B027 - nor forgets it
        """Forgets everything."""


def rows(ranges: np.ndarray) -> int:
    """How many taxels are in ranges (b, 2)."""
    return int((ranges[:, 1] - ranges[:, 0]).sum())
