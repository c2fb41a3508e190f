"""Write a bag in a separate thread, so that a simulation does not wait for compression and the disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from typing import Any, NamedTuple

from tactile_sim.bag.writer import BagWriter
from tactile_sim.common.errors import BagError

MAX_WAITING = 64 << 20
"""Total size of queued messages at which `BackgroundWriter.write` waits for the disk [bytes]."""
REPORT_INTERVAL = 0.2
"""Maximum wall time that the thread waits before it writes messages and reports its status [s]."""


Data = bytes | Callable[[], bytes | None]
"""CDR bytes of a message, or a function that waits for them; if it returns None, the message is left out."""


class BagStatus(NamedTuple):
    """Status of a recording."""

    bag: str
    """Folder of the bag."""
    active: bool
    """Whether messages can be added. If False, the bag is complete or ``fault`` is set."""
    duration: float
    """Difference between the largest and the smallest log time of the recorded messages [s]."""
    size: int
    """Size of the bag's MCAP file so far [bytes]."""
    fault: str = ""
    """Why the recording ended early; empty if it did not. The bag keeps all messages written before then."""


class BackgroundWriter:
    """Writes a new bag in a thread. No message is dropped: if the disk is slow, `write` waits.

    Args:
        folder: The bag's folder, which must not exist yet.
        on_status: Called in the writing thread with the current status, periodically and once at the end.

    Raises:
        BagError: The bag cannot be created.
    """

    def __init__(self, folder: Path, on_status: Callable[[BagStatus], None]) -> None:
        self._bag = BagWriter(folder)
        self._on_status = on_status
        self._changed = Condition()
        self._batches: list[Sequence[tuple[int, int, Data]]] = []
        self._waiting = 0
        """Total size of the queued messages [bytes]."""
        self._ending = False
        self._range: tuple[int, int] | None = None
        """Smallest and largest log time of the written messages [ns]; None before the first one."""
        self._fault = ""
        self._thread = Thread(target=self._run, name="recording", daemon=True)

    def add_topic(self, *arguments: Any) -> int:
        """Add a topic and return its id for `write`. Call this before `start`.

        Args:
            *arguments: Arguments of `BagWriter.add_topic`.
        """
        return self._bag.add_topic(*arguments)

    def start(self) -> None:
        """Start the thread that writes queued messages and reports the status."""
        self._thread.start()

    @property
    def failed(self) -> bool:
        """Whether writing has failed. After a failure, messages are ignored."""
        return bool(self._fault)

    def write(self, messages: Sequence[tuple[int, int, Data]]) -> None:
        """Queue messages for writing. Wait if `MAX_WAITING` bytes are already queued.

        Args:
            messages: Topic id, log time [ns] and data of each message.
        """
        size = sum(len(data) for _, _, data in messages if isinstance(data, bytes))
        with self._changed:
            self._changed.wait_for(lambda: self._waiting < MAX_WAITING or self._fault)
            if not self._fault:
                self._batches.append(messages)
                self._waiting += size
                self._changed.notify_all()

    def finish(self) -> None:
        """Let the thread write all queued messages and complete the bag, without waiting for it."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()

    def close(self) -> None:
        """Complete the bag and wait for the thread."""
        self.finish()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            ending = False
            while not ending:
                with self._changed:
                    self._changed.wait_for(
                        lambda: self._ending or self._waiting >= MAX_WAITING, REPORT_INTERVAL
                    )
                    batches, self._batches, ending = self._batches, [], self._ending
                    self._waiting = 0
                    self._changed.notify_all()
                self._write(batches)
                self._bag.tick()
                if not ending:
                    self._on_status(self._status(True))
            self._bag.close()
        except BagError as error:
            with self._changed:
                self._fault = str(error)
                self._batches.clear()
                self._changed.notify_all()
            with suppress(BagError):
                self._bag.close()
        self._on_status(self._status(False))

    def _write(self, batches: Sequence[Sequence[tuple[int, int, Data]]]) -> None:
        for batch in batches:
            for topic, time, made in batch:
                data = made if isinstance(made, bytes) else made()
                if data is None:
                    continue
                first, last = self._range or (time, time)
                self._range = min(first, time), max(last, time)
                self._bag.write(topic, time, data)

    def _status(self, active: bool) -> BagStatus:
        first, last = self._range or (0, 0)
        return BagStatus(
            str(self._bag.folder), active, (last - first) / 1e9, self._bag.bytes_written, self._fault
        )
