"""Collect one robot's data for all figures from a bag, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tactile_sim.bag.mcap_file import Progress
from tactile_sim.bag.messages import Message, Messages
from tactile_sim.common.errors import BagError, suggest
from tactile_sim.figures.messages import (
    MOVING,
    STATIC,
    Arrays,
    Cursor,
    Frame,
    Frames,
    Layout,
    Layouts,
    Poses,
    Robot,
    Span,
    finite,
    frames_of_skin,
    place,
)

BINS = 800
"""Number of time intervals to which a `Raster` is reduced when it reaches twice this number.

Until then, each message is an interval.
"""


@dataclass
class Raster:
    """Stores the largest magnitude of each taxel's readings in each time interval, one row per interval."""

    rows: list[np.ndarray] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    """Start time of each interval [s]."""
    _together: int = 1
    _in_last: int = 0

    def add(self, time: float, magnitudes: np.ndarray) -> None:
        """Add the readings of all taxels at one time, which must be later than that of the previous call.

        Args:
            time: Time of the readings [s].
            magnitudes: Magnitude of each taxel's reading (taxels,).
        """
        if self._in_last % self._together == 0:
            if len(self.rows) == 2 * BINS:
                self.rows = [np.maximum(*pair) for pair in zip(self.rows[::2], self.rows[1::2], strict=True)]
                self.starts = self.starts[::2]
                self._together *= 2
            self.rows.append(magnitudes.astype(np.float32))
            self.starts.append(time)
            self._in_last = 1
        else:
            np.maximum(self.rows[-1], magnitudes, out=self.rows[-1], casting="same_kind")
            self._in_last += 1


class Peak(NamedTuple):
    """Readings at the time at which the sum of their magnitudes is largest."""

    stamp: int
    """Time of the peak [ns]."""
    total: float
    magnitudes: np.ndarray
    """Magnitude of each taxel's reading (taxels,)."""
    readings: np.ndarray
    """Readings of all taxels (taxels, channels)."""


