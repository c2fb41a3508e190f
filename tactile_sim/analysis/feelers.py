"""Feelers in a bag, as a skin whose taxels tell how far each is covered."""

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
"""The quantity: the share of its length that is covered, from 0 to 1."""
TOUCHED = 1e-6
"""Covered by more than this: lengths have single precision."""


class Hairs(NamedTuple):
    """Those k feelers that are covered, at one instant."""

    ends: np.ndarray
    """(k, 2, 3) root and tip in the world [m]."""
    cover: np.ndarray
    """(k,) 0 to 1."""


class Covers:
    """Frames of the covers of all feelers of a robot. Needs their layouts, which tell how long they are."""

    def __init__(self, robot: Robot) -> None:
        self.topics = robot.feelers | robot.feeler_layouts
        self.layouts = Layouts()
        self.unknown = 0
        """Instants that came before the layouts."""
        self._arrays = Arrays(robot.feelers)
        self._last: list[tuple[str, Layout | None, np.ndarray]] = []

    def of(self, message: Message) -> Iterator[Frame]:
        """The frame that a message makes complete, if it does."""
        if message.topic not in self._arrays.topics:
            self.layouts.hear(message)
            return
        for frame in self._arrays.of(message):
            lengths = [layout.lengths for layout in self._layouts_of(frame) if layout]
            if len(lengths) != len(frame.bodies) or len(frame.readings) != sum(map(len, lengths)):
                self.unknown += 1
                continue
            cover = 1.0 - frame.readings[:, :1] / np.maximum(np.concatenate(lengths), 1e-12)[:, None]
            cover = np.where(cover > TOUCHED, np.minimum(cover, 1.0), 0.0)
            yield frame._replace(quantity=COVER, unit="", readings=cover)

    def hear(self, message: Message) -> None:
        """Take a message for :meth:`hairs`."""
        for frame in self.of(message):
            parts = np.split(frame.readings[:, 0], np.cumsum(frame.counts)[:-1])
            self._last = list(zip(frame.bodies, self._layouts_of(frame), parts, strict=True))

    def hairs(self, bodies: Sequence[str], poses: Poses) -> Hairs:
        """The feelers of some bodies that are covered, as heard last."""
        found = [(layout, cover) for body, layout, cover in self._last if layout and body in bodies]
        if not found:
            return Hairs(np.zeros((0, 2, 3)), np.zeros(0))
        layouts = [layout for layout, _ in found]
        placed, lengths = place(layouts, poses), np.concatenate([layout.lengths for layout in layouts])
        cover = np.concatenate([cover for _, cover in found])
        ends = np.stack([placed.positions, placed.positions + lengths[:, None] * placed.normals], axis=1)
        return Hairs(ends[cover > 0], cover[cover > 0])

    def _layouts_of(self, frame: Frame) -> list[Layout | None]:
        """The layouts of a frame's bodies; None where there is none."""
        return self.layouts.of(frame.layout_id, frame.bodies, frame.counts.tolist())
