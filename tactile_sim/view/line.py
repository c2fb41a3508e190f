"""The line between a simulation and its view: short messages in both directions, each whole or not at all."""

from __future__ import annotations

import json
import select
import socket
from typing import Any

MAX_MESSAGE = 1 << 16
"""Size of a message [bytes]."""


class Line:
    """One end. A message is a mapping of plain values; see `tactile_sim.view.link` for those there are."""

    def __init__(self, end: socket.socket):
        self._end = end
        self._arrival = select.poll()
        self._arrival.register(end, select.POLLIN)

    @staticmethod
    def pair() -> tuple[Line, Line]:
        """Both ends."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return Line(ours), Line(theirs)

    @staticmethod
    def of(file: int) -> Line:
        """The end that is open under this number."""
        return Line(socket.socket(fileno=file))

    @property
    def file(self) -> int:
        """The number of the end as an open file."""
        return self._end.fileno()

    def send(self, **message: Any) -> None:
        """Send without waiting; drop the message if it is too large or the peer is gone or far behind."""
        data = json.dumps(message).encode()
        if len(data) > MAX_MESSAGE:
            return
        try:
            self._end.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except OSError:
            pass

    def receive(self, patience: float | None = None) -> dict[str, Any] | None:
        """The next message, an empty one after so many seconds; None where the other side is gone."""
        try:
            if not self._arrival.poll(None if patience is None else patience * 1e3):
                return {}
            data = self._end.recv(MAX_MESSAGE)
        except OSError:
            return None
        return json.loads(data) if data else None

    def hang_up(self) -> None:
        """Ends the line: both sides' ``receive`` gives None from now on."""
        try:
            self._end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        """Gives the end back."""
        self._end.close()
