"""Base class of the stages of the signal chain, and the arguments of their computations."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, replace
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
"""Tolerance for rounding of decimal fractions: 1.1 s / 0.1 s must count as exactly 11 steps."""
ENABLED = "enabled"
"""Key that every stage has beside its own parameters."""
_RANGES, _TAXELS = range(2)
"""Kinds of random numbers of a stage: for its ranges, and for its taxels."""


class Own(NamedTuple):
    """Data of the b pads that have a stage, for its computation in one environment."""

    ranges: np.ndarray
    """(b, 3) int64 first taxel of each pad in the skin, the end of its taxels (exclusive), and the index of
    its first taxel among the taxels of the group."""
    parameters: np.ndarray
    """(b, p) values of the numeric parameters, in the order of the fields."""
    constants: np.ndarray
    """(k,) result of `Stage.constants`."""
    integers: np.ndarray
    """(m,) int64 result of `Stage.integers`."""


class Now(NamedTuple):
    """Data of the current reading, for the computation of a stage in one environment."""

    step: int
    """Number of steps since the start or the last reset."""
    interval: float
    """Time since the last stored reading [s], or 0 if there is none."""
    first: bool
    """True if no reading has been stored yet."""
    again: bool
    """True if a reading of this step has been stored already; the new reading replaces it."""
    keep: bool
    """True if the memory must be updated; otherwise it must not change."""
    key: np.uint64
    """Key for random numbers, derived from the seed, the stage and the step."""
    timestep: float
    """Time step of the simulation [s]."""
    axes: np.ndarray
    """(3, taxels) normals in the frame of the readings; zeros if that frame rotates relative to the body."""
    valid: np.ndarray
    """(taxels,) uint8, 1 if the current reading is valid. Stages with ``marks`` can change it."""
    work: np.ndarray
    """(4 + channels, taxels) or more scratch memory."""


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
"""Decorator that compiles a `Stage.compute`."""


def ranged(check: Number, doc: str, default: float | Any = MISSING) -> Any:
    """Return a dataclass field for a number that may be a range [low, high]."""
    return parameter(Ranged(check), doc, default)


@dataclass(frozen=True)
class Stage(ABC):
    """One stage of the signal chain.

    A subclass is a dataclass whose fields, created with `ranged` or `tactile_sim.schema.parameter`, are its
    parameters for one pad. Its docstring is one sentence for users. Its computation is compiled::

        @staticmethod
        @computation
        def compute(values, own, memory, now):

    It changes the readings ``values`` (channels, taxels of the skin) of one environment in place, at the
    taxels in ``own.ranges``. ``memory`` (`words`,) holds all its state and is zero after each reset; it is
    written only if ``now.keep``. Storing a reading twice for one step must have the same effect as storing
    it once.
    """

    enabled: bool = field(
        default=True,
        kw_only=True,
        metadata={"check": Flag(), "doc": "Whether the stage changes readings. *live*"},
    )
    compute: ClassVar[Any]
    has_memory: ClassVar[bool] = False
    """True if a reading depends on earlier ones."""
    marks: ClassVar[bool] = False
    """True if the stage can mark readings as invalid."""

    @classmethod
    def key(cls) -> str:
        """Return the configuration key of the stage, such as ``cross_talk`` for ``CrossTalk``."""
        return re.sub(r"(?<!^)([A-Z])", r"_\1", cls.__name__).lower()

    @property
    def random(self) -> bool:
        """True if a parameter is a range, which is drawn again at each reset."""
        return any(type(getattr(self, name)) is tuple for name in self.numbers())

    @property
    def scattered(self) -> bool:
        """True if the constants depend on the seed."""
        return self.random or bool(getattr(self, "scatter", 0.0))

    @classmethod
    def numbers(cls) -> list[str]:
        """Return the names of the numeric parameters, which are the columns of ``Own.parameters``."""
        kinds = Flag | Number | Integer | Ranged
        return [name for name, check in checks(cls).items() if isinstance(check, kinds) and name != ENABLED]

    @classmethod
    def check(cls, group: Group) -> None:
        """Check that the parameters are consistent and fit their pads.

        Raises:
            ConfigError: A parameter is invalid; the message starts with the pad and the key.
        """
        return

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the number of values in the memory of one environment."""
        return 0

    @classmethod
    def integers(cls, group: Group) -> np.ndarray:
        """Return integers (m,) that are the same in all environments."""
        return np.empty(0, np.int64)

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Compute numbers (k,) from the drawn parameters; they are constant until the next draw."""
        return np.empty(0)


@dataclass(frozen=True)
class Taxels:
    """Positions, normals and neighbours of all taxels of a skin."""

    positions: np.ndarray
    """(taxels, 3) positions in the frame of their body [m]."""
    normals: np.ndarray
    """(taxels, 3) outward unit normals in the frame of their body."""
    neighbours: tuple[np.ndarray, np.ndarray]
    """See `tactile_sim.skin.Skin.neighbours`."""


@dataclass
class Group:
    """The b pads that have a stage."""

    bodies: Sequence[Pad]
    stages: list[Any]
    """Stage of each pad; its parameters may be ranges."""
    skin: Taxels
    channels: int = 3
    room: int = 2
    """Number of readings that a delay or a tare can store."""
    cache: dict[str, Any] = field(default_factory=dict)
    """Results that a stage computes only once, by name."""

    @cached_property
    def ranges(self) -> np.ndarray:
        """Taxel ranges (b, 3), see `Own.ranges`."""
        limits = np.array([(body.start, body.stop) for body in self.bodies], np.int64).reshape(-1, 2)
        sizes = limits[:, 1] - limits[:, 0]
        return np.column_stack([limits, np.cumsum(sizes) - sizes])

    @property
    def bypassed(self) -> np.ndarray:
        """(b,) uint8, 1 if the stage does not change the readings of a pad."""
        return np.array([not stage.enabled for stage in self.stages], np.uint8)

    def switch(self, pad: str, enabled: bool) -> None:
        """Set whether the stage changes the readings of a pad, if the pad has the stage."""
        for k, (body, stage) in enumerate(zip(self.bodies, self.stages, strict=True)):
            if body.name == pad:
                self.stages[k] = replace(stage, enabled=enabled)

    @cached_property
    def number(self) -> int:
        """Number of taxels in the group."""
        return sum(body.stop - body.start for body in self.bodies)

    @cached_property
    def ends(self) -> np.ndarray:
        """(2, b, p) smallest and largest value of each numeric parameter."""
        names = self.stages[0].numbers() if self.stages else []
        values = [[np.broadcast_to(getattr(stage, name), 2) for name in names] for stage in self.stages]
        return np.ascontiguousarray(
            np.moveaxis(np.array(values, float).reshape(len(values), len(names), 2), 2, 0)
        )

    @cached_property
    def random(self) -> np.ndarray:
        """(b,) uint64, 1 if a reset draws the pad's stage again."""
        return np.array([stage.random for stage in self.stages], np.uint64)

    @cached_property
    def names(self) -> np.ndarray:
        """(b,) uint64 hashes of the pad names with the stage name."""
        key = self.stages[0].key() if self.stages else ""
        return np.array([crc32(f"{body.name} {key}".encode()) for body in self.bodies], np.uint64)

    def draw(self, seed: int, episode: int) -> Draw:
        """Draw the random parameters of an environment.

        Args:
            seed: Seed of the environment.
            episode: Number of its resets; it only affects stages with a range.
        """
        return Draw(self, np.uint64(seed), np.uint64(episode))

    def column(self, draw: Draw, name: str) -> np.ndarray:
        """Return the drawn values (b,) of a parameter for all pads."""
        return draw.parameters[:, self.stages[0].numbers().index(name)]

    def each_taxel(self, draw: Draw, name: str, list_name: str = "taxels") -> np.ndarray:
        """Return a parameter (taxels,) for each taxel in the group, from the list if there is one."""
        columns = [
            getattr(stage, list_name) or np.full(body.stop - body.start, value)
            for body, stage, value in zip(self.bodies, self.stages, self.column(draw, name), strict=True)
        ]
        return np.concatenate([np.empty(0), *columns])

    def check_lists(self, list_name: str = "taxels") -> None:
        """Check that a list has one number for each taxel; raise ConfigError otherwise."""
        for body, stage in zip(self.bodies, self.stages, strict=True):
            number, listed = body.stop - body.start, getattr(stage, list_name)
            if listed and len(listed) != number:
                raise ConfigError(
                    f"{body.name}.{stage.key()}.{list_name}: must have one number per taxel, {number}, "
                    f"got {len(listed)}"
                )


