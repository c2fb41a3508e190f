"""What a user does to an input of the panel, told from what this program does to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from viser import GuiEvent, GuiInputHandle


def on_user(handle: GuiInputHandle, act: Callable[[Any], None]) -> None:
    """Calls ``act`` with each value that a user gives; values that are set from here are no such thing."""

    @handle.on_update
    def _(event: GuiEvent) -> None:
        if event.client is not None:
            act(event.target.value)


def put(handle: GuiInputHandle, value: Any) -> None:
    """Sets an input from here."""
    handle.value = value  # type: ignore[misc]  # viser's property has a setter that mypy does not see
