"""Data of one robot in a bag for all figures, read in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.analysis.contacts import Contacts
from tactile_sim.analysis.cursor import Cursor
from tactile_sim.analysis.feelers import CoveredFeelers, Covers
from tactile_sim.analysis.layouts import Layouts
from tactile_sim.analysis.poses import MOVING, STATIC, Poses
from tactile_sim.analysis.robots import Robot
from tactile_sim.analysis.span import Span
from tactile_sim.analysis.tactile_frames import frames_of_skin
from tactile_sim.analysis.touch import Touch
from tactile_sim.bag.mcap_file import Progress
from tactile_sim.bag.messages import Message, Messages
from tactile_sim.errors import BagError, suggest


class Recording:
    """Tactile data of one robot in part of a bag.

    Args:
        path: The bag.
        robot: Its topics.
        span: The part of the bag.
        progress: Called with the progress of reading.

    Raises:
        BagError: If it is not a bag, or has no data in the span.
    """

    def __init__(self, path: Path, robot: Robot, span: Span, progress: Progress | None = None) -> None:
        self.path = path
        self.robot = robot
        self.touch = Touch(frames_of_skin(robot), span)
        self.covers = Covers(robot)
        self.feelers = Touch(self.covers, span)
        self.contacts = Contacts(span)
        self.layouts = Layouts()
        self.static = Poses()
        """Static transforms."""
        self.markers: Any = None
        """The scene's markers as columns, or None."""
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
        """Times (n,) [s] of the skin if recorded, else of the feelers, else of the contacts."""
        return next(
            (touch.times for touch in (self.touch, self.feelers) if touch.bodies), self.contacts.times
        )

    def bodies(self, patterns: Sequence[str]) -> list[str]:
        """Return the bodies that match shell patterns, in the skin's order; all without patterns.

        Raises:
            BagError: If a pattern matches no body.
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
        """Return the poses at a time [ns], from the last transforms until then."""
        poses = copy(self.static)
        Cursor(Messages(self.path, {MOVING}.__contains__), poses.add).until(stamp)
        return poses

    def feelers_at(self, stamp: int, bodies: Sequence[str], poses: Poses) -> CoveredFeelers:
        """Return the covered feelers of bodies at a time [ns]."""
        covers = Covers(self.robot)
        if covers.topics:
            Cursor(Messages(self.path, covers.topics.__contains__), covers.add).until(stamp)
        return covers.covered(bodies, poses)
