"""Interface for requests from a browser to a simulation."""

from __future__ import annotations

from typing import Any, Protocol


class Controls(Protocol):
    """Receives requests from browsers."""

    def ask(self, action: str, *arguments: Any) -> None:
        """Request an action from `tactile_sim.simulation.actions.ACTIONS` without waiting for its result.

        The result is visible in later frames or reported in a notice.
        """
