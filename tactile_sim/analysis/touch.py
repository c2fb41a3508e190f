"""Collect the history of a skin's readings from a bag."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tactile_sim.analysis.span import Span
from tactile_sim.analysis.tactile_frames import Frame, Frames, finite
from tactile_sim.bag.messages import Message

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
        """Return the indices of all taxels on the specified bodies.

        Args:
            bodies: Indices of the bodies in ``self.bodies``.
        """
        return np.concatenate(
            [np.arange(self.offsets[body], self.offsets[body + 1]) for body in bodies] or [np.zeros(0, int)]
        )
