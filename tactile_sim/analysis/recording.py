"""Read one robot's data for all figures from a bag, in one pass."""

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
    """Tactile data of one robot in a time span of a bag.

    Args:
        path: Path of the bag.
        robot: Topics of the robot.
        span: Time span to read.
        progress: Called with the number of bytes read and the size of the file.

    Raises:
        BagError: The path is not a bag, or the bag has no data in the time span.
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

        Raises:
            BagError: A pattern matches no body.
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
