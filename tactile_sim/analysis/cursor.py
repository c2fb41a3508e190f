"""Going through messages in the pace of a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tactile_sim.bag.messages import Message


class Cursor:
    """Hands messages over as their time comes; each is one topic's, in the order of their stamps."""

    def __init__(self, messages: Iterable[Message], take: Callable[[Message], object]) -> None:
        self._messages = iter(messages)
        self._take = take
        self._next = next(self._messages, None)

    def until(self, stamp: int) -> None:
        """Hand over all messages up to a time [ns]."""
        while self._next is not None and self._next.stamp <= stamp:
            self._take(self._next)
            self._next = next(self._messages, None)
