"""A rosbag2 folder with one MCAP file, written so that it is a bag from its first moment to its last."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tactile_sim.bag import metadata
from tactile_sim.bag.mcap_writer import McapWriter
from tactile_sim.errors import BagError

INTERVAL = 0.5  # s of wall time after which a chunk ends, so that a kill costs less than a second


class BagWriter:
    """Writes a new bag.

    A full disk raises :class:`BagError` from any method; the bag then holds what went before, and
    :meth:`close` still ends it properly where there is room for the index.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            raise BagError(f"{folder} is already there: name another bag, or remove it") from None
        except OSError as error:
            raise BagError(f"cannot make the bag {folder}: {error.strerror}") from None
        self.folder = folder
        self.topics: dict[int, metadata.TopicInfo] = {}
        self._due = time.monotonic() + INTERVAL
        self._changed = False
        self._draft: Callable[[], Sequence[tuple[int, int, bytes]]] = tuple
        name = f"{folder.resolve().name}_0.mcap"
        with _told(folder):
            self._file = McapWriter(folder / name)
        self._name = name
        self._describe()

    def add_topic(
        self, name: str, type_name: str, definition: str, qos: list[dict[str, Any]], type_hash: str = ""
    ) -> int:
        """Make a topic known; returns its id for :meth:`write`."""
        profiles = metadata.dump(qos) if qos else ""
        details = {"offered_qos_profiles": profiles, "topic_type_hash": type_hash}
        channel = self._file.add_channel(name, type_name, definition, details)
        self.topics[channel] = metadata.TopicInfo(name, type_name, qos, type_hash)
        self._changed = True
        return channel

    def write(self, topic: int, log_time: int, data: bytes) -> None:
        """Add a message with its CDR bytes; ``log_time`` in ns, 0 or later."""
        with _told(self.folder):
            self._file.write(topic, max(log_time, 0), data)
        self._changed = True

    def draft(self, messages: Callable[[], Sequence[tuple[int, int, bytes]]]) -> None:
        """Have messages (topic, log time, data) on the disk whose times may yet change, also those of later.

        They are asked for whenever it is time to write, and are in the bag should it end then. The next time
        replaces them; :meth:`write` is for those that stay.
        """
        self._draft = messages
        self._changed = True

    def tick(self) -> None:
        """Put what there is on the disk if it is time; to be called several times a second."""
        now = time.monotonic()
        if self._changed and now >= self._due:
            with _told(self.folder):
                self._file.end_chunk()
                messages = self._draft()
                if messages:
                    self._file.draft(messages)
            self._describe()
            self._due = now + INTERVAL
            self._changed = False

    def close(self) -> None:
        """End the file with its index and the folder with its metadata."""
        with _told(self.folder):
            try:
                self._file.end_chunk()
            finally:
                self._file.finish(metadata.dump(self._information()))
        self._describe()

    @property
    def bytes_written(self) -> int:
        """The size of the file."""
        return self._file.bytes_written

    def _information(self) -> dict[str, Any]:
        for channel, topic in self.topics.items():
            topic.count = self._file.counts[channel]
        return metadata.information(self._name, self._file.start, self._file.stop, list(self.topics.values()))

    def _describe(self) -> None:
        with _told(self.folder):
            metadata.replace(self.folder, metadata.document(self._information()))


class _told:
    """Turns the system's errors into ours, which name the bag."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError):
            reason = error.strerror or os.strerror(error.errno or 0)
            raise BagError(f"cannot write the bag {self.folder}: {reason}") from None
