"""Guard a viser server against hostile clients.

viser trusts its clients: a client can set any property of an input and send all kinds of messages. Therefore,
messages are validated before viser receives them, and invalid messages are ignored.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from http import HTTPStatus
from typing import Annotated, Any, Literal

import msgspec
import viser
from msgspec import Meta
from websockets.asyncio.server import ServerConnection
from websockets.frames import OP_BINARY, OP_TEXT, Frame
from websockets.http11 import Request, Response
from websockets.protocol import Event, State

from tactile_sim.view.address import Access, Refusal
from tactile_sim.view.page import with_scripts
from tactile_sim.view.viser_internals import PROTOCOL, input_of, serving

MAX_CONNECTIONS = 128
"""Largest number of open connections."""
MAX_MESSAGE = 1 << 16
"""Largest size of a message from a browser [bytes]."""
MAX_TEXT = 200
"""Largest length of a text input from a browser [characters]."""
RATE, BURST = 100.0, 200.0
"""Limits for messages per connection: average rate [1/s] and burst size. Further messages are delayed.

The same limits apply to fragments and pings. These cannot be delayed; if they exceed the limits, the
connection is aborted.
"""
STALL = 60.0
"""Time after which a client that does not read its messages is disconnected [s]."""
GRACE = 0.5
"""Time that clients have to close their connections at shutdown [s]."""

_LOG = logging.getLogger("tactile_sim.view")
_LOG.addHandler(logging.NullHandler())  # errors of clients are not printed by default

_Number = Annotated[float, Meta(ge=-1e12, le=1e12)]
_Vector = tuple[_Number, _Number, _Number]
_Pixels = Annotated[float, Meta(ge=1, le=1e5)]
_Name = Annotated[str, Meta(max_length=1000)]


class _Message(msgspec.Struct, tag_field="type", forbid_unknown_fields=True):
    """An accepted message. Each subclass has the fields of the viser class that its tag names."""


class _Camera(_Message, tag="ViewerCameraMessage"):
    wxyz: tuple[_Number, _Number, _Number, _Number]
    position: _Vector
    fov: _Number
    near: _Number
    far: _Number
    image_height: _Pixels
    image_width: _Pixels
    look_at: _Vector
    up_direction: _Vector


class _Click(_Message, tag="SceneNodeClickMessage"):
    name: _Name
    instance_index: int | None
    ray_origin: _Vector
    ray_direction: _Vector
    screen_pos: tuple[_Number, _Number]
    modifier: _Name | None
    owner: _Name = ""


class _Drag(_Message, tag="SceneNodeDragMessage"):
    phase: Literal["start", "update", "end"]
    name: _Name
    instance_index: int | None
    start_position: _Vector
    start_screen_pos: tuple[_Number, _Number]
    end_position: _Vector
    end_screen_pos: tuple[_Number, _Number]
    button: Literal["left", "middle", "right"]
    modifier: _Name | None
    owner: _Name = ""


class _Command(_Message, tag="CommandTriggerMessage"):
    uuid: _Name


class _Value(msgspec.Struct, forbid_unknown_fields=True):
    value: bool | int | float | str


class _GuiUpdate(_Message, tag="GuiUpdateMessage"):
    uuid: _Name
    updates: _Value


_DECODER = msgspec.msgpack.Decoder(_Camera | _Click | _Drag | _Command | _GuiUpdate)


class Guard:
    """Validates the requests and messages of one viser server.

    Attributes:
        server: The viser server, or None before it is created.
        page: Settings of the page, see `with_scripts`.
        answers: Function of the query that answers a request, by path.
        drawn: Whether any page has drawn its first frame.
    """

    def __init__(self, access: Access):
        self.server: viser.ViserServer | None = None
        self.page = "{}"
        self.answers: dict[str, Callable[[str], str]] = {
            "/status": lambda _: PROTOCOL,
            "/drawn": self._on_drawn,
        }
        self.drawn = False
        self._access = access
        self._connections: dict[_GuardedConnection, None] = {}
        """Open connections, oldest first."""

    def installed(self) -> AbstractContextManager[None]:
        """Return a context within which viser servers are created with this guard."""

        def change(process_request: Callable[..., Response | None], **others: Any) -> dict[str, Any]:
            return others | {
                "process_request": functools.partial(self._answer, process_request),
                "create_connection": functools.partial(_GuardedConnection, guard=self),
                "max_size": MAX_MESSAGE,
                "logger": _LOG,
            }

        return serving(change)

    def close_connections(self) -> None:
        """Abort connections that are still open after `GRACE`. Call this before the server stops."""
        for connection in tuple(self._connections):
            connection.loop.call_soon_threadsafe(
                connection.loop.call_later, GRACE, connection.transport.abort
            )

    def _answer(
        self,
        process_request: Callable[[ServerConnection, Request], Response | None],
        connection: ServerConnection,
        request: Request,
    ) -> Response | None:
        """Return the response to a request, or None to open a websocket."""
        try:
            headers = self._access.check(request)
            if request.headers.get("Upgrade", "").lower() == "websocket":
                _check_protocol(request)
                return None
            path, _, query = request.path.partition("?")
            if path in self.answers:
                return connection.respond(HTTPStatus.OK, self.answers[path](query))
            response = process_request(connection, request)
        except Refusal as refusal:
            return connection.respond(refusal.status, f"{refusal.reason}\n")
        except (LookupError, ValueError, OSError):  # repeated header, invalid path
            return connection.respond(HTTPStatus.BAD_REQUEST, "malformed request\n")
        assert response is not None
        response.headers.update(headers)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            gzipped = response.headers["Content-Encoding"] == "gzip"
            response.body = with_scripts(bytes(response.body), gzipped, self.page)
            del response.headers["Content-Length"]
            response.headers.update({"Content-Length": str(len(response.body)), "Cache-Control": "no-cache"})
        return response

    def _on_drawn(self, _: str) -> str:
        self.drawn = True
        return ""

    def admit(self, connection: _GuardedConnection) -> None:
        """Register a connection. If there are too many, abort one.

        This is the oldest one whose request is incomplete, which includes the check of the token, or else the
        oldest websocket without a valid message, which a page sends at once, or else the new connection.
        """
        others = list(self._connections)
        self._connections[connection] = None
        if len(others) >= MAX_CONNECTIONS:
            incomplete = (other for other in others if other.state is State.CONNECTING)
            silent = (other for other in others if not other.has_spoken)
            next(incomplete, next(silent, connection)).transport.abort()

    def release(self, connection: _GuardedConnection) -> None:
        """Unregister a closed connection."""
        self._connections.pop(connection, None)

    def accepts(self, data: str | bytes) -> bool:
        """Return whether the type and the values of a message are valid."""
        try:
            message = _DECODER.decode(data) if isinstance(data, bytes) else None
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return False
        if not isinstance(message, _GuiUpdate):
            return message is not None
        handle = input_of(self.server, message.uuid) if self.server else None
        return handle is not None and _fits(handle, message.updates.value)


class _Allowance:
    """A token bucket that allows bursts of `BURST` tokens and `RATE` tokens per second on average."""

    def __init__(self) -> None:
        self._left, self._counted = BURST, time.monotonic()

    def take(self) -> float:
        """Consume a token and return the time to wait until it is available [s]."""
        now = time.monotonic()
        self._left = min(BURST, self._left + RATE * (now - self._counted)) - 1.0
        self._counted = now
        return max(0.0, -self._left / RATE)


class _GuardedConnection(ServerConnection):
    """A websocket connection whose `recv` returns only messages that the guard accepts, at a limited rate.

    It aborts clients that send too many fragments or pings, or that do not read for `STALL` seconds.

    Attributes:
        has_spoken: Whether the guard has accepted a message of the client.
    """

    def __init__(self, *args: Any, guard: Guard, **others: Any):
        super().__init__(*args, **others)
        self._guard = guard
        self._messages, self._frames = _Allowance(), _Allowance()
        self.has_spoken = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._guard.admit(self)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall = self.loop.call_later(STALL, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stall.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        self._guard.release(self)
        super().connection_lost(exc)

    def process_event(self, event: Event) -> None:
        """Process a request or websocket frame. Too many fragments or control frames end the connection."""
        fragment = isinstance(event, Frame) and not (event.fin and event.opcode in (OP_BINARY, OP_TEXT))
        if fragment and self._frames.take():
            self.transport.abort()
        else:
            super().process_event(event)

    def send_data(self) -> None:
        """Send pending data, after answering an invalid HTTP request, which websockets would ignore."""
        if self.request is None and self.protocol.handshake_exc and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        super().send_data()

    async def recv(self, decode: bool | None = None) -> str | bytes:  # type: ignore[override]
        """Return the next accepted message."""
        while True:
            data = await super().recv(decode)
            await asyncio.sleep(self._messages.take())
            if self._guard.accepts(data):
                self.has_spoken = True
                return data


def _check_protocol(request: Request) -> None:
    """Check that a websocket request comes from a page of the same viser version."""
    offered = request.headers.get("Sec-WebSocket-Protocol", "").split(",")
    if PROTOCOL not in (name.strip() for name in offered):
        raise Refusal(HTTPStatus.BAD_REQUEST, f"the websocket protocol must be {PROTOCOL}; reload the page")


def _fits(handle: Any, value: bool | float | str) -> bool:
    """Return whether a value is valid for an input of the panel."""
    known = handle.value
    if isinstance(known, bool) or isinstance(value, bool):
        return isinstance(known, bool) and isinstance(value, bool)
    if isinstance(known, str):
        options = getattr(handle, "options", None)
        return isinstance(value, str) and (value in options if options else len(value) <= MAX_TEXT)
    return isinstance(known, int | float) and isinstance(value, int | float) and math.isfinite(value)
