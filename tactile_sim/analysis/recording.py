"""All that the figures need of one robot in a bag, read in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.analysis.contacts import Contacts
from tactile_sim.analysis.cursor import Cursor
from tactile_sim.analysis.layouts import Layouts
from tactile_sim.analysis.poses import MOVING, STATIC, Poses
from tactile_sim.analysis.robots import Robot
from tactile_sim.analysis.span import Span
from tactile_sim.analysis.touch import Touch
from tactile_sim.bag.mcap_file import Progress
from tactile_sim.bag.messages import Messages
from tactile_sim.errors import BagError, suggest


class Recording:
    """What one robot felt in a part of a bag.

    Raises:
        BagError: it is no bag, or there is nothing in the span.
    """

    def __init__(self, path: Path, robot: Robot, span: Span, progress: Progress | None = None) -> None:
        self.path = path
        self.robot = robot
        self.touch = Touch(robot, span)
        self.contacts = Contacts(span)
        self.layouts = Layouts()
        self.static = Poses()
        """Transforms that hold all the time."""
        self.markers: Any = None
        """The scene's, as columns, where there are any."""
        skin, contacts, layouts = self.touch.frames.topics, {robot.contacts}, robot.layouts
        lasting = {robot.scene_markers, STATIC}
        messages = Messages(path, (skin | contacts | layouts | lasting).__contains__, progress)
        for message in messages:
            if message.topic in skin:
                self.touch.hear(message)
            elif message.topic in contacts:
                self.contacts.hear(message)
            elif message.topic in layouts:
                self.layouts.hear(message)
            elif message.topic == STATIC:
                self.static.hear(message)
            else:
                self.markers = message.value.markers
        self.damage = messages.damage
        if not len(self.times):
            raise BagError(f"{path}: nothing was felt or touched {span}")

    @property
    def times(self) -> np.ndarray:
        """(n,) of the skin, or where there is none of the contacts [s]."""
        return self.touch.times if self.touch.bodies else self.contacts.times

    def bodies(self, patterns: Sequence[str]) -> list[str]:
        """The bodies that shell patterns mean, in the skin's order; all where there are no patterns.

        Raises:
            BagError: a pattern means none.
        """
        known = list(self.touch.bodies) or sorted(
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
