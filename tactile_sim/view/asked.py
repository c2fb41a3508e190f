"""What a user does to an input of the panel, told from what this program does to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from viser import GuiEvent, GuiInputHandle


def on_user(handle: GuiInputHandle, act: Callable[[Any], None]) -> Callable[[Any], None]:
    """Calls ``act`` with each value that a user gives; returns what sets the input from here.

    viser takes a user's value at once and calls who listens some time later. What is set from here in between
    is left out, for the input would forget what the user gave.
    """
    known = handle.value

    @handle.on_update
    def _(event: GuiEvent) -> None:
        nonlocal known
        if event.client is not None:
            known = event.target.value
            act(known)

    def put(value: Any) -> None:
        nonlocal known
        if handle.value == known:
            known = value
            handle.value = value  # type: ignore[misc]  # viser's property has a setter that mypy does not see

    return put
