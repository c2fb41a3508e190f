"""Groups of pads that have the same kind of stage, and the random numbers of that stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Protocol
from zlib import crc32

import numpy as np

from tactile_sim._core import chain_keys, draw_normal, draw_uniform
from tactile_sim.common.errors import ConfigError
from tactile_sim.signal_chain.stage import Codes

if TYPE_CHECKING:
    from tactile_sim.skin import Pad

_RANGES, _TAXELS = range(2)
"""Kinds of random numbers of a stage: for its ranges, and for its taxels."""


class Sensed(Protocol):
    """Attributes of a skin that a signal chain uses: the pads to process, and all n taxels of the skin."""

    @property
    def pads(self) -> Sequence[Pad]:
        """Pads that the chain processes."""

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) positions of the taxels, each in the frame of its body [m]."""

    @property
    def normals(self) -> np.ndarray:
        """(n, 3) outward unit normals of the taxels, each in the frame of its body."""

    @property
    def neighbors(self) -> tuple[np.ndarray, np.ndarray]:
        """Start of the neighbor list of each taxel (n + 1,), and the concatenated lists of indices."""


@dataclass(frozen=True)
class Taxels:
    """Positions, normals and neighbors of all taxels of a skin."""

    positions: np.ndarray
    """(taxels, 3) positions of the taxels, each in the frame of its body [m]."""
    normals: np.ndarray
    """(taxels, 3) outward unit normals of the taxels, each in the frame of its body."""
    neighbors: tuple[np.ndarray, np.ndarray]
    """Start of the neighbor list of each taxel (taxels + 1,), and the concatenated lists of indices."""


@dataclass
class Group:
    """The b pads that have a particular stage.

    Adjacent pads with the same parameters form a run, which the computation processes as one range of taxels.
    """

    bodies: Sequence[Pad]
    stages: list[Any]
    """Stage of each pad; its parameters may be ranges."""
    skin: Taxels
    channels: int = 3
    linked: bool = False
    """Whether the stages before this one recall its last input on all its pads, see `Stage.recalls`."""
    recalled: bool = False
    """Whether the stage must recall its last output, see `Stage.recalls`."""
    codes: Codes | None = None
    """Codes of all inputs of the stage, see `Stage.output_codes`."""
    cache: dict[str, Any] = field(default_factory=dict)
    """Results that the stage computes only once for this group, such as pairs of taxels, by name."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Group:
        """Return a copy with its own switches; the tables are shared. Groups that share switches still do."""
        new = replace(self, stages=memo.setdefault(id(self.stages), list(self.stages)))
        return memo.setdefault(id(self), new)

    @cached_property
    def pads(self) -> np.ndarray:
        """Taxel range (b, 3) int64 of each pad: begin and end in the skin, begin in the group."""
        limits = np.array([(body.start, body.stop) for body in self.bodies], np.int64).reshape(-1, 2)
        sizes = limits[:, 1] - limits[:, 0]
        return np.column_stack([limits, np.cumsum(sizes) - sizes])

    @cached_property
    def runs(self) -> np.ndarray:
        """(r,) index of the first pad of each run."""
        stages = [replace(stage, enabled=True) for stage in self.stages]
        begins = [
            k
            for k, stage in enumerate(stages)
            if k == 0
            or not stage.joined
            or stage != stages[k - 1]
            or self.bodies[k].start != self.bodies[k - 1].stop
        ]
        return np.array(begins, np.int64)

    @cached_property
    def ranges(self) -> np.ndarray:
        """Taxel range (r, 3) int64 of each run, with columns as in `pads`."""
        ranges = self.pads[self.runs]
        ranges[:-1, 1], ranges[-1:, 1] = self.pads[self.runs[1:] - 1, 1], self.pads[-1:, 1]
        return ranges

    @property
    def run_stages(self) -> list[Any]:
        """Stage of each run."""
        return [self.stages[k] for k in self.runs.tolist()]

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
        """(2, b, p) smallest and largest value of each of the p numeric parameters, for each pad."""
        names = self.stages[0].numbers() if self.stages else []
        values = [[np.broadcast_to(getattr(stage, name), 2) for name in names] for stage in self.stages]
        return np.ascontiguousarray(
            np.moveaxis(np.array(values, float).reshape(len(values), len(names), 2), 2, 0)
        )

    @cached_property
    def random(self) -> np.ndarray:
        """(b,) uint64, 1 if a reset draws the parameters of the pad's stage again."""
        return np.array([stage.random for stage in self.stages], np.uint64)

    @cached_property
    def names(self) -> np.ndarray:
        """(b,) uint64 hash of each pad's name and the stage's key, which selects the pad's random numbers."""
        key = self.stages[0].key() if self.stages else ""
        return np.array([crc32(f"{body.name} {key}".encode()) for body in self.bodies], np.uint64)

    def draw(self, seed: int, episode: int) -> Draw:
        """Draw the random parameters of an environment.

        Args:
            seed: Seed of the environment.
            episode: Number of the environment's resets; affects only stages with a range.
        """
        return Draw(self, seed, episode)

    def column(self, draw: Draw, name: str) -> np.ndarray:
        """Return the drawn value (b,) of one parameter for each pad.

        Args:
            draw: Drawn parameters of one environment.
            name: Name of a numeric parameter.
        """
        return draw.parameters[:, self.stages[0].numbers().index(name)]

    def each_taxel(self, draw: Draw, name: str, list_name: str = "taxels") -> np.ndarray:
        """Return the value (taxels,) of a parameter for each taxel in the group, pad by pad.

        Args:
            draw: Drawn parameters of one environment.
            name: Parameter with one value for all taxels of a pad.
            list_name: Parameter with a list of values for a pad's taxels, which is used instead if not empty.
        """
        columns = [
            getattr(stage, list_name) or np.full(body.stop - body.start, value)
            for body, stage, value in zip(self.bodies, self.stages, self.column(draw, name), strict=True)
        ]
        return np.concatenate([np.empty(0), *columns])

    def check_lists(self, list_name: str = "taxels") -> None:
        """Check that a list parameter is empty or has one number for each taxel of its pad.

        Args:
            list_name: Name of the parameter.

        Raises:
            ConfigError: A list has the wrong length.
        """
        for body, stage in zip(self.bodies, self.stages, strict=True):
            number, listed = body.stop - body.start, getattr(stage, list_name)
            if listed and len(listed) != number:
                raise ConfigError(
                    f"{body.name}.{stage.key()}.{list_name}: must have one number per taxel, {number}, "
                    f"got {len(listed)}"
                )