class Touch:
    """History of a skin: the net reading of each body over time, a raster of all taxels, and the peak.

    Feelers are treated as a skin. If pads have different units, `quantity`, `unit` and `peak` refer only to
    pads with one of these units, by default the unit of forces; `split` returns a history for each unit.
    """

    def __init__(self, frames: Frames, span: Span) -> None:
        self.frames = frames
        self.span = span
        self.quantities: tuple[str, ...] = ()
        self.units: tuple[str, ...] = ()
        self.unit = ""
        self.bodies: tuple[str, ...] = ()
        self.offsets = np.zeros(1, np.int64)
        """Index of the first taxel of each body, followed by the total number of taxels (b + 1,)."""
        self.layout_id = 0
        self.raster = Raster()
        self.left_out = 0
        """Number of frames that were ignored because their layout or size differs from the first frame's."""
        self._times: list[float] = []
        self._nets: list[np.ndarray] = []
        self._taxels: dict[str, np.ndarray] = {}
        self._peaks: dict[str, Peak] = {}
        """Peak of the readings in each unit, keyed by unit."""

    def add(self, message: Message) -> None:
        """Add a message from one of the topics in ``frames``.

        Frames are ignored if they are outside the time span or their layout differs from the first frame's.
        """
        for frame in self.frames.of(message):
            if frame.stamp in self.span:
                self._add(frame)

    def _add(self, frame: Frame) -> None:
        if not self._times:
            self.quantities, self.units, self.bodies = frame.quantities, frame.units, frame.bodies
            self.unit = next(iter(self._ordered_units()), "")
            self.offsets = np.concatenate([[0], np.cumsum(frame.counts)])
            self.layout_id = frame.layout_id
            self._taxels = {unit: self.taxels_of(self._bodies_of(unit)) for unit in self._ordered_units()}
        now, first = ((kept.layout_id, kept.quantities, kept.bodies) for kept in (frame, self))
        if now != first or len(frame.readings) != self.offsets[-1]:
            self.left_out += 1
            return
        time = frame.stamp / 1e9
        if self._times and time <= self._times[-1]:
            return
        readings = finite(frame.readings)
        magnitudes = np.linalg.norm(readings, axis=1)
        sums = np.concatenate([np.zeros((1, readings.shape[1])), np.cumsum(readings, axis=0)])
        self._times.append(time)
        self._nets.append(np.linalg.norm(np.diff(sums[self.offsets], axis=0), axis=1))
        self.raster.add(time, magnitudes)
        for unit in self._taxels:
            total = float(magnitudes[self._taxels[unit]].sum())
            if unit not in self._peaks or total > self._peaks[unit].total:
                self._peaks[unit] = Peak(frame.stamp, total, magnitudes, readings)

    def _ordered_units(self) -> list[str]:
        return sorted(dict.fromkeys(self.units), key=lambda unit: unit != "N")

    def _bodies_of(self, unit: str) -> list[int]:
        return [body for body, of_body in enumerate(self.units) if of_body == unit]

    def split(self) -> list[tuple[Touch, list[int]]]:
        """Split this history into one for each unit of the readings.

        Returns:
            For each unit, a history and the indices of the bodies with that unit. Forces come first.
        """
        parts = []
        for unit in self._ordered_units():
            part = copy(self)
            part.unit = unit
            parts.append((part, self._bodies_of(unit)))
        return parts

    @property
    def quantity(self) -> str:
        """Quantity that the pads with ``unit`` measure.

        If these pads measure different quantities, this is ``force_vector`` if the unit is newton, and empty
        for all other units.
        """
        names = {name for name, unit in zip(self.quantities, self.units, strict=True) if unit == self.unit}
        return names.pop() if len(names) == 1 else "force_vector" if self.unit == "N" else ""

    @property
    def peak(self) -> Peak | None:
        """Readings at the time of the largest sum of readings in ``unit``; None before the first frame."""
        return self._peaks.get(self.unit)

    @property
    def times(self) -> np.ndarray:
        """Times of the n frames in this history (n,) [s]."""
        return np.array(self._times)

    @property
    def nets(self) -> np.ndarray:
        """Magnitude of the sum of each body's readings at each time (n, b); for forces, the net force [N]."""
        return np.array(self._nets).reshape(len(self._times), len(self.bodies))

    @property
    def counts(self) -> np.ndarray:
        """Number of taxels on each body (b,)."""
        return np.diff(self.offsets)

    def taxels_of(self, bodies: Sequence[int]) -> np.ndarray:
        """Return the indices of all taxels on the specified bodies."""
        return np.concatenate(
            [np.arange(self.offsets[body], self.offsets[body + 1]) for body in bodies] or [np.zeros(0, int)]
        )


COVER = "cover"
"""Name of the quantity: the covered fraction of a feeler's length, 0 to 1."""
TOUCHED = 1e-6
"""Covered fraction above which a feeler counts as covered; above 0 because lengths are rounded."""


class CoveredFeelers(NamedTuple):
    """Positions and covered fractions of k covered feelers at one time."""

    ends: np.ndarray
    """Root and tip of each feeler in the world (k, 2, 3) [m]."""
    cover: np.ndarray
    """Covered fraction of each feeler's length (k,), 0 to 1."""


