"""Bags that were not ended or are damaged: what is in them, put into files that are whole."""

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
from tactile_sim.errors import BagError


@dataclass(frozen=True)
class Repaired:
    """What became of a bag: ``damage`` is what was wrong with its file, None if nothing was.

    described: whether its metadata were right, and are as they were if the file is.
    """

    file: Path
    damage: str | None
    described: bool
    messages: int
    lost_bytes: int
    kept: Path | None
    """Where the damaged file is now."""


def repair(path: Path, progress: Progress | None = None) -> Repaired:
    """Write a damaged bag's file anew, with its index, and the folder's metadata; leave a sound bag alone.

    The damaged file stays beside as ``NAME.mcap.damaged``, or with a number where that is there. Whenever
    this is interrupted, the bag is as it was or repaired.
    """
    described = path.is_file() or (path / metadata.FILE).is_file()
    try:
        files = metadata.files_of(path)
    except metadata.MetadataError:
        files, described = sorted(path.glob("*.mcap")), False
    if not files:
        raise BagError(f"{path} is not a bag: it holds no .mcap file")
    if len(files) > 1:
        raise BagError(f"{path} has {len(files)} files: repair each file, then: ros2 bag reindex {path}")
    [file] = files
    scan = McapScan(file, progress)
    messages = sum(1 for _ in scan)
    foreign = [channel for channel in scan.channels.values() if channel.message_encoding != "cdr"]
    if foreign and (scan.damage or not described):
        kind, topic = foreign[0].message_encoding, foreign[0].topic
        raise BagError(f"{file}: {topic} is {kind}, which is not ROS 2's: `mcap recover` may mend the file")
    kept = None
    if scan.damage or not described:
        try:
            kept = _rewrite(path, file, scan)
        except OSError as error:
            raise BagError(f"cannot repair {path}: {error.strerror}") from None
    return Repaired(file, scan.damage, described, messages, scan.lost, kept)


def _rewrite(path: Path, file: Path, scan: McapScan) -> Path | None:
    """Returns where the damaged file is now. ``scan`` has been through: it knows all channels."""
    fresh = file.with_name(file.name + ".new")
    fresh.unlink(missing_ok=True)
    aside = None
    try:
        text = _write(file, fresh, scan)
        if scan.damage:
            aside = _keep(file)
            os.replace(fresh, file)
    finally:
        fresh.unlink(missing_ok=True)
    if path.is_dir():
        metadata.replace(path, text)
    return aside


def _write(file: Path, fresh: Path, scan: McapScan) -> str:
    """Write what is whole of a file into another; returns the metadata."""
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
    text = metadata.text(file.name, writer.start, writer.stop, list(topics.values()))
    writer.finish(text)
    return text


def _profiles(text: str) -> list[dict[str, Any]]:
    """Return the QoS profiles of a topic's publishers; none where they are not profiles."""
    try:
        found = bounded_yaml.parse(text)
    except ValueError:
        return []
    valid = isinstance(found, list) and all(isinstance(profile, dict) for profile in found)
    return found if valid else []


def _keep(file: Path) -> Path:
    """Give a file a second name that is free, or where the file system knows no such thing, copy it."""
    names = (f"{file.name}.damaged{number or ''}" for number in count())
    aside = next(aside for name in names if not (aside := file.with_name(name)).exists())
    try:
        os.link(file, aside)
    except OSError:
        shutil.copy2(file, aside)
    return aside
