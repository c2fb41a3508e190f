"""Iterate over messages as time advances."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tactile_sim.bag.messages import Message


class Cursor:
    """Passes messages, which must be ordered by stamp, to a function as time advances."""

    def __init__(self, messages: Iterable[Message], take: Callable[[Message], object]) -> None:
        self._messages = iter(messages)
        self._take = take
        self._next = next(self._messages, None)

    def until(self, stamp: int) -> None:
        """Process the remaining messages with stamps up to and including ``stamp`` [ns]."""
        while self._next is not None and self._next.stamp <= stamp:
            self._take(self._next)
            self._next = next(self._messages, None)
