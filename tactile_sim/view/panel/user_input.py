"""Handle panel inputs that both users and the program can set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from viser import GuiEvent, GuiInputHandle


def on_user(handle: GuiInputHandle, callback: Callable[[Any], None]) -> Callable[[Any], bool]:
    """Register a callback for the values that users enter.

    viser stores a user's value immediately but runs callbacks later. A value that the program sets in between
    is ignored because it would overwrite the user's value.

    Args:
        handle: The input.
        callback: Called with each value that a user enters.

    Returns:
        A function that sets the input from the program and returns whether the value was not ignored.
    """
    known = handle.value

    @handle.on_update
    def _(event: GuiEvent) -> None:
        nonlocal known
        if event.client is not None:
            known = event.target.value
            callback(known)

    def put(value: Any) -> bool:
        nonlocal known
        if handle.value != known:
            return False
        known = value
        handle.value = value  # type: ignore[misc]  # mypy does not see the setter of viser's property
        return True

    return put
