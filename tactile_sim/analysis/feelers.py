"""Read a bag's feelers as a skin whose readings are the covered fractions of the feelers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tactile_sim.analysis.layouts import Layout, Layouts, place
from tactile_sim.analysis.poses import Poses
from tactile_sim.analysis.robots import Robot
from tactile_sim.analysis.tactile_frames import Arrays, Frame
from tactile_sim.bag.messages import Message

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
        """Return the covered feelers of the specified bodies in the last complete frame.

        Args:
            bodies: Names of the bodies.
            poses: Poses of the bodies at the time of the frame, which place the feelers in the world.
        """
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
