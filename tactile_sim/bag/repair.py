"""Repair damaged or unclosed bags by writing their intact messages to new files."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from tactile_sim.bag import bounded_yaml, metadata
from tactile_sim.bag.mcap_file import NO_SCHEMA, McapScan, Progress
from tactile_sim.bag.mcap_writer import McapWriter
from tactile_sim.common.errors import BagError


@dataclass(frozen=True)
class Repaired:
    """The result of a repair."""

    file: Path
    damage: str | None
    """Description of the damage; None if the file was intact."""
    described: bool
    """Whether the bag's folder had a valid ``metadata.yaml``; True for a single file."""
    misplaced: bool
    """True if the metadata in the MCAP file had a top-level key, which rosbag2 rejects."""
    messages: int
    lost_bytes: int
    kept: Path | None
    """Path of the damaged original, or None if the file was intact."""


def repair(path: Path, progress: Progress | None = None) -> Repaired:
    """Rewrite a bag whose file is damaged or whose metadata rosbag2 cannot read.

    Other bags are not changed. A damaged file is kept next to the new one as ``NAME.mcap.damaged``, with a
    number appended if that name is in use. An interrupted repair loses no messages.

    Args:
        path: The bag's folder or MCAP file.
        progress: Called with the number of bytes read and the size of the file.

    Returns:
        The damage that was found, the number of intact messages, and the path of the damaged original.

    Raises:
        BagError: ``path`` is not a bag with a single MCAP file of ROS 2 messages, or cannot be written.
    """
    described = path.is_file() or (path / metadata.FILE).is_file()
    try:
        files = metadata.files_of(path)
    except metadata.MetadataError:
        files, described = sorted(path.glob("*.mcap")), False
    if not files:
        raise BagError(f"{path} is not a bag: it has no .mcap file")
    if len(files) > 1:
        raise BagError(
            f"{path}: must have one .mcap file, got {len(files)};"
            f" repair each file, then: ros2 bag reindex {path}"
        )
    [file] = files
    scan = McapScan(file, progress)
    messages = sum(1 for _ in scan)
    misplaced = metadata.misplaced(scan.metadata.get("rosbag2", {}).get("serialized_metadata", ""))
    rewrite = scan.damage is not None or misplaced
    needed = rewrite or not described
    foreign = [channel for channel in scan.channels.values() if channel.message_encoding != "cdr"]
    if foreign and needed:
        kind, topic = foreign[0].message_encoding, foreign[0].topic
        raise BagError(f"{file}: encoding of {topic} must be cdr, got {kind}; try `mcap recover`")
    kept = None
    if needed:
        try:
            kept = _rewrite(path, file, scan, rewrite)
        except OSError as error:
            raise BagError(f"cannot repair {path}: {error.strerror}") from None
    return Repaired(file, scan.damage, described, misplaced, messages, scan.lost, kept)


def _rewrite(path: Path, file: Path, scan: McapScan, replace: bool) -> Path | None:
    """Write the folder's metadata and, if ``replace`` is True, the repaired file.

    Args:
        path: The bag's folder or MCAP file.
        file: The MCAP file.
        scan: A scan of ``file`` after a complete iteration, so that it knows all channels.
        replace: Whether to replace ``file`` by the repaired file.

    Returns:
        Path of the damaged original, or None if the file was intact.
    """
    fresh = file.with_name(file.name + ".new")
    fresh.unlink(missing_ok=True)
    aside = None
    try:
        described = _write(file, fresh, scan)
        if scan.damage:
            aside = _keep(file)
        if replace:
            os.replace(fresh, file)
    finally:
        fresh.unlink(missing_ok=True)
    if path.is_dir():
        metadata.replace(path, metadata.document(described))
    return aside


def _write(file: Path, fresh: Path, scan: McapScan) -> dict[str, Any]:
    """Copy the intact messages of a file to a new file, and return the bag's description."""
    writer = McapWriter(fresh)
    topics: dict[int, metadata.TopicInfo] = {}
    ids: dict[int, int] = {}
    for channel in scan.channels.values():
        schema = scan.schemas.get(channel.schema_id, NO_SCHEMA)
        made = writer.add_channel(
            channel.topic, schema.name, schema.data.decode(), channel.metadata, schema.encoding
        )
        ids[channel.id] = made
        topics[made] = metadata.TopicInfo(
            channel.topic,
            schema.name,
            _profiles(channel.metadata.get("offered_qos_profiles", "")),
            channel.metadata.get("topic_type_hash", ""),
        )
    for message in McapScan(file):
        writer.write(ids[message.channel.id], message.log_time, message.data, message.publish_time)
    writer.end_chunk()
    for made, topic in topics.items():
        topic.count = writer.counts[made]
    described = metadata.information(file.name, writer.start, writer.stop, list(topics.values()))
    writer.finish(metadata.dump(described))
    return described


def _profiles(text: str) -> list[dict[str, Any]]:
    """Parse the QoS profiles of a topic's publishers; return an empty list if the text is invalid."""
    try:
        found = bounded_yaml.parse(text)
    except ValueError:
        return []
    valid = isinstance(found, list) and all(isinstance(profile, dict) for profile in found)
    return found if valid else []


def _keep(file: Path) -> Path:
    """Keep a damaged file under an unused name ending in ``.damaged``, and return that path.

    The file is hard-linked, or copied if the file system has no hard links.
    """
    names = (f"{file.name}.damaged{number or ''}" for number in count())
    aside = next(aside for name in names if not (aside := file.with_name(name)).exists())
    try:
        os.link(file, aside)
    except OSError:
        shutil.copy2(file, aside)
    return aside
