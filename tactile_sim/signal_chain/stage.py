"""Base class of the stages of the signal chain, and the arguments of their computations."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from zlib import crc32

import numpy as np
from numba import types  # noqa: TID251

from tactile_sim.compilation import kernel, make_caller
from tactile_sim.errors import ConfigError
from tactile_sim.schema import Flag, Integer, Number, Ranged, checks, parameter
from tactile_sim.signal_chain.draws import draw_normal, draw_uniform, make_keys

if TYPE_CHECKING:
    from tactile_sim.skin import Pad

SLACK = 1e-9
"""Times and time steps are decimal fractions: 1.1 s / 0.1 s must count as exactly 11."""
_RANGES, _TAXELS = range(2)
"""Random numbers of a stage: of its ranges, and of its taxels."""


class Own(NamedTuple):
    """Data of the bodies that have a stage, for its computation in one environment."""

    ranges: np.ndarray
    """(b, 3) int64 first taxel of each body and the one after its last in the whole skin, and the place of
    its first taxel among those of these bodies."""
    parameters: np.ndarray
    """(b, p) the parameters that are numbers, in the order of the fields."""
    constants: np.ndarray
    """(k,) as returned by `Stage.constants`."""
    integers: np.ndarray
    """(m,) int64 as returned by `Stage.integers`."""


class Now(NamedTuple):
    """Data of the current reading, for the computation of a stage in one environment."""

    step: int
    """Since the start or the last reset."""
    interval: float
    """Time since the last stored reading [s]; 0 if there is none."""
    first: bool
    """True if no reading was stored yet."""
    again: bool
    """True if a reading of this step was stored; a reading that is stored now replaces it."""
    keep: bool
    """True if memory must be updated; if False, it must not change."""
    key: np.uint64
    """Key of the random numbers of the seed, the stage and the step."""
    timestep: float
    """Time step of the simulation [s]."""
    axes: np.ndarray
    """(3, taxels) normals in the frame of the readings; zeros if that frame turns against the body."""
    valid: np.ndarray
    """(taxels,) uint8 1: the current reading is valid. Changed by stages that mark readings."""
    work: np.ndarray
    """(4 + channels, taxels) room for any use."""


_FLOATS, _TABLE = types.float64[::1], types.float64[:, ::1]
COMPUTATION = (
    _TABLE,
    types.NamedTuple((types.int64[:, ::1], _TABLE, _FLOATS, types.int64[::1]), Own),
    _FLOATS,
    types.NamedTuple(
        (
            types.int64, types.float64, types.boolean, types.boolean, types.boolean, types.uint64,
            types.float64, _TABLE, types.uint8[::1], _TABLE,
        ),
        Now,
    ),
)  # fmt: skip
"""Types of the arguments of `Stage.compute`."""
call_stage = make_caller(COMPUTATION)
"""Kernel that calls the computation at an address: ``call_stage(address, values, own, memory, now)``."""
computation = kernel(error_model="numpy")
"""Decorator of computations."""


def ranged(check: Number, doc: str, default: float | Any = MISSING) -> Any:
    """Return a dataclass field for a number that may be a range [low, high]."""
    return parameter(Ranged(check), doc, default)


@dataclass(frozen=True)
class Stage(ABC):
    """One stage of the signal chain.

    A subclass is a dataclass whose fields, made with `ranged` or `tactile_sim.schema.parameter`, are its
    parameters for one body. Its docstring is one sentence for users. Its computation is compiled::

        @staticmethod
        @computation
        def compute(values, own, memory, now):

    It changes the readings ``values`` (channels, taxels of the skin) of one environment in place, at the
    taxels in ``own.ranges``. ``memory`` (words,) is all its state and starts as zeros after each reset; it is
    written only if ``now.keep``. A reading that is stored twice for one step must leave the same memory as
    once.
    """

    compute: ClassVar[Any]
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
        return any(type(getattr(self, name)) is tuple for name in self.numbers())

    @property
    def scattered(self) -> bool:
        """True if the constants depend on the seed."""
        return self.random or bool(getattr(self, "scatter", 0.0))

    @classmethod
    def numbers(cls) -> list[str]:
        """Return the names of the parameters that are numbers, the columns of ``Own.parameters``."""
        kinds = Flag | Number | Integer | Ranged
        return [name for name, check in checks(cls).items() if isinstance(check, kinds)]

    @classmethod
    def check(cls, group: Group) -> None:
        """Check that the parameters fit together and fit their bodies.

        Raises:
            ConfigError: They do not; the message starts with body and key.
        """
        return

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the size of the memory of one environment."""
        return 0

    @classmethod
    def integers(cls, group: Group) -> np.ndarray:
        """Return integers (m,) that are the same in all environments."""
        return np.empty(0, np.int64)

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return numbers (k,) that hold until the next draw, from the drawn parameters."""
        return np.empty(0)


@dataclass(frozen=True)
class Taxels:
    """The taxels of the skin."""

    positions: np.ndarray
    """(taxels, 3) in the frame of their body [m]."""
    normals: np.ndarray
    """(taxels, 3) outward unit normals in the frame of their body."""
    neighbours: tuple[np.ndarray, np.ndarray]
    """As `tactile_sim.skin.Skin.neighbours`."""


@dataclass
class Group:
    """The bodies that have a stage."""

    bodies: Sequence[Pad]
    stages: Sequence[Any]
    """The stage of each body, with its ranges."""
    skin: Taxels
    channels: int = 3
    room: int = 2
    """Number of readings that may wait in a delay."""
    cache: dict[str, Any] = field(default_factory=dict)
    """What a stage wants to compute only once."""

    @cached_property
    def ranges(self) -> np.ndarray:
        """Ranges of taxels (b, 3), as in `Own.ranges`."""
        limits = np.array([(body.start, body.stop) for body in self.bodies], np.int64).reshape(-1, 2)
        sizes = limits[:, 1] - limits[:, 0]
        return np.column_stack([limits, np.cumsum(sizes) - sizes])

    @cached_property
    def number(self) -> int:
        """Number of taxels of these bodies."""
        return sum(body.stop - body.start for body in self.bodies)

    @cached_property
    def ends(self) -> np.ndarray:
        """(2, b, p) least and greatest value of each number."""
        names = self.stages[0].numbers() if self.stages else []
        values = [[np.broadcast_to(getattr(stage, name), 2) for name in names] for stage in self.stages]
        return np.ascontiguousarray(
            np.moveaxis(np.array(values, float).reshape(len(values), len(names), 2), 2, 0)
        )

    @cached_property
    def random(self) -> np.ndarray:
        """(b,) uint64 1 if a reset draws the stage of the body again."""
        return np.array([stage.random for stage in self.stages], np.uint64)

    @cached_property
    def names(self) -> np.ndarray:
        """(b,) uint64 hashes of the names of the bodies and of the stage."""
        key = self.stages[0].key() if self.stages else ""
        return np.array([crc32(f"{body.name} {key}".encode()) for body in self.bodies], np.uint64)

    def draw(self, seed: int, episode: int) -> Draw:
        """Return the draws of an environment.

        Args:
            seed: Seed of the environment.
            episode: Number of its resets; it counts for stages with a range.
        """
        return Draw(self, np.uint64(seed), np.uint64(episode))

    def column(self, draw: Draw, name: str) -> np.ndarray:
        """Return a drawn parameter of each body, (b,)."""
        return draw.parameters[:, self.stages[0].numbers().index(name)]

    def each_taxel(self, draw: Draw, name: str, list_name: str = "taxels") -> np.ndarray:
        """Return a parameter for each taxel of these bodies (taxels,), from the list of taxels if given."""
        columns = [
            getattr(stage, list_name) or np.full(body.stop - body.start, value)
            for body, stage, value in zip(self.bodies, self.stages, self.column(draw, name), strict=True)
        ]
        return np.concatenate([np.empty(0), *columns])

    def check_lists(self, list_name: str = "taxels") -> None:
        """Check that a list has one number for each taxel. Raises ConfigError."""
        for body, stage in zip(self.bodies, self.stages, strict=True):
            number, listed = body.stop - body.start, getattr(stage, list_name)
            if listed and len(listed) != number:
                raise ConfigError(
                    f"{body.name}.{stage.key()}.{list_name}: must have one number per taxel, {number}, "
                    f"got {len(listed)}"
                )


class Draw:
    """The random numbers of one environment between two resets, for a group."""

    def __init__(self, group: Group, seed: np.uint64, episode: np.uint64):
        self._group, self._seed, self._episodes = group, seed, episode * group.random
        low, high = group.ends
        self.parameters = np.empty_like(low)
        """(b, p) a number from each range."""
        draw_uniform(self._keys(_RANGES), low, high, self.parameters)

    def normal(self, scatter: str = "scatter", columns: int = 1) -> np.ndarray:
        """Return normal numbers (columns, taxels of these bodies) with a parameter as standard deviation."""
        out = np.zeros((columns, self._group.number))
        sizes = self._group.column(self, scatter).copy()
        if sizes.any():
            draw_normal(self._keys(_TAXELS), self._group.ranges, sizes, out)
        return out

    def chosen(self, k: int, count: int) -> np.ndarray:
        """Return some taxels of body k, (count,) indices of the body."""
        body = self._group.bodies[k]
        numbers = np.empty((1, body.stop - body.start))
        low, high = np.zeros_like(numbers), np.ones_like(numbers)
        draw_uniform(self._keys(_TAXELS)[k : k + 1], low, high, numbers)
        return np.argsort(numbers[0], kind="stable")[:count]

    def _keys(self, kind: int) -> np.ndarray:
        return make_keys(self._seed, self._group.names, np.uint64(kind), self._episodes)


@kernel
def span(own, b):
    """Return a row of `Own.ranges`."""
    return own.ranges[b, 0], own.ranges[b, 1], own.ranges[b, 2]


@kernel
def copy(source, target):
    """Copy (n,) to (n,) numbers; an assignment to a slice takes several times as long."""
    for i in range(len(target)):
        target[i] = source[i]


@kernel
def squares(values, begin, end, out):
    """Fill out (end - begin,) with the squared magnitudes of readings (channels, taxels)."""
    for i in range(len(out)):
        out[i] = 0.0
    for c in range(len(values)):
        row = values[c, begin:end]
        for i in range(len(row)):
            out[i] += row[i] * row[i]
