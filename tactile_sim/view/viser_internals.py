"""The uses of viser beyond its public interface, in Python. static/ uses ``window.__viserMutable``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import viser
import websockets.asyncio.server
from viser.infra import _infra
from viser.infra._async_message_buffer import AsyncMessageBuffer

PROTOCOL = f"viser-v{viser.__version__}"
"""Websocket subprotocol of viser's page, which names the version."""


def uuid_of(handle: Any) -> str:
    """Return the id of a panel element, by which scripts and styles in the page find it."""
    return str(handle._impl.uuid)


def input_of(server: viser.ViserServer, uuid: str) -> Any:
    """Return the panel input with an id, or None."""
    return server.gui._gui_input_handle_from_uuid.get(uuid)


@contextmanager
def serving(change: Callable[..., dict[str, Any]]) -> Iterator[None]:
    """Change the arguments of `websockets.asyncio.server.serve` for viser servers created in the context.

    viser has no arguments for access control.
    """
    _infra.AsyncMessageBuffer = _MessageBuffer  # type: ignore[misc]
    plain = websockets.asyncio.server.serve

    def serve(*args: Any, **others: Any) -> Any:
        return plain(*args, **change(**others))

    websockets.asyncio.server.serve = serve  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = plain  # type: ignore[misc]


class _LoopEvent(asyncio.Event):
    """An event that only the event loop of its waiting connections can set.

    viser 1.1 sets an `asyncio.Event` in the thread that sends a message, and again in the event loop. The
    first call is not thread-safe: if the event loop changes the queue of waiting connections at the same
    time, the sender fails with ``RuntimeError: deque mutated during iteration``.
    """

    _waiting_in: asyncio.AbstractEventLoop | None = None

    async def wait(self) -> Literal[True]:
        """Wait until the event is set."""
        self._waiting_in = asyncio.get_running_loop()
        return await super().wait()

    def set(self) -> None:
        """Set the event. In other threads do nothing, even if they run a loop, as in a notebook."""
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            return
        if self._waiting_in in (None, running):
            super().set()


class _MessageBuffer(AsyncMessageBuffer):
    def __init__(self, *args: Any, **others: Any):
        super().__init__(*args, **others)
        self.message_event = _LoopEvent()
