"""Interface between the loop and the code that publishes its snapshots."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Protocol

from tactile_sim.simulation import Snapshot


@dataclass(frozen=True)
class Status:
    """Pace, state, faults and rejected commands of the loop, as published on ``/diagnostics``."""

    real_time_factor: float
    """Real-time factor, measured since the last status."""
    wanted_factor: float
    """Configured real-time factor; 0 means as fast as possible."""
    missed: int
    """Number of times since the start that the machine was too slow for the configured real-time factor."""
    paused: bool
    lockstep: bool
    fault: str | None
    """Description of the physics fault, or None; cleared by a reset."""
    late: bool
    """True if `missed` has increased since the last status."""
    refused: int
    """Number of commands rejected since the last status."""
    refused_total: int
    """Number of commands rejected since the start."""
    last_refusal: str
    """Error message for the last rejected command, or an empty string."""


class Output(Protocol):
    """Publishes snapshots on streams. The stream names are the keys in ``rates``."""

    def subscribed(self) -> set[str]:
        """Return the streams that have subscribers."""

    def new_subscribers(self) -> bool:
        """Return whether any topic has gained a subscriber since its last message."""

    def expects_commands(self) -> bool:
        """Return whether commands may arrive, in which case the loop checks for them at each step."""

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Encode the messages of a snapshot on the specified streams, for `dispatch`."""

    def publish_to_new(self, snapshot: Snapshot) -> None:
        """Encode a snapshot for all topics that have gained a subscriber since their last message."""

    def dispatch(self) -> None:
        """Start to transmit the encoded messages in the background."""

    def publish_while_stopped(self, stamp: int) -> None:
        """Publish messages that are due by wall time while simulation time is stopped.

        Args:
            stamp: Simulation time [ns].
        """

    def finish(self) -> None:
        """Wait until all encoded messages have been handed over to the transport."""

    def warn(self, message: str) -> None:
        """Report a rejected command to the user."""

    def report(self, stamp: int) -> None:
        """Publish the status of the loop immediately, stamped with simulation time [ns]."""

    def fail(self, message: str, stamp: int) -> None:
        """Report a physics fault at simulation time ``stamp`` [ns] to the user."""


class Terminal:
    """Output for a loop without ROS. It prints warnings and faults to standard error."""

    def subscribed(self) -> set[str]:
        """Return an empty set."""
        return set()

    def new_subscribers(self) -> bool:
        """Return False."""
        return False

    def expects_commands(self) -> bool:
        """Return False."""
        return False

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Do nothing."""

    def publish_to_new(self, snapshot: Snapshot) -> None:
        """Do nothing."""

    def dispatch(self) -> None:
        """Do nothing."""

    def publish_while_stopped(self, stamp: int) -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Do nothing."""

    def warn(self, message: str) -> None:
        """Print the message."""
        print(f"tactile_sim: {message}", file=sys.stderr)

    def report(self, stamp: int) -> None:
        """Do nothing, because `warn` has already printed rejected commands."""

    def fail(self, message: str, stamp: int) -> None:
        """Print the message."""
        print(f"tactile_sim: {message}", file=sys.stderr)
