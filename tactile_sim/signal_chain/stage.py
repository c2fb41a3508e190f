"""Base class of the stages of the signal chain."""

from __future__ import annotations

import dataclasses
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self
from zlib import crc32

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.errors import ConfigError
from tactile_sim.schema import Number, Ranged, parameter

if TYPE_CHECKING:
    from tactile_sim.skin import Pad

_SLACK = 1e-9
"""Times and time steps are decimal fractions: 1.1 s / 0.1 s must count as exactly 11."""
_RANGES, _TAXELS = range(2)
"""Streams of random numbers of a stage: of its ranges, and of its taxels."""


def ranged(check: Number, doc: str, default: float | Any = MISSING) -> Any:
    """Return a dataclass field for a number that may be a range [low, high]."""
    return parameter(Ranged(check), doc, default)


@dataclass(frozen=True)
class Stage(ABC):
    """One stage of the signal chain.

    A subclass is a dataclass whose fields, made with `ranged` or `tactile_sim.schema.parameter`, are its
    parameters for one body, and whose class methods are its computation for all bodies that have it. Its
    docstring is one sentence for users. All state is in ``memory``, which `apply` returns and never changes
    in place, so a reading can be looked at without being stored.
    """

    has_memory: ClassVar[bool] = False
    """True if a reading depends on earlier ones."""
    marks: ClassVar[bool] = False
    """True if it finds readings invalid."""

    @classmethod
    def key(cls) -> str:
        """Return the key of the stage in a configuration: ``CrossTalk`` is ``cross_talk``."""
        return re.sub(r"(?<!^)([A-Z])", r"_\1", cls.__name__).lower()

    @property
    def random(self) -> bool:
        """True if a parameter is a range: the stage is then drawn again at each reset."""
        return any(type(value) is tuple for value in self._ranged().values())

    def drawn(self, random: np.random.Generator) -> Self:
        """Return the stage with a number from each range."""
        ranges = {name: value for name, value in self._ranged().items() if type(value) is tuple}
        return dataclasses.replace(
            self, **{name: float(random.uniform(*ends)) for name, ends in ranges.items()}
        )

    def _ranged(self) -> dict[str, Any]:
        return {
            entry.name: getattr(self, entry.name)
            for entry in dataclasses.fields(self)
            if isinstance(entry.metadata["check"], Ranged)
        }

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
            group: the bodies that have the stage. A stage that `marks` also changes ``group.valid``.
            memory: as returned by `start` or by the last stored reading.
            step: of the simulation, since its start or its last reset.
        """


@dataclass(frozen=True)
class Taxels:
    """The taxels of the skin. The chain owns these arrays and changes the last two."""

    positions: np.ndarray
    """(taxels, 3) in the frame of their body [m]."""
    normals: np.ndarray
    """(taxels, 3) outward unit normals in the frame of their body."""
    neighbours: tuple[np.ndarray, np.ndarray]
    """As `tactile_sim.skin.Skin.neighbours`."""
    axes: np.ndarray
    """(taxels, 3) normals in the frame of the readings; zeros if that frame turns against the body."""
    valid: np.ndarray
    """(taxels,) uint8 1: the present reading is valid."""


@dataclass(frozen=True)
class Group:
    """The bodies that have a stage, with the parameters as arrays over them.

    Ranges are replaced by numbers. Where there are none, the draws are those of episode 0.
    """

    bodies: Sequence[Pad]
    configured: Sequence[Any]
    """The stage of each body, with its ranges."""
    skin: Taxels
    timestep: float
    """Time step of the simulation [s]."""
    seed: int
    episode: int = 0
    """Number of resets since the start."""

    @cached_property
    def stages(self) -> list[Any]:
        """The stage of each body, with numbers only."""
        return [stage.drawn(self._generator(k, _RANGES)) for k, stage in enumerate(self.configured)]

    @property
    def random(self) -> bool:
        """True if a reset draws something again."""
        return any(stage.random for stage in self.configured)

    def _generator(self, k: int, stream: int) -> np.random.Generator:
        stage = self.configured[k]
        episode = self.episode if stage.random else 0
        names = crc32(self.bodies[k].name.encode()), crc32(stage.key().encode())
        return np.random.default_rng([self.seed, *names, stream, episode])

    def draw(self, k: int) -> np.random.Generator:
        """Return the random numbers for the taxels of body k. Each call starts from the same number."""
        return self._generator(k, _TAXELS)

    @cached_property
    def ranges(self) -> np.ndarray:
        """(b, 2) first taxel of each body and the one after its last, in the whole skin."""
        return np.array([(body.start, body.stop) for body in self.bodies], np.int64).reshape(-1, 2)

    @cached_property
    def parameters(self) -> dict[str, np.ndarray]:
        """Scalar parameters by name, (b,)."""
        fields = [field.name for field in dataclasses.fields(self.stages[0])] if self.stages else []
        values = {name: [getattr(stage, name) for stage in self.stages] for name in fields}
        return {name: np.array(column) for name, column in values.items() if not isinstance(column[0], tuple)}

    @cached_property
    def rows(self) -> list[slice]:
        """The rows of each body in arrays over the taxels of these bodies."""
        ends = np.cumsum(np.diff(self.ranges)[:, 0])
        return [slice(end - size, end) for end, size in zip(ends, np.diff(self.ranges)[:, 0], strict=True)]

    @cached_property
    def number(self) -> int:
        """Number of taxels of these bodies."""
        return int(np.diff(self.ranges).sum())

    @cached_property
    def cache(self) -> dict[int, np.ndarray]:
        """Arrays that depend on the number of channels, by it."""
        return {}

    def each_taxel(self, name: str, list_name: str = "taxels") -> np.ndarray:
        """Return one parameter for each taxel of these bodies, (taxels,): from the list, if there is one.

        Raises:
            ConfigError: the list does not have one number per taxel.
        """
        columns = [np.empty(0)]
        for body, stage in zip(self.bodies, self.stages, strict=True):
            number, listed = body.stop - body.start, getattr(stage, list_name)
            if listed and len(listed) != number:
                raise ConfigError(
                    f"{body.name}.{stage.key()}.{list_name}: must have one number per taxel, {number}, "
                    f"got {len(listed)}"
                )
            columns.append(np.array(listed) if listed else np.full(number, getattr(stage, name)))
        return np.concatenate(columns)

    def scattered(self, columns: int = 1) -> np.ndarray:
        """Return normal random numbers (taxels of these bodies, columns) with the std ``scatter``."""
        drawn = [
            stage.scatter * self.draw(k).standard_normal((body.stop - body.start, columns))
            for k, (body, stage) in enumerate(zip(self.bodies, self.stages, strict=True))
        ]
        return np.concatenate([np.empty((0, columns)), *drawn])

    def steps(self, time: float) -> int:
        """Return the least number of time steps that last at least a time [s]."""
        return math.ceil(time / self.timestep - _SLACK)

    def zeros(self, values: np.ndarray) -> np.ndarray:
        """Return zeros (taxels of these bodies, channels) for readings of the skin."""
        return np.zeros((self.number, values.shape[1]))

    def take(self, values: np.ndarray) -> np.ndarray:
        """Return a copy (taxels of these bodies, channels) of their rows of an array over the skin."""
        out = np.empty((self.number, values.shape[1]), values.dtype)
        _take(values, self.ranges, out)
        return out

    def put(self, values: np.ndarray, rows: np.ndarray) -> None:
        """Write the rows of these bodies into an array over the skin."""
        _put(values, self.ranges, rows)


@kernel(nogil=True)
def _take(values, ranges, out):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                out[k, c] = values[t, c]
            k += 1


@kernel(nogil=True)
def _put(values, ranges, rows):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                values[t, c] = rows[k, c]
            k += 1
