"""What a browser asks of whoever runs the simulation."""

from __future__ import annotations

from typing import Any, Protocol


class Controls(Protocol):
    """Passes on requests of the panel."""

    def ask(self, action: str, *arguments: Any) -> None:
        """Request one of `tactile_sim.actions.ACTIONS` and return at once.

        The effect is visible in the next moments, or comes as a line of text.
        """
