"""The requests that a browser can send to a simulation."""

from __future__ import annotations

from typing import Any, Protocol


class Controls(Protocol):
    """Receives requests."""

    def ask(self, action: str, *arguments: Any) -> None:
        """Request one of `tactile_sim.simulation.actions.ACTIONS` and return at once.

        The result appears in later frames or as a notice.
        """
