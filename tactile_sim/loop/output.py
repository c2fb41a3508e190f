"""What the loop tells of itself, and to whom it hands its instants."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Protocol

from tactile_sim.simulation import Snapshot


@dataclass(frozen=True)
class Status:
    """How the loop is doing."""

    real_time_factor: float
    """Measured since the last status."""
    wanted_factor: float
    missed: int
    """How often the machine was too slow and simulated time was given up."""
    paused: bool
    lockstep: bool
    fault: str | None
    """What broke the physics, until the next reset."""
    late: bool
    """Whether that happened since the last status."""
    refused: int
    """How many commands were refused since the last status."""
    refused_in_all: int
    last_refusal: str


class Output(Protocol):
    """Whoever publishes. Streams are named like the keys of ``rates``."""

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

    def stand(self, stamp: int) -> None:
        """Publish what is due by wall time while the simulation stands at a stamp [ns]."""

    def warn(self, message: str) -> None:
        """Tells the user of a refused command."""

    def report(self, stamp: int) -> None:
        """Publish the status of the loop now, with a stamp [ns], instead of when it is due."""

    def fail(self, message: str, stamp: int) -> None:
        """Tells the user that the physics broke at a time [ns]."""


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

    def stand(self, stamp: int) -> None:
        """Publish nothing."""

    def warn(self, message: str) -> None:
        """A line."""
        print(f"tactile_sim: {message}", file=sys.stderr)

    def report(self, stamp: int) -> None:
        """Do nothing: the warning has been printed."""

    def fail(self, message: str, stamp: int) -> None:
        """A line."""
        print(f"tactile_sim: {message}", file=sys.stderr)
