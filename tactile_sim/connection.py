"""Exchange short messages between a simulation and a child process. Each arrives complete or not at all."""

from __future__ import annotations

import json
import os
import pickle
import select
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

MAX_FILES = 2
"""Largest number of file descriptors in a message."""
MAX_MESSAGE = 1 << 16
"""Largest size of a message [bytes]."""


@contextmanager
def pickled(content: Any) -> Iterator[int]:
    """Yield the descriptor of a file in memory with pickled content."""
    with os.fdopen(os.memfd_create("tactile_sim"), "wb") as file:
        pickle.dump(content, file)
        file.flush()
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        yield file.fileno()


class Connection:
    """One end of a connection between a simulation and a child process.

    Messages are mappings with JSON values. `tactile_sim.view.publisher` and
    `tactile_sim.cameras.process` list their messages.
    """

    def __init__(self, end: socket.socket):
        self._end = end
        self._poll = select.poll()
        self._poll.register(end, select.POLLIN)

    @staticmethod
    def pair() -> tuple[Connection, Connection]:
        """Return both ends of a new connection."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return Connection(ours), Connection(theirs)

    @staticmethod
    def of(file: int) -> Connection:
        """Create the end of a connection from its file descriptor."""
        return Connection(socket.socket(fileno=file))

    @property
    def file(self) -> int:
        """File descriptor of this end."""
        return self._end.fileno()

    def send(self, **message: Any) -> None:
        """Send a message without waiting.

        The message is dropped if it is too large, or if the peer is gone or has too many unread messages.
        """
        data = json.dumps(message).encode()
        if len(data) > MAX_MESSAGE:
            return
        try:
            self._end.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except OSError:
            pass

    def send_files(self, files: Sequence[int], **message: Any) -> None:
        """Send a message with copies of file descriptors, which the peer receives as its field ``files``.

        Errors are ignored as in `send`.
        """
        try:
            socket.send_fds(self._end, [json.dumps(message).encode()], files)
        except OSError:
            pass

    def receive(self, timeout: float | None = None) -> dict[str, Any] | None:
        """Return the next message.

        Args:
            timeout: Longest time to wait [s], or None for no limit.

        Returns:
            The message; an empty mapping after the timeout; None if the peer is gone.
        """
        try:
            if not self._poll.poll(None if timeout is None else timeout * 1e3):
                return {}
            data, files, _, _ = socket.recv_fds(self._end, MAX_MESSAGE, MAX_FILES)
        except OSError:
            return None
        if not data:
            return None
        return json.loads(data) | ({"files": files} if files else {})

    def shut_down(self) -> None:
        """Shut down the connection. Afterwards, ``receive`` returns None on both ends."""
        try:
            self._end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        """Close the file descriptor of this end."""
        self._end.close()
