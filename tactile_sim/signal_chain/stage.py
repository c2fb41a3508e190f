"""Base class of the stages of the signal chain, and the arguments of their computations."""

from __future__ import annotations

import re
from abc import ABC
from dataclasses import MISSING, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numba import types  # noqa: TID251

from tactile_sim.compilation import kernel, make_caller
from tactile_sim.schema import Flag, Integer, Number, Ranged, checks, parameter

if TYPE_CHECKING:
    from tactile_sim.signal_chain.codes import Codes
    from tactile_sim.signal_chain.group import Draw, Group

SLACK = 1e-9
"""Tolerance for rounding errors, so that 1.1 s / 0.1 s is 11 steps."""
ENABLED = "enabled"
"""Key that every stage has in addition to its parameters."""


class Own(NamedTuple):
    """Data of a stage for its computation on the taxels of a group in one environment.

    The taxels form b runs. A run is one pad, or several adjacent pads with the same parameters (see
    `Stage.joined`).
    """

    ranges: np.ndarray
    """(b, 3) int64. For each run: index of its first taxel in the skin, end of its taxels in the skin
    (exclusive), and index of its first taxel in the group."""
    parameters: np.ndarray
    """(b, p) values of the numeric parameters, in the order of the fields."""
    constants: np.ndarray
    """(k,) float32 result of `Stage.constants`."""
    integers: np.ndarray
    """(m,) int32 result of `Stage.integers`."""


class Now(NamedTuple):
    """Data of the current reading, for the computation of a stage in one environment."""

    step: int
    """Number of steps since the start or the last reset."""
    interval: float
    """Time since the last stored reading [s], or 0 if there is none."""
    first: bool
    """True if no reading has been stored yet."""
    again: bool
    """True if a reading of this step is already stored. The new reading replaces it."""
    keep: bool
    """Whether to update the memory. If not, it must not change."""
    key: np.uint64
    """Key for random numbers, derived from the seed, the stage and the step."""
    timestep: float
    """Time step of the simulation [s]."""
    axes: np.ndarray
    """(3, taxels) float32 normals in the frame of the readings; zeros in the world frame."""
    valid: np.ndarray
    """(taxels,) uint8, 1 if the current reading is valid. Stages with ``marks`` can change it."""
    awake: np.ndarray
    """(blocks,) uint8 state of each block of `loops.REST` taxels: 0 if its readings have been 0 since the
    last reset, `loops.LOADED` if its ideal readings are not 0 now, `loops.AWAKE` otherwise. A stage that
    spreads loads to a block with state 0 must set the state to `loops.AWAKE`."""
    normals: np.ndarray
    """Table from which normally distributed numbers are drawn, see `draws.normal_table`."""
    last: np.ndarray
    """(channels, taxels) float32 last stored output of the previous stage, see `Stage.recalls`. Only taxels
    that are `awake` are set."""
    work: np.ndarray
    """(>= 4 + channels, taxels) float32 scratch memory."""


_FLOATS, _TABLE = types.float32[::1], types.float32[:, ::1]
COMPUTATION = (
    _TABLE,
    types.NamedTuple((types.int64[:, ::1], types.float64[:, ::1], _FLOATS, types.int32[::1]), Own),
    _FLOATS,
    types.NamedTuple(
        (
            types.int64, types.float64, types.boolean, types.boolean, types.boolean, types.uint64,
            types.float64, _TABLE, types.uint8[::1], types.uint8[::1], _FLOATS,
            _TABLE, _TABLE,
        ),
        Now,
    ),
)  # fmt: skip
"""Types of the arguments of `Stage.compute`."""
call_stage = make_caller(COMPUTATION)
"""Kernel that calls a compiled computation by address: ``call_stage(address, values, own, memory, now)``."""
computation = kernel(error_model="numpy", counted=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Decorator that compiles a `Stage.compute`, which only kernels can call."""


def ranged(check: Number, doc: str, default: float | Any = MISSING) -> Any:
    """Return a dataclass field for a numeric parameter that may also be a range [low, high].

    Args:
        check: Check for the number, or for both ends of the range.
        doc: Description of the parameter.
        default: Default value; without it, the parameter is required.
    """
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
    taxels in ``own.ranges``. ``memory`` (`words`,) is the entire state of the stage. The computation writes
    to it only if ``now.keep``, and a reset sets it to zero, except in `Tare`. Storing a reading twice for one
    step must have the same effect as storing it once. Readings and memory are float32, as in messages.
    """

    enabled: bool = field(
        default=True,
        kw_only=True,
        metadata={"check": Flag(), "doc": "Whether the stage changes readings. *live*"},
    )
    compute: ClassVar[Any]
    has_memory: ClassVar[bool] = False
    """True if a reading depends on earlier ones."""
    rests: ClassVar[bool] = False
    """True if the stage skips taxels that are not `Now.awake`, because their readings and memory are 0."""
    marks: ClassVar[bool] = False
    """True if the stage can mark readings as invalid."""
    recalls: ClassVar[bool] = False
    """True if `compute` can write the last stored output of the stage to ``now.last`` for the next stage.

    It writes this output only if ``Group.recalled``. Such a stage must also set `rests`, so that it skips the
    same taxels as the next stage.
    """

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

    def output_codes(self, codes: Codes | None) -> Codes | None:
        """Return the codes of all outputs on a pad, or None if there are other outputs.

        Args:
            codes: Codes of all inputs, or None.
        """
        return None

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the number of float32 values that the stage stores in the memory of each environment."""
        return 0

    @classmethod
    def integers(cls, group: Group) -> np.ndarray:
        """Return the integers (m,) that `compute` receives as ``own.integers``.

        They do not depend on random numbers, so they are the same in all environments.
        """
        return np.empty(0, np.int32)

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return the numbers (k,) that `compute` receives as ``own.constants``.

        They are computed after each draw of parameters, and are constant until the next draw.

        Args:
            group: The pads that have this stage.
            draw: Drawn parameters of one environment.
        """
        return np.empty(0)
