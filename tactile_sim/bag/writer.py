"""Write a rosbag2 folder with one MCAP file. The folder is a valid bag at all times."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from typing import Any, NamedTuple

from tactile_sim.bag import metadata
from tactile_sim.bag.mcap_file import McapWriter
from tactile_sim.common.errors import BagError

INTERVAL = 0.5
"""Wall time between two chunks [s]. If the process is killed, less than 1 s of data is lost."""


class BagWriter:
    """Writes a new bag.

    After an error, such as a full disk, the bag keeps the messages written before it, and :meth:`close` still
    writes the index if there is space.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            raise BagError(f"{folder} already exists; choose another bag, or remove it") from None
        except OSError as error:
            raise BagError(f"cannot create the bag {folder}: {error.strerror}") from None
        self.folder = folder
        self.topics: dict[int, metadata.TopicInfo] = {}
        self._due = time.monotonic() + INTERVAL
        self._changed = False
        self._draft: Callable[[], Sequence[tuple[int, int, bytes]]] = tuple
        name = f"{folder.resolve().name}_0.mcap"
        with _BagErrors(folder):
            self._file = McapWriter(folder / name)
        self._name = name
        self._describe()

    def add_topic(
        self, name: str, type_name: str, definition: str, qos: list[dict[str, Any]], type_hash: str = ""
    ) -> int:
        """Add a topic.

        Returns:
            The topic's id for :meth:`write`.
        """
        profiles = metadata.dump(qos) if qos else ""
        details = {"offered_qos_profiles": profiles, "topic_type_hash": type_hash}
        channel = self._file.add_channel(name, type_name, definition, details)
        self.topics[channel] = metadata.TopicInfo(name, type_name, qos, type_hash)
        self._changed = True
        return channel

    def write(self, topic: int, log_time: int, data: bytes) -> None:
        """Add a message to a topic."""
        with _BagErrors(self.folder):
            self._file.write(topic, max(log_time, 0), data)
        self._changed = True

    def draft(self, messages: Callable[[], Sequence[tuple[int, int, bytes]]]) -> None:
        """Set a function that returns messages whose log times may still change.

        The function is called at each write to disk. The messages that it returns replace those that it
        returned before. They stay in the bag if the process is killed. Use :meth:`write` for final messages.
        """
        self._draft = messages
        self._changed = True

    def tick(self) -> None:
        """Write pending messages to disk if they are due. Call this several times a second."""
        now = time.monotonic()
        if self._changed and now >= self._due:
            with _BagErrors(self.folder):
                self._file.end_chunk()
                messages = self._draft()
                if messages:
                    self._file.draft(messages)
            self._describe()
            self._due = now + INTERVAL
            self._changed = False

    def close(self) -> None:
        """Write the pending messages, the index of the file and the metadata of the folder."""
        with _BagErrors(self.folder):
            try:
                self._file.end_chunk()
            finally:
                self._file.finish(metadata.dump(self._information()))
        self._describe()

    @property
    def bytes_written(self) -> int:
        """Size of the bag's MCAP file so far [bytes]."""
        return self._file.bytes_written

    def _information(self) -> dict[str, Any]:
        for channel, topic in self.topics.items():
            topic.count = self._file.counts[channel]
        return metadata.information(self._name, self._file.start, self._file.stop, list(self.topics.values()))

    def _describe(self) -> None:
        with _BagErrors(self.folder):
            metadata.replace(self.folder, metadata.document(self._information()))


class _BagErrors:
    """Context manager that converts operating system errors to BagErrors that name the bag."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError):
            reason = error.strerror or os.strerror(error.errno or 0)
            raise BagError(f"cannot write the bag {self.folder}: {reason}") from None


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
    """Writes a new bag in a thread. No message is dropped: if the disk is slow, `write` waits."""

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
        """Add a topic and return its id for `write`. Call this before `start`."""
        return self._bag.add_topic(*arguments)

    def start(self) -> None:
        """Start the thread that writes queued messages and reports the status."""
        self._thread.start()

    @property
    def failed(self) -> bool:
        """Whether writing has failed. After a failure, messages are ignored."""
        return bool(self._fault)

    def write(self, messages: Sequence[tuple[int, int, Data]]) -> None:
        """Queue messages for writing. Wait if `MAX_WAITING` bytes are already queued."""
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
            for topic, log_time, made in batch:
                data = made if isinstance(made, bytes) else made()
                if data is None:
                    continue
                first, last = self._range or (log_time, log_time)
                self._range = min(first, log_time), max(last, log_time)
                self._bag.write(topic, log_time, data)

    def _status(self, active: bool) -> BagStatus:
        first, last = self._range or (0, 0)
        return BagStatus(
            str(self._bag.folder), active, (last - first) / 1e9, self._bag.bytes_written, self._fault
        )
