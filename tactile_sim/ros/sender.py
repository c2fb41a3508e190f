"""Pass messages to the middleware in a separate thread, so that the simulation does not wait.

Publishing takes about 25 µs of CPU time per message, most of it to wake up subscribers. rclpy holds the
interpreter lock during this time, whereas a call to rcl through ctypes releases it. In between, the thread
needs the lock, so `Sender.start` should be called just before the main thread releases it for longer.
"""

from __future__ import annotations

import ctypes
import math
from collections import deque
from queue import SimpleQueue
from threading import Lock, Thread

from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, HistoryPolicy

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
_await_acknowledgments = ctypes.CDLL("librcl.so").rcl_publisher_wait_for_all_acked
# Holds the interpreter lock: getting it back from a busy thread would take up to 5 ms for each message.
_check_acknowledgments = ctypes.PyDLL("librcl.so").rcl_publisher_wait_for_all_acked
for _function in (_await_acknowledgments, _check_acknowledgments):
    _function.argtypes = [ctypes.c_void_p, ctypes.c_int64]


class Queue:
    """The queue of a publisher in the middleware, which drops its oldest message when it is full.

    Acknowledged messages leave the queue, so a queue is full only if a subscriber does not receive.

    Attributes:
        publisher: The publisher.
        lost: Number of messages that were dropped before all subscribers were known to have received them.
    """

    def __init__(self, publisher: Publisher) -> None:
        self.publisher = publisher
        self.lost = 0
        qos = publisher.qos_profile
        drops = qos.history == HistoryPolicy.KEEP_LAST and qos.durability == DurabilityPolicy.VOLATILE
        self._depth = qos.depth if drops else math.inf
        self._waiting = 0
        """Number of messages in the queue that may not have been acknowledged."""

    def has_room(self, patience: float) -> bool:
        """Return whether the next message drops none that was not acknowledged.

        Args:
            patience: Maximum time to wait for acknowledgments if the queue is full [s].
        """
        if self._waiting < self._depth / 2:
            return True
        is_full = self._waiting >= self._depth
        if self.acknowledged(patience if is_full else 0.0):
            self._waiting = 0
        return not is_full or self._waiting == 0

    def acknowledged(self, patience: float) -> bool:
        """Wait until subscribers have acknowledged all messages, and return whether they have.

        Args:
            patience: Maximum time to wait [s].
        """
        wait = _await_acknowledgments if patience > 0.0 else _check_acknowledgments
        return wait(self.publisher.handle.pointer, round(patience * 1e9)) == 0

    def count(self, drops: bool) -> None:
        """Count a published message, and the one that it drops if ``drops`` is set."""
        if drops:
            self.lost += 1
        else:
            self._waiting += 1


class Sender:
    """Publishes batches of encoded messages in order, in its own thread.

    `close` must be called before the publishers are destroyed.

    Args:
        patience: Maximum time to wait for the subscribers of a full queue before messages are dropped [s].
            The sender waits only once until they receive again.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._stalled: set[Queue] = set()
        """Queues that drop messages, because their subscribers do not receive."""
        self._batches: deque[list[tuple[Queue, bytes]]] = deque()
        self._publishing = Lock()
        self._signals: SimpleQueue[None] = SimpleQueue()
        """One entry for each call of `start`, which wakes up the thread."""
        self._error: Exception | None = None
        self._closed = False
        self._thread = Thread(target=self._run, name="publishing", daemon=True)
        self._thread.start()

    def submit(self, batch: list[tuple[Queue, bytes]]) -> None:
        """Queue messages for `start`. If more than `MAX_WAITING` batches are waiting, publish them here."""
        self._batches.append(batch)
        if len(self._batches) > MAX_WAITING:
            self.finish()
        self.check()

    def start(self) -> None:
        """Wake up the thread, which publishes the waiting batches."""
        if self._batches:
            self._signals.put(None)

    def finish(self) -> None:
        """Wait until all submitted messages have been passed to the middleware."""
        self._publish_waiting()
        self.check()

    def check(self) -> None:
        """Check that publishing has not failed."""
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
                    for queue, message in self._batches.popleft():
                        self._publish(queue, message)
                except Exception as error:
                    self._error = error

    def _publish(self, queue: Queue, message: bytes) -> None:
        if has_room := queue.has_room(0.0 if self._stalled else self._patience):
            self._stalled.discard(queue)
        else:
            self._stalled.add(queue)
        _publish(queue.publisher, message)
        queue.count(drops=not has_room)


def _publish(publisher: Publisher, message: bytes) -> None:
    serialized = _SerializedMessage(message, len(message), len(message))
    if code := _rcl_publish(publisher.handle.pointer, ctypes.byref(serialized), None):
        raise RuntimeError(f"{publisher.topic}: rcl_publish_serialized_message returned {code}")
