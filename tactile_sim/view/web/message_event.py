"""Let any thread send messages to browsers through viser.

viser 1.1 sets an `asyncio.Event` in the thread that sends a message, and again in the event loop. The first
call is not thread-safe: if the event loop changes the queue of waiting connections at the same time, the
sender fails with ``RuntimeError: deque mutated during iteration``.
"""

from __future__ import annotations

import asyncio
from typing import Any

from viser.infra import _infra
from viser.infra._async_message_buffer import AsyncMessageBuffer


class _LoopEvent(asyncio.Event):
    """An event that only the event loop can set."""

    def set(self) -> None:
        """Set the event. In other threads, do nothing: viser also schedules this call in the event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        super().set()


class _MessageBuffer(AsyncMessageBuffer):
    def __init__(self, *args: Any, **others: Any):
        super().__init__(*args, **others)
        self.message_event = _LoopEvent()


def install() -> None:
    """Make the viser servers that are created from now on use `_LoopEvent`."""
    _infra.AsyncMessageBuffer = _MessageBuffer  # type: ignore[misc]