class Covers:
    """Computes the covered fractions of a robot's feelers from their free and full lengths."""

    def __init__(self, robot: Robot) -> None:
        self.topics = robot.feelers | robot.feeler_layouts
        self.layouts = Layouts()
        self.unknown = 0
        """Number of frames that were skipped because their layouts had not arrived yet."""
        self._arrays = Arrays(robot.feelers)
        self._last: list[tuple[str, Layout | None, np.ndarray]] = []

    def of(self, message: Message) -> Iterator[Frame]:
        """Process a message with feeler lengths or a feeler layout.

        Yields:
            A frame whose readings are the covered fractions (k, 1) of all k feelers, if ``message`` completes
            one. Frames with bodies whose layout is unknown are skipped.
        """
        if message.topic not in self._arrays.topics:
            self.layouts.add(message)
            return
        for frame in self._arrays.of(message):
            lengths = [layout.lengths for layout in self._layouts_of(frame) if layout]
            if len(lengths) != len(frame.bodies) or len(frame.readings) != sum(map(len, lengths)):
                self.unknown += 1
                continue
            cover = 1.0 - frame.readings[:, :1] / np.maximum(np.concatenate(lengths), 1e-12)[:, None]
            cover = np.where(cover > TOUCHED, np.minimum(cover, 1.0), 0.0)
            count = len(frame.bodies)
            yield frame._replace(quantities=(COVER,) * count, units=("",) * count, readings=cover)

    def add(self, message: Message) -> None:
        """Process a message with feeler lengths or a feeler layout, for later calls of :meth:`covered`."""
        for frame in self.of(message):
            parts = np.split(frame.readings[:, 0], np.cumsum(frame.counts)[:-1])
            self._last = list(zip(frame.bodies, self._layouts_of(frame), parts, strict=True))

    def covered(self, bodies: Sequence[str], poses: Poses) -> CoveredFeelers:
        """Return the covered feelers of the specified bodies in the last complete frame."""
        found = [(layout, cover) for body, layout, cover in self._last if layout and body in bodies]
        if not found:
            return CoveredFeelers(np.zeros((0, 2, 3)), np.zeros(0))
        layouts = [layout for layout, _ in found]
        placed, lengths = place(layouts, poses), np.concatenate([layout.lengths for layout in layouts])
        cover = np.concatenate([cover for _, cover in found])
        ends = np.stack([placed.positions, placed.positions + lengths[:, None] * placed.normals], axis=1)
        return CoveredFeelers(ends[cover > 0], cover[cover > 0])

    def _layouts_of(self, frame: Frame) -> list[Layout | None]:
        """Return the layout of each body in a frame, or None for bodies whose layout is unknown."""
        return self.layouts.of(frame.layout_id, frame.bodies, frame.counts.tolist())


FLEX = "flex"
"""Label for flexes, whose body name is empty in contact messages."""


