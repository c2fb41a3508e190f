"""Panel inputs that both users and the program can set."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Timer
from typing import Any

from viser import GuiApi, GuiEvent, GuiInputHandle


def on_user(handle: GuiInputHandle, callback: Callable[[Any], None]) -> Callable[[Any], bool]:
    """Register a callback for the values that users enter.

    viser stores a user's value immediately but runs callbacks later. A value that the program sets in between
    is ignored because it would overwrite the user's value.
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


SETTLE_TIME = 0.5
"""Time from the last keystroke until a value takes effect [s], so that typing 0.5 does not apply 0."""
UNFINISHED_TIME = 3.0
"""Time from the last keystroke until text that is not a number is rejected [s]."""


class NumberField:
    """A number field that rejects invalid numbers with a notice and reverts to the last valid one.

    It is based on a text input because browsers do not report when a number input becomes empty.

    Attributes:
        value: The last valid number.
    """

    def __init__(
        self,
        gui: GuiApi,
        label: str,
        value: float,
        is_valid: Callable[[float], bool],
        valid_range: str,
        notify: Callable[[str], None],
        on_change: Callable[[float], None] | None = None,
        hint: str | None = None,
        order: float | None = None,
    ):
        self.value = value
        self._label, self._is_valid, self._valid_range = label, is_valid, valid_range
        self._notify, self._on_change = notify, on_change
        self._timer: Timer | None = None
        self._lock = Lock()
        self._replaced = False
        """Whether the program has set the text since a user last entered a valid number."""
        self._input = gui.add_text(label, _text(value), hint=hint, order=order)
        self._put = on_user(self._input, self._on_input)

    def settle(self) -> bool:
        """Apply the entered text immediately and return whether it is a valid number."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            entered = self._input.value
            text = entered.strip()
            number = self._parse(text)
            if number is None:
                self._replace(_text(self.value))
            # A browser that received the program's text after it had sent this one shows the former.
            elif self._replaced and self._put(f"{entered} "):  # viser does not send a text that it has
                self._put(entered)
                self._replaced = False
            changed = number is not None and number != self.value
            self.value = self.value if number is None else number
        if number is None:
            self._notify(
                f"{self._label}: must be {self._valid_range}, got {text!r}; kept {_text(self.value)}"
            )
        elif changed and self._on_change:
            self._on_change(number)
        return number is not None

    def show(self, value: float) -> None:
        """Set the displayed number without calling ``on_change``."""
        self.value = value
        self._replace(_text(value))

    def _replace(self, text: str) -> None:
        self._put(text)
        self._replaced = True

    def _on_input(self, text: str) -> None:
        with self._lock:
            if self._timer:
                self._timer.cancel()
            self._timer = Timer(UNFINISHED_TIME if _number(text) is None else SETTLE_TIME, self.settle)
            self._timer.daemon = True
            self._timer.start()

    def _parse(self, text: str) -> float | None:
        number = _number(text)
        return number if number is not None and self._is_valid(number) else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _text(value: float) -> str:
    return f"{value:.10g}"
