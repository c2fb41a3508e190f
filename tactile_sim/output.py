"""What the loop tells of itself, and to whom it hands its instants."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tactile_sim.snapshot import Snapshot


@dataclass(frozen=True)
class Status:
    """How the loop is doing."""

    real_time_factor: float
    """Measured since the last status."""
    wanted_factor: float
    missed: int
    """How often the machine was too slow and simulated time was given up."""
    paused: bool
    fault: str | None
    """What broke the physics, until the next reset."""
    late: bool
    """Whether that happened since the last status."""
    refused: int
    """How many commands were refused since the last status."""
    refused_in_all: int
    last_refusal: str


VIEW = "view"
"""A stream besides those of ``rates``: due at every step, for whoever listens by the clock on the wall."""


class Output(Protocol):
    """Whoever publishes. Streams are named like the keys of ``rates``, and `VIEW`."""

    def heard(self) -> set[str]:
        """Streams that somebody listens to."""

    def newcomers(self) -> bool:
        """Whether a topic got a new listener since it was last sent."""

    def commanded(self) -> bool:
        """Whether somebody may send commands, so that each step should look for them."""

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Sends one instant to those who listen to the streams."""

    def greet(self, snapshot: Snapshot) -> None:
        """Sends one instant to those topics that got a new listener since they were last sent."""

    def warn(self, message: str) -> None:
        """Tells the user of a refused command."""

    def fail(self, message: str, stamp: int) -> None:
        """Tells the user that the physics broke at a time [ns]."""


class Outputs:
    """Several outputs as one."""

    def __init__(self, outputs: Sequence[Output]):
        self._outputs = outputs

    def heard(self) -> set[str]:
        """Streams that somebody listens to."""
        return set().union(*[output.heard() for output in self._outputs])

    def newcomers(self) -> bool:
        """Whether any of them has something new to listen."""
        return any(output.newcomers() for output in self._outputs)

    def commanded(self) -> bool:
        """Whether somebody may send commands to any of them."""
        return any(output.commanded() for output in self._outputs)

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Sends one instant to all."""
        for output in self._outputs:
            output.publish(snapshot, streams)

    def greet(self, snapshot: Snapshot) -> None:
        """Sends one instant to the newcomers of each."""
        for output in self._outputs:
            output.greet(snapshot)

    def warn(self, message: str) -> None:
        """Tells all users of a refused command."""
        for output in self._outputs:
            output.warn(message)

    def fail(self, message: str, stamp: int) -> None:
        """Tells all users that the physics broke."""
        for output in self._outputs:
            output.fail(message, stamp)


class Terminal:
    """The output of a loop without ROS: tells on the standard error what the user must know."""

    def heard(self) -> set[str]:
        """Nothing."""
        return set()

    def newcomers(self) -> bool:
        """None."""
        return False

    def commanded(self) -> bool:
        """Nobody commands."""
        return False

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Nothing is shown."""

    def greet(self, snapshot: Snapshot) -> None:
        """Nobody is greeted."""

    def warn(self, message: str) -> None:
        """A line."""
        print(f"tactile_sim: {message}", file=sys.stderr)

    def fail(self, message: str, stamp: int) -> None:
        """A line."""
        print(f"tactile_sim: {message}", file=sys.stderr)
