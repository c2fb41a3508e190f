"""Convert bags to a LeRobot v3.0 dataset with one episode per bag."""

from __future__ import annotations

import fcntl
import glob
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

import tactile_sim
from tactile_sim.bag import read
from tactile_sim.bag.atomic_write import fresh_folder
from tactile_sim.bag.export import check_memory
from tactile_sim.bag.mcap_file import Progress
from tactile_sim.bag.messages import Selection
from tactile_sim.bag.reader import Bag, Topic, contents
from tactile_sim.common.errors import BagError, CommandError, suggest
from tactile_sim.learning import folder, lerobot

_FRAME, _ARRAY = "tactile_sim/msg/TactileFrame", "tactile_sim/msg/TactileArray"
_WRENCH, _STATE = "geometry_msgs/msg/WrenchStamped", "tactile_sim/msg/TactileState"
_JOINTS, _NUMBERS = "sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray"
_USED = {
    _FRAME: r"/tactile/frame",
    _ARRAY: r"/tactile/[^/]+/array",
    _WRENCH: r"/tactile/[^/]+/wrench",
    _STATE: r"/tactile/[^/]+/state",
    _NUMBERS: r"/ctrl",
    _JOINTS: r"/joint_(states|commands)",
}
"""Regular expression for the end of the names of exported topics, by message type."""
_CONSTANT = {
    _FRAME: ("pads", "bodies", "taxel_counts", "pad_channels", "units"),
    _JOINTS: ("name",),
}
"""Fields that must have the same value in all messages on a topic, by message type."""
_SIZED = {_FRAME: ("data",), _JOINTS: ("position", "velocity", "effort")}
"""Fields that must have the same length in all messages on a topic, by message type."""
_TACTILE = "observation.tactile."
_OF_PADS = ("observation.wrench", "observation.contact")
"""Columns with the values of all pads."""
_TOLERANCE = 0.01
"""Largest delay of a message relative to the row period, and largest relative error of a rate."""