class Contacts:
    """Contact forces between pairs of bodies over time."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self._times: list[float] = []
        self._names: dict[tuple[int, int], tuple[str, str]] = {}
        self._instants: list[np.ndarray] = []
        self._geoms: list[np.ndarray] = []
        self._forces: list[np.ndarray] = []

    def add(self, message: Message) -> None:
        """Store the contacts in a ContactWrenchArray message. Messages outside the time span are ignored."""
        if message.stamp not in self.span:
            return
        contacts: Any = message.value.contacts
        self._times.append(message.stamp / 1e9)
        if not len(contacts):
            return
        geoms = np.stack([contacts.geom1_id, contacts.geom2_id], axis=1).astype(np.int64)
        for first in np.unique(geoms, axis=0, return_index=True)[1]:
            self._names[tuple(geoms[first].tolist())] = (contacts.body1[first], contacts.body2[first])
        self._geoms.append(geoms)
        self._forces.append(finite(contacts.wrench.force).astype(np.float32))
        self._instants.append(np.full(len(geoms), len(self._times) - 1))

    @property
    def times(self) -> np.ndarray:
        """Stamps of the n contact messages that were added (n,) [s]."""
        return np.array(self._times)

    @property
    def magnitudes(self) -> np.ndarray:
        """Force magnitudes (c,) of all contacts in all messages [N]."""
        return np.linalg.norm(np.concatenate([np.zeros((0, 3)), *self._forces]), axis=1)

    def pairs(self) -> tuple[list[tuple[str, str]], np.ndarray]:
        """Return the net contact force between each pair of bodies.

        Returns:
            pairs: Names of the two bodies in each of the p pairs.
            forces: Magnitude of the net force between the bodies of each pair, in each of the n messages
                (n, p) [N].
        """
        if not self._geoms:
            return [], np.zeros((len(self._times), 0))
        geoms, which = np.unique(np.concatenate(self._geoms), axis=0, return_inverse=True)
        bodies = [tuple(name or FLEX for name in self._names[tuple(pair)]) for pair in geoms.tolist()]
        names = {pair: number for number, pair in enumerate(sorted({tuple(sorted(pair)) for pair in bodies}))}
        number = np.array([names[tuple(sorted(pair))] for pair in bodies])[which.ravel()]
        # Bodies with several geoms can appear in either order; forces act on the second body.
        sign = np.array([1.0 if pair == tuple(sorted(pair)) else -1.0 for pair in bodies])[which.ravel()]
        sums = np.zeros((len(self._times), len(names), 3))
        np.add.at(
            sums, (np.concatenate(self._instants), number), sign[:, None] * np.concatenate(self._forces)
        )
        return [(first, second) for first, second in names], np.linalg.norm(sums, axis=2)


class Recording:
    """Tactile data of one robot in a time span of a bag."""

    def __init__(self, path: Path, robot: Robot, span: Span, progress: Progress | None = None) -> None:
        self.path = path
        self.robot = robot
        self.touch = Touch(frames_of_skin(robot), span)
        self.covers = Covers(robot)
        self.feelers = Touch(self.covers, span)
        self.contacts = Contacts(span)
        self.layouts = Layouts()
        self.static = Poses()
        """Poses of the frames that have static transforms."""
        self.markers: Any = None
        """Markers of the scene as columns (one array per field), or None if they were not recorded."""
        takes: dict[str, Callable[[Message], object]] = {
            robot.contacts: self.contacts.add,
            robot.scene_markers: self._add_markers,
            STATIC: self.static.add,
            **dict.fromkeys(self.touch.frames.topics, self.touch.add),
            **dict.fromkeys(self.covers.topics, self.feelers.add),
            **dict.fromkeys(robot.layouts, self.layouts.add),
        }
        messages = Messages(path, takes.__contains__, progress)
        for message in messages:
            takes[message.topic](message)
        self.damage = messages.damage
        if not len(self.times):
            raise BagError(f"{path}: no tactile data and no contacts {span}")

    def _add_markers(self, message: Message) -> None:
        self.markers = message.value.markers

    @property
    def times(self) -> np.ndarray:
        """Times of the n skin frames (n,) [s].

        Without skin, these are the times of the feeler frames; without feelers, of the contact messages.
        """
        return next(
            (touch.times for touch in (self.touch, self.feelers) if touch.bodies), self.contacts.times
        )

    def bodies(self, patterns: Sequence[str]) -> list[str]:
        """Return the bodies that match any of the shell patterns, in the skin's order.

        If there are no patterns, all bodies are returned.
        """
        known = list(dict.fromkeys(self.touch.bodies + self.feelers.bodies)) or sorted(
            {body for pair in self.contacts.pairs()[0] for body in pair}
        )
        for pattern in patterns:
            if not any(fnmatchcase(body, pattern) for body in known):
                raise BagError(f"{self.path}: no body matches {pattern!r}{suggest(pattern, known)}")
        return [
            body for body in known if not patterns or any(fnmatchcase(body, pattern) for pattern in patterns)
        ]

    def poses_at(self, stamp: int) -> Poses:
        """Return the poses of all frames at a time, from the latest transforms up to that time.

        Args:
            stamp: Time [ns].
        """
        poses = copy(self.static)
        Cursor(Messages(self.path, {MOVING}.__contains__), poses.add).until(stamp)
        return poses

    def first_poses(self) -> Poses:
        """Return the poses of all frames at the beginning of the bag."""
        poses, start = copy(self.static), None
        for message in Messages(self.path, {MOVING}.__contains__):
            start = message.stamp if start is None else start
            if message.stamp > start:
                break
            poses.add(message)
        return poses

    def feelers_at(self, stamp: int, bodies: Sequence[str], poses: Poses) -> CoveredFeelers:
        """Return the covered feelers of the specified bodies at one time, in world coordinates.

        Args:
            stamp: Time [ns].
            bodies: Names of the bodies.
            poses: Poses of the bodies at that time.
        """
        covers = Covers(self.robot)
        if covers.topics:
            Cursor(Messages(self.path, covers.topics.__contains__), covers.add).until(stamp)
        return covers.covered(bodies, poses)