class Draw:
    """Random numbers of a group in one environment, constant between two resets."""

    def __init__(self, group: Group, seed: np.uint64, episode: np.uint64):
        self._group, self._seed, self._episodes = group, seed, episode * group.random
        low, high = group.ends
        self.parameters = np.empty_like(low)
        """(b, p) parameters, drawn from their ranges."""
        draw_uniform(self._keys(_RANGES), low, high, self.parameters)

    def normal(self, scatter: str = "scatter", columns: int = 1) -> np.ndarray:
        """Draw normal numbers (columns, taxels in the group); a parameter is the standard deviation."""
        out = np.zeros((columns, self._group.number))
        sizes = self._group.column(self, scatter).copy()
        if sizes.any():
            draw_normal(self._keys(_TAXELS), self._group.ranges, sizes, out)
        return out

    def chosen(self, k: int, count: int) -> np.ndarray:
        """Return random taxels of pad k as indices (count,) within the pad."""
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
    """Copy n numbers to another array; this is several times as fast as a slice assignment."""
    for i in range(len(target)):
        target[i] = source[i]


@kernel
def squares(values, begin, end, out):
    """Fill ``out`` (end - begin,) with the squared magnitudes of readings (channels, taxels)."""
    for i in range(len(out)):
        out[i] = 0.0
    for c in range(len(values)):
        row = values[c, begin:end]
        for i in range(len(row)):
            out[i] += row[i] * row[i]
