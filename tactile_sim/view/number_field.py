"""A number that users type into the panel."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Timer

from viser import GuiApi

from tactile_sim.view.asked import on_user

SETTLED = 0.5
"""A number counts after so long without another key [s]: on the way to 0.5 there is a 0."""
UNFINISHED = 3.0
"""So long [s] a field may be empty, or hold what is no number yet."""


class NumberField:
    """What cannot be is refused in words, and the field shows again what holds: ``value``.

    A field for text, since browsers do not tell when one for numbers is emptied.
    """

    def __init__(
        self,
        gui: GuiApi,
        label: str,
        value: float,
        allowed: Callable[[float], bool],
        wanted: str,
        tell: Callable[[str], None],
        act: Callable[[float], None] | None = None,
        hint: str | None = None,
    ):
        """wanted: what is allowed, in words; tell: whom to tell a refusal; act: done with each new number."""
        self.value = value
        self._label, self._allowed, self._wanted = label, allowed, wanted
        self._tell, self._act = tell, act
        self._waiting: Timer | None = None
        self._lock = Lock()
        self._input = gui.add_text(label, _text(value), hint=hint)
        self._put = on_user(self._input, self._typed)

    def settle(self) -> bool:
        """Takes what stands there; says whether it can be."""
        with self._lock:
            if self._waiting:
                self._waiting.cancel()
            text = self._input.value.strip()
            number = self._read(text)
            if number is None:
                self._put(_text(self.value))
            fresh = number is not None and number != self.value
            self.value = self.value if number is None else number
        if number is None:
            said = f"{text!r} is none" if text else "it was empty"
            self._tell(f"{self._label}: {self._wanted}; {said}, it is still {_text(self.value)}")
        elif fresh and self._act:
            self._act(number)
        return number is not None

    def show(self, value: float) -> None:
        """Sets it from here."""
        self.value = value
        self._put(_text(value))

    def _typed(self, text: str) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.cancel()
            self._waiting = Timer(UNFINISHED if _number(text) is None else SETTLED, self.settle)
            self._waiting.daemon = True
            self._waiting.start()

    def _read(self, text: str) -> float | None:
        number = _number(text)
        return number if number is not None and self._allowed(number) else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _text(value: float) -> str:
    return f"{value:.10g}"
