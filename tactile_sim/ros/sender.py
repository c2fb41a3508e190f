"""Pass messages to the middleware in a separate thread, so that the simulation does not wait.

Publishing takes about 25 µs of CPU time per message, most of it to wake up subscribers. rclpy holds the
interpreter lock during this time, whereas a call to rcl through ctypes releases it. In between, the thread
needs the lock, so `Sender.start` should be called just before the main thread releases it for longer.
"""

from __future__ import annotations

import ctypes
from collections import deque
from queue import SimpleQueue
from threading import Lock, Thread

from rclpy.publisher import Publisher

MAX_WAITING = 4
"""Maximum number of waiting batches. If there are more, `submit` publishes them in its caller's thread."""


class _SerializedMessage(ctypes.Structure):
    """The C struct ``rcl_serialized_message_t``. Publishing does not use its allocator."""

    _fields_ = (
        ("buffer", ctypes.c_char_p),
        ("length", ctypes.c_size_t),
        ("capacity", ctypes.c_size_t),
        ("allocator", ctypes.c_void_p * 5),
    )


_rcl_publish = ctypes.CDLL("librcl.so").rcl_publish_serialized_message
_rcl_publish.argtypes = [ctypes.c_void_p] * 3


class Sender:
    """Publishes batches of encoded messages in order, in its own thread.

    `close` must be called before the publishers are destroyed.
    """

    def __init__(self) -> None:
        self._batches: deque[list[tuple[Publisher, bytes]]] = deque()
        self._publishing = Lock()
        self._signals: SimpleQueue[None] = SimpleQueue()
        """One entry for each call of `start`, which wakes up the thread."""
        self._error: Exception | None = None
        self._closed = False
        self._thread = Thread(target=self._run, name="publishing", daemon=True)
        self._thread.start()

    def submit(self, batch: list[tuple[Publisher, bytes]]) -> None:
        """Queue messages for `start`. If more than `MAX_WAITING` batches are waiting, publish them here.

        Args:
            batch: Publishers and encoded messages, in the order of publishing.

        Raises:
            RuntimeError: An earlier message could not be published.
        """
        self._batches.append(batch)
        if len(self._batches) > MAX_WAITING:
            self.finish()
        self.check()

    def start(self) -> None:
        """Wake up the thread, which publishes the waiting batches."""
        if self._batches:
            self._signals.put(None)

    def finish(self) -> None:
        """Wait until all submitted messages have been passed to the middleware.

        Raises:
            RuntimeError: A message could not be published.
        """
        self._publish_waiting()
        self.check()

    def check(self) -> None:
        """Check that publishing has not failed.

        Raises:
            RuntimeError: A message could not be published.
        """
        if self._error:
            raise RuntimeError("publishing failed") from self._error

    def close(self) -> None:
        """Publish the waiting messages and end the thread."""
        self._publish_waiting()
        self._closed = True
        self._signals.put(None)
        self._thread.join()

    def _run(self) -> None:
        while not (self._closed or self._error):
            self._publish_waiting()
            self._signals.get()

    def _publish_waiting(self) -> None:
        with self._publishing:
            while self._batches and not (self._closed or self._error):
                try:
                    for publisher, message in self._batches.popleft():
                        _publish(publisher, message)
                except Exception as error:
                    self._error = error


def _publish(publisher: Publisher, message: bytes) -> None:
    serialized = _SerializedMessage(message, len(message), len(message))
    if code := _rcl_publish(publisher.handle.pointer, ctypes.byref(serialized), None):
        raise RuntimeError(f"{publisher.topic}: rcl_publish_serialized_message returned {code}")
