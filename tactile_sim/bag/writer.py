"""Write a rosbag2 folder with one MCAP file. The folder is a valid bag at all times."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tactile_sim.bag import metadata
from tactile_sim.bag.mcap_writer import McapWriter
from tactile_sim.common.errors import BagError

INTERVAL = 0.5
"""Wall time between two chunks [s]. If the process is killed, less than 1 s of data is lost."""


class BagWriter:
    """Writes a new bag.

    After an error, such as a full disk, the bag keeps the messages written before it, and :meth:`close` still
    writes the index if there is space.

    Args:
        folder: The bag's folder, which must not exist yet.

    Raises:
        BagError: The bag cannot be created or written. Other methods raise this, too.
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

        Args:
            name: Name of the topic.
            type_name: Name of the message type.
            definition: Definition of the message type in ROS 2's message language.
            qos: QoS profiles of the topic's publishers.
            type_hash: Hash of the message type (REP-2011).

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
        """Add a message to a topic.

        Args:
            topic: Id from :meth:`add_topic`.
            log_time: Log time [ns]. Negative times are stored as 0.
            data: The message as CDR bytes.
        """
        with _BagErrors(self.folder):
            self._file.write(topic, max(log_time, 0), data)
        self._changed = True

    def draft(self, messages: Callable[[], Sequence[tuple[int, int, bytes]]]) -> None:
        """Set a function that returns messages whose log times may still change.

        The function is called at each write to disk. The messages that it returns replace those that it
        returned before. They stay in the bag if the process is killed. Use :meth:`write` for final messages.

        Args:
            messages: Returns the topic id, log time [ns] and CDR bytes of each message.
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
