"""All that the figures need of one robot in a bag, read in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.analysis.contacts import Contacts
from tactile_sim.analysis.cursor import Cursor
from tactile_sim.analysis.feelers import Covers, Hairs
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
    """What one robot felt in a part of a bag.

    Raises:
        BagError: it is no bag, or there is nothing in the span.
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
        """Transforms that hold all the time."""
        self.markers: Any = None
        """The scene's, as columns, where there are any."""
        takes: dict[str, Callable[[Message], object]] = {
            robot.contacts: self.contacts.hear,
            robot.scene_markers: self._see,
            STATIC: self.static.hear,
            **dict.fromkeys(self.touch.frames.topics, self.touch.hear),
            **dict.fromkeys(self.covers.topics, self.feelers.hear),
            **dict.fromkeys(robot.layouts, self.layouts.hear),
        }
        messages = Messages(path, takes.__contains__, progress)
        for message in messages:
            takes[message.topic](message)
        self.damage = messages.damage
        if not len(self.times):
            raise BagError(f"{path}: nothing was felt or touched {span}")

    def _see(self, message: Message) -> None:
        self.markers = message.value.markers

    @property
    def times(self) -> np.ndarray:
        """(n,) of the skin, or where there is none of the feelers, or else of the contacts [s]."""
        return next(
            (touch.times for touch in (self.touch, self.feelers) if touch.bodies), self.contacts.times
        )

    def bodies(self, patterns: Sequence[str]) -> list[str]:
        """The bodies that shell patterns mean, in the skin's order; all where there are no patterns.

        Raises:
            BagError: a pattern means none.
        """
        known = list(dict.fromkeys(self.touch.bodies + self.feelers.bodies)) or sorted(
            {body for pair in self.contacts.pairs()[0] for body in pair}
        )
        for pattern in patterns:
            if not any(fnmatchcase(body, pattern) for body in known):
                raise BagError(f"{self.path}: no body is called {pattern!r}{suggest(pattern, known)}")
        return [
            body for body in known if not patterns or any(fnmatchcase(body, pattern) for pattern in patterns)
        ]

    def poses_at(self, stamp: int) -> Poses:
        """Where frames were at a time [ns]: the last transforms until then."""
        poses = copy(self.static)
        Cursor(Messages(self.path, {MOVING}.__contains__), poses.hear).until(stamp)
        return poses

    def hairs_at(self, stamp: int, bodies: Sequence[str], poses: Poses) -> Hairs:
        """The covered feelers of bodies at a time [ns]."""
        covers = Covers(self.robot)
        if covers.topics:
            Cursor(Messages(self.path, covers.topics.__contains__), covers.hear).until(stamp)
        return covers.hairs(bodies, poses)