class Draw:
    """Drawn parameters and random numbers of a group in one environment, constant between two resets."""

    def __init__(self, group: Group, seed: int, episode: int):
        self._group, self._seed, self._episodes = group, seed, np.uint64(episode) * group.random
        low, high = group.ends
        self.parameters = low + (high - low) * draw_uniform(self._keys(_RANGES), low.shape[1])
        """(b, p) parameters, drawn from their ranges."""

    def normal(self, columns: int) -> np.ndarray:
        """Draw standard normal numbers for all taxels in the group, as multiples of 1/4096.

        Args:
            columns: Number of values for each taxel.

        Returns:
            (columns * taxels,) int16 numbers below 8 * 4096 in magnitude, pad by pad for each column.
        """
        sizes = self._group.pads[:, 1] - self._group.pads[:, 0]
        return draw_normal(normal_table(), self._keys(_TAXELS), sizes, columns).ravel()

    def chosen(self, k: int, count: int) -> np.ndarray:
        """Choose random taxels of a pad.

        Args:
            k: Index of the pad in the group.
            count: Number of taxels to choose.

        Returns:
            (count,) Indices within the pad, all different.
        """
        body = self._group.bodies[k]
        numbers = draw_uniform(self._keys(_TAXELS)[k : k + 1], body.stop - body.start)
        return np.argsort(numbers[0], kind="stable")[:count]

    def _keys(self, kind: int) -> np.ndarray:
        return chain_keys(self._seed, self._group.names, kind, self._episodes)


_PERIOD, _BLOCK = 4096, 64
_SEED = 935
"""Seed of the table. Of 3000 seeds, its fourth moment is closest to that of a normal distribution."""


@cache
def normal_table() -> np.ndarray:
    """Return normally distributed numbers (_PERIOD + _BLOCK,) float32, which are periodic.

    Their autocorrelation is 0 for distances up to `_BLOCK`, because the odd harmonics have equal amplitudes
    and random phases. Without even harmonics, the second half of a period is the negative of the first, so
    the distribution is symmetric.
    """
    spectrum = np.zeros(_PERIOD // 2 + 1, complex)
    phases = np.random.Generator(np.random.PCG64(_SEED)).random(_PERIOD // 4)
    spectrum[1::2] = np.exp(2j * np.pi * phases)
    numbers = np.fft.irfft(spectrum)
    return np.resize(numbers / numbers.std(), _PERIOD + _BLOCK).astype(np.float32)


def normal_axes(normals: np.ndarray, frame: str) -> np.ndarray:
    """Return the outward normal of each taxel in the frame of its readings.

    Args:
        normals: (taxels, 3) outward unit normals in the frame of their body.
        frame: Frame of vector readings, ``body``, ``taxel`` or ``world``.

    Returns:
        (3, taxels) float32 normals; 0 in the world frame, where they change with the pose of the body.
    """
    axes = {"body": normals, "taxel": np.array([0.0, 0.0, 1.0]), "world": np.zeros(3)}
    return np.ascontiguousarray(np.broadcast_to(axes[frame], normals.shape).T, np.float32)