@dataclass(frozen=True)
class Stream:
    """The values of a dataset column at the times of their messages."""

    stamps: np.ndarray
    """(n,) time stamps of the messages, in increasing order [ns]."""
    values: np.ndarray
    """(n, ...) value of the column in each message."""
    unit: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column of the dataset, with one value per row."""

    values: np.ndarray
    """(rows, ...) value of the column in each row of the dataset."""
    unit: str = ""
    names: tuple[str, ...] = ()
    """Names along the first axis of a row."""

    @property
    def field(self) -> dict[str, Any]:
        """The column's entry in the dataset's description, with shape, type and names."""
        field = {"shape": list(self.values.shape[1:]) or [1], "dtype": str(self.values.dtype)}
        return field | ({"names": list(self.names)} if self.names else {})


def read_streams(
    path: Path, topics: Sequence[str] | None, progress: Progress | None
) -> tuple[dict[str, Stream], str | None]:
    """Read the messages on topics, or on all topics of known types, that become columns of a dataset.

    Returns:
        The streams by column name, and a description of the damage to the bag, or None if it is intact.
    """
    found = contents(path)
    wanted = Selection(topics)
    if (name := wanted.missing(found.topics)) is not None:
        raise BagError(f"{path}: the bag has no topic {name!r}{suggest(name, found.topics)}")
    sizes = {
        name: topic.size
        for name, topic in found.topics.items()
        if topic.count and name in wanted and _is_used(name, topic.type_name)
    }
    check_memory(path, {"the selected topics": sum(sizes.values())})
    bag = read(path, list(sizes), progress) if sizes else Bag()
    if len(robots := {_split(name)[0] for name in bag}) > 1:
        raise BagError(
            f"{path}: must have topics of one robot, got those of {', '.join(sorted(robots))}; select topics"
        )
    for name, topic in bag.items():
        _check_constant(path, name, topic)
    streams: dict[str, Stream] = {}
    for topic in bag.values():
        if topic.message_type == _FRAME:
            streams |= _of_frame(topic)
    for name, topic in bag.items():  # a pad's array topic replaces its data in the frame
        streams |= _of_topic(_split(name)[1], topic)
    if not any(name.startswith(_TACTILE) for name in streams):
        raise BagError(f"{path}: tactile/frame or tactile/PAD/array is required, got neither")
    for column, stream in streams.items():
        if stream.values.dtype == object:
            raise BagError(f"{path}: {column}: the number of values must not change; select other topics")
    return streams, found.damage


def _check_constant(path: Path, name: str, topic: Topic) -> None:
    """Check that the values have the same layout in all messages on a topic."""
    for field in _CONSTANT.get(topic.message_type, ()):
        values = getattr(topic, field)
        other = next((value for value in values if list(value) != list(values[0])), None)
        if other is not None:
            raise BagError(
                f"{path}: {name}: {field} must not change, got {list(values[0])} and {list(other)}; "
                "select other topics"
            )
    for field in _SIZED.get(topic.message_type, ()):
        if isinstance(getattr(topic, field), list):
            raise BagError(
                f"{path}: {name}: {field} must have the same number of values in all messages; "
                "select other topics"
            )


def _is_used(topic: str, type_name: str) -> bool:
    return type_name in _USED and bool(re.search(f"{_USED[type_name]}$", topic))


def _split(topic: str) -> tuple[str, str]:
    """Split a topic's name into the robot's namespace and the rest."""
    namespace, found, rest = topic.rpartition("/tactile/")
    if found:
        return namespace or "/", f"tactile/{rest}"
    namespace, _, rest = topic.rpartition("/")
    return namespace or "/", rest


def _of_frame(topic: Topic) -> dict[str, Stream]:
    pads, edges = topic.pads[0] or topic.bodies[0], np.cumsum([0, *topic.taxel_counts[0]])
    channels = topic.pad_channels[0] if len(topic.pad_channels[0]) else [topic.channels[0]] * len(pads)
    units = topic.units[0] or [topic.unit[0]] * len(pads)
    return {
        f"{_TACTILE}{pad}": _stream(topic, topic.data[:, begin:end, :width], unit)
        for pad, begin, end, width, unit in zip(pads, edges, edges[1:], channels, units, strict=False)
    }


def _of_topic(name: str, topic: Topic) -> dict[str, Stream]:
    kind, pad = topic.message_type, name.removeprefix("tactile/").partition("/")[0]
    if kind == _ARRAY:
        return {f"{_TACTILE}{pad}": _stream(topic, topic.data, topic.unit[0])}
    if kind == _WRENCH:
        values = np.concatenate([topic.wrench.force, topic.wrench.torque], axis=1)
        return {f"observation.wrench.{pad}": _stream(topic, values.astype(np.float32), "N and N m")}
    if kind == _STATE:
        return {f"observation.contact.{pad}": _stream(topic, np.array(topic.contact, bool))}
    if kind == _NUMBERS:
        return {"action": _stream(topic, topic.data)}
    if kind == _JOINTS:
        names = tuple(topic.name[0])
        if name == "joint_commands":
            given = [part for part in (topic.position, topic.velocity, topic.effort) if np.size(part)]
            return {"action": _stream(topic, given[0], names=names)} if given else {}
        units = {"state": "rad or m", "velocity": "rad/s or m/s", "effort": "N m or N"}
        parts = zip(units, (topic.position, topic.velocity, topic.effort), strict=True)
        return {
            f"observation.{part}": _stream(topic, values, units[part], names)
            for part, values in parts
            if np.size(values)
        }
    return {}


def _stream(topic: Topic, values: Any, unit: str = "", names: tuple[str, ...] = ()) -> Stream:
    """Return a stream sorted by stamp. Values of varying size become an array of objects."""
    order = np.argsort(topic.stamps, kind="stable")
    if isinstance(values, list):
        values = np.array([*values, None], object)[:-1]
    return Stream(topic.stamps[order], values[order], unit, names)


def tactile_rate(path: Path, streams: dict[str, Stream]) -> int:
    """Return the highest rate of any tactile stream [Hz]."""
    intervals = [
        np.median(np.diff(stream.stamps))
        for name, stream in streams.items()
        if name.startswith(_TACTILE) and len(stream.stamps) > 1
    ]
    rate = 1e9 / min(intervals) if intervals and min(intervals) > 0 else 0.0
    if round(rate) < 1 or abs(rate - round(rate)) > _TOLERANCE * rate:
        raise CommandError(
            f"{path}: tactile messages must have an integer rate, got {rate:.3g} Hz; give --rate"
        )
    return round(rate)


def resample(path: Path, streams: dict[str, Stream], rate: int) -> dict[str, Column]:
    """Resample streams to rows at a fixed rate [Hz]; each row has the latest value of each stream.

    The first row is at the first time at which all streams have a value. The last row is at or before the
    time of the last tactile message. The streams of individual pads are combined into the columns `_OF_PADS`.
    """
    start = max(stream.stamps[0] for stream in streams.values())
    last = max(stream.stamps[-1] for name, stream in streams.items() if name.startswith(_TACTILE))
    if last < start:
        raise BagError(f"{path}: tactile messages end before other topics begin; select other topics")
    count = int((last - start) * rate / 1e9 + _TOLERANCE) + 1
    row = sum(stream.values[:1].nbytes for stream in streams.values())
    check_memory(path, {f"{count} rows at {rate} Hz": count * row})
    times = start + (np.arange(count) + _TOLERANCE) * (1e9 / rate)
    columns = {"timestamp": Column((np.arange(count) / rate).astype(np.float32), "s")}
    parts: dict[str, dict[str, Column]] = {}
    for name, stream in sorted(streams.items()):
        latest = np.searchsorted(stream.stamps, times, side="right") - 1
        column = Column(stream.values[latest], stream.unit, stream.names)
        group = next((group for group in _OF_PADS if name.startswith(f"{group}.")), "")
        if group:
            parts.setdefault(group, {})[name.removeprefix(f"{group}.")] = column
        else:
            columns[name] = column
    for group, pads in parts.items():
        values = np.stack([column.values for column in pads.values()], axis=1)
        columns[group] = Column(values, next(iter(pads.values())).unit, tuple(pads))
    return columns


def export_bags(
    bags: Sequence[Path],
    out: Path,
    topics: Sequence[str] | None = None,
    rate: int = 0,
    task: str = "",
    progress: Progress | None = None,
) -> tuple[dict[str, Any], str | None]:
    """Write a dataset in which each row contains the latest message of each topic at the time of the row.

    Args:
        bags: Folders or MCAP files. Each bag must fit into memory.
        out: Folder of the dataset. It appears only when it is complete, and replaces an older dataset.
        topics: Topics to export; by default all topics of known types.
        rate: Number of rows per second [Hz]. 0 uses the rate of the tactile messages.
        task: Description of the robot's task for LeRobot; by default the name of the first bag.
        progress: Called for each bag with the number of bytes read and the size of the bag's file.

    Returns:
        The description of the dataset, and a message about the first damaged bag, or None.

    Raises:
        TactileSimError: A bag cannot be read, has no tactile data, contains several robots' topics or has
            columns that differ from those of the first bag, or ``out`` is not writable.
    """
    damages: list[str] = []
    info: dict[str, Any] = {"config": bags[0].stem, "task": task, "shards": 1, "rate": rate}

    def episodes() -> Iterator[dict[str, np.ndarray]]:
        total = 0
        for number, bag in enumerate(bags):
            streams, damage = read_streams(bag, topics, progress)
            if damage:
                damages.append(f"{bag}: {damage}")
            if not number:
                info["rate"] = rate or tactile_rate(bag, streams)
            columns = resample(bag, streams, info["rate"])
            length = len(columns["timestamp"].values)
            for name, values in (
                ("episode_index", np.full(length, number)),
                ("frame_index", np.arange(length)),
                ("index", total + np.arange(length)),
                ("task_index", np.zeros(length, int)),
            ):
                columns[name] = Column(values)
            total += length
            fields = {name: column.field for name, column in columns.items()}
            known = info.setdefault("fields", fields)
            if other := [name for name in {**fields, **known} if fields.get(name) != known.get(name)]:
                raise BagError(f"{bag}: {other[0]} differs from {bags[0]}; select topics")
            units.update({name: column.unit for name, column in columns.items() if column.unit})
            yield {name: column.values for name, column in columns.items()}

    units: dict[str, str] = {}
    with _replaced(out) as made:
        about = {"version": tactile_sim.__version__}
        folder.write_shard(folder.shard_path(made, 0), episodes(), units, about)
        lerobot.finish(made, info)
    return info, damages[0] if damages else None


@contextmanager
def _replaced(out: Path) -> Iterator[Path]:
    """Yield a temporary folder that replaces the dataset's folder when the block ends."""
    if out.exists() and not lerobot.is_finished(out):
        raise BagError(f"{out} exists and is not a LeRobot dataset; choose another path with --out")
    made = out.with_name(f"{out.name}.{uuid4().hex}.new")
    try:
        _remove_leftovers(out)
        with fresh_folder(made), _locked(made):
            yield made
            if out.exists():
                shutil.rmtree(out)
            made.rename(out)
    except OSError as error:
        raise BagError(f"cannot write {out}: {error.strerror}") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _remove_leftovers(out: Path) -> None:
    """Remove the temporary folders that killed exports to ``out`` left behind."""
    for left in out.parent.glob(f"{glob.escape(out.name)}.{32 * '[0-9a-f]'}.new"):
        with suppress(BlockingIOError), _locked(left):
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    """Lock a folder so that `_remove_leftovers` in another process does not remove it.

    The operating system releases the lock if this process is killed.
    """
    descriptor = os.open(place, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
