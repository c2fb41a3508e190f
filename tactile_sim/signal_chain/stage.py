"""Base classes of the stages of the signal chain. `core/src/stages.cpp` contains the computations."""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from tactile_sim.common.schema import Flag, Integer, Number, Ranged, checks, parameter

if TYPE_CHECKING:
    from tactile_sim.signal_chain.group import Draw, Group

SLACK = 1e-9
"""Tolerance for rounding errors, so that 1.1 s / 0.1 s is 11 steps."""
ENABLED = "enabled"
"""Key that every stage has in addition to its parameters."""


def ranged(check: Number, doc: str, default: float | Any = MISSING) -> Any:
    """Return a dataclass field for a numeric parameter that may also be a range [low, high].

    Args:
        check: Check for the number, or for both ends of the range.
        doc: Description of the parameter.
        default: Default value; without it, the parameter is required.
    """
    return parameter(Ranged(check), doc, default)


class Codes(NamedTuple):
    """Values that a converter can output: ``least + k`` steps, with k from 0 to 65,535."""

    step: float
    """Width of a step [units]."""
    least: int
    """Smallest value in steps."""

    def contain(self, value: float) -> bool:
        """Return whether a value, rounded to float32, is stored exactly."""
        number, least = np.float32(value), np.float32(self.least)
        code = np.rint(number * np.float32(1.0 / self.step)) - least
        if not 0 <= code <= np.iinfo(np.uint16).max:
            return False
        return np.float32(float(code + least) * self.step).tobytes() == number.tobytes()


@dataclass(frozen=True)
class Now:
    """Data of the current reading, for the computation of a stage of your own on the n taxels of a pad."""

    step: int
    """Number of steps since the start or the last reset."""
    interval: float
    """Time since the last stored reading [s], or 0 if there is none."""
    first: bool
    """True if no reading has been stored yet."""
    normals: np.ndarray
    """(3, n) float32 outward normals in the frame of the readings; zeros in the world frame."""
    valid: np.ndarray
    """(n,) uint8, 1 if the current reading is valid. The stage can change it, see `Stage.marks`."""
    key: tuple[int, int]
    """Key for random numbers, derived from the seed, the stage, the step and the pad."""

    @cached_property
    def random(self) -> np.random.Generator:
        """Random numbers that depend only on the seed, the stage, the step and the pad."""
        return np.random.Generator(np.random.Philox(key=self.key))


@dataclass(frozen=True)
class Stage:
    """One stage of the signal chain.

    A subclass is a dataclass whose fields, created with `ranged` or `common.schema.parameter`, are
    its parameters for one pad. Its docstring is one sentence for users. The core library computes the stages
    of this package; it receives the numbers that `constants`, `deviations` and `integers` return. A stage of
    your own has a method `compute` instead.
    """

    enabled: bool = field(
        default=True,
        kw_only=True,
        metadata={"check": Flag(), "doc": "Whether the stage changes readings. *live*"},
    )
    compute: ClassVar[Any] = None
    """``compute(self, values, memory, now)`` of a stage of your own.

    It returns the readings (channels, n) of the n taxels of a pad after the stage, from those before it,
    ``values``, which are float32 and which it may change. The parameters of ``self`` are numbers that were
    drawn from their ranges. ``memory`` (`memory_rows`, channels, n) contains what the computation has written
    to it at the last stored reading; a reset sets it to zero. ``now`` is a `Now`.
    """
    memory_rows: ClassVar[int] = 0
    """Number of arrays (channels, n) in the memory of a stage of your own."""
    has_memory: ClassVar[bool] = False
    """True if a reading depends on earlier ones."""
    rests: ClassVar[bool] = False
    """True if the stage skips taxels whose readings were 0 since the last reset."""
    marks: ClassVar[bool] = False
    """True if the stage can mark readings as invalid."""
    recalls: ClassVar[bool] = False
    """True if the stage can recall its last output, so that the next stage need not store its last input."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.has_memory = cls.has_memory or cls.memory_rows > 0

    @classmethod
    def key(cls) -> str:
        """Return the configuration key of the stage, such as ``cross_talk`` for ``CrossTalk``."""
        return re.sub(r"(?<!^)([A-Z])", r"_\1", cls.__name__).lower()

    @property
    def random(self) -> bool:
        """True if a parameter is a range, from which a value is drawn at each reset."""
        return any(type(getattr(self, name)) is tuple for name in self.numbers())

    @property
    def scattered(self) -> bool:
        """True if the constants depend on the seed."""
        return self.random or bool(getattr(self, "scatter", 0.0))

    @property
    def joined(self) -> bool:
        """True if adjacent pads with the same parameters can be processed as one."""
        return not self.random

    @classmethod
    def numbers(cls) -> list[str]:
        """Return the names of the numeric parameters, which the computation receives in this order."""
        kinds = Flag | Number | Integer | Ranged
        return [name for name, check in checks(cls).items() if isinstance(check, kinds) and name != ENABLED]

    @classmethod
    def check(cls, group: Group) -> None:
        """Check that the parameters are consistent and fit their pads.

        Raises:
            ConfigError: A parameter is invalid; the message starts with the pad and the key.
        """
        return

    def output_codes(self, codes: Codes | None) -> Codes | None:
        """Return the codes of all outputs on a pad, or None if there are other outputs.

        Args:
            codes: Codes of all inputs, or None.
        """
        return None

    @classmethod
    def room(cls, group: Group, rate: float) -> int:
        """Return the number of readings that the stage can store.

        Args:
            group: The pads that have this stage.
            rate: Expected rate of the readings [Hz].
        """
        return 0

    @classmethod
    def integers(cls, group: Group) -> np.ndarray:
        """Return tables (m,) int32 for the computation. They are the same in all environments."""
        return np.empty(0, np.int32)

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return numbers (k,) for the computation, which are constant until the next draw.

        Args:
            group: The pads that have this stage.
            draw: Drawn parameters of one environment.
        """
        return np.empty(0)

    @classmethod
    def deviations(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return the random deviations of taxels (m,), see `Draw.normal`. Arguments as in `constants`."""
        return np.empty(0, np.int16)


@dataclass(frozen=True)
class ScatteredStage(Stage):
    """Base class of stages with a value for each taxel and random deviations.

    Subclasses have the parameters: the value of all taxels, ``scatter``, and ``taxels`` with a value for each
    taxel. The constants are the values of all taxels, if there are lists.
    """

    @classmethod
    def check(cls, group: Group) -> None:
        group.check_lists()

    @classmethod
    def columns(cls, group: Group) -> int:
        """Return the number of random deviations for each taxel."""
        return 1

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        lists = any(stage.taxels for stage in group.stages)
        return group.each_taxel(draw, cls.numbers()[0]) if lists else np.empty(0)

    @classmethod
    def deviations(cls, group: Group, draw: Draw) -> np.ndarray:
        return draw.normal(cls.columns(group)) if group.ends[1, :, 1].any() else np.empty(0, np.int16)
