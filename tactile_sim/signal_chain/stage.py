"""What all stages of the signal chain have in common."""

from __future__ import annotations

import dataclasses
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from tactile_sim.skin import Pad

_SLACK = 1e-9
"""Times and time steps are decimal fractions: 1.1 s / 0.1 s must count as exactly 11."""


@dataclass(frozen=True)
class Stage(ABC):
    """One stage of the signal chain.

    A subclass is a dataclass whose fields, made with `tactile_sim.schema.parameter`, are its parameters for
    one body, and whose class methods are its computation for all bodies that have it. Its docstring is one
    sentence for users. All state is in ``memory``, which `apply` returns and never changes in place, so a
    reading can be looked at without being stored.
    """

    has_memory: ClassVar[bool] = False
    """Whether a reading depends on earlier ones."""

    @classmethod
    def key(cls) -> str:
        """Return the key of the stage in a configuration: ``CrossTalk`` is ``cross_talk``."""
        return re.sub(r"(?<!^)([A-Z])", r"_\1", cls.__name__).lower()

    @classmethod
    def start(cls, group: Group) -> Any:
        """Return the memory before the first reading.

        Raises:
            ConfigError: a parameter does not fit its body; the message starts with body and key.
        """
        return None

    @classmethod
    @abstractmethod
    def apply(cls, values: np.ndarray, group: Group, memory: Any, step: int) -> Any:
        """Transform readings in place and return the memory after them.

        Args:
            values: (taxels of the skin, channels) as the stages before left them.
            group: the bodies that have the stage.
            memory: as returned by `start` or by the last stored reading.
            step: of the simulation, since its start or its last reset.
        """


@dataclass(frozen=True)
class Group:
    """The bodies that have a stage, with the parameters as arrays over them."""

    bodies: Sequence[Pad]
    stages: Sequence[Any]
    """The stage of each body."""
    neighbours: tuple[np.ndarray, np.ndarray]
    """As `tactile_sim.skin.Skin.neighbours`."""
    timestep: float
    """Of the simulation [s]."""
    seed: int

    @cached_property
    def ranges(self) -> np.ndarray:
        """(b, 2) first taxel of each body and the one after its last, in the whole skin."""
        return np.array([(body.start, body.stop) for body in self.bodies], np.int64).reshape(-1, 2)

    @cached_property
    def parameters(self) -> dict[str, np.ndarray]:
        """Each numeric parameter by name, (b,)."""
        fields = [field.name for field in dataclasses.fields(self.stages[0])] if self.stages else []
        values = {name: [getattr(stage, name) for stage in self.stages] for name in fields}
        return {name: np.array(column) for name, column in values.items() if np.ndim(column) == 1}

    def steps(self, time: float) -> int:
        """Return the least number of time steps that last at least a time [s]."""
        return math.ceil(time / self.timestep - _SLACK)

    def zeros(self, values: np.ndarray) -> np.ndarray:
        """Return zeros (taxels of these bodies, channels) for readings of the skin."""
        return np.zeros((int(np.diff(self.ranges).sum()), values.shape[1]))
