"""Export a bag as one ``.npz`` file, for programs without ROS."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from tactile_sim.bag.atomic_write import fresh
from tactile_sim.bag.contents import contents
from tactile_sim.bag.mcap_file import Progress
from tactile_sim.bag.messages import Selection, unique_names
from tactile_sim.bag.reader import Topic, read
from tactile_sim.bag.units import unit_of
from tactile_sim.common.errors import BagError
from tactile_sim.wire.records import Columns

TOGETHER = 128 << 20
"""Maximum total size of the topics read in one pass [bytes]. A larger topic is read alone."""
LONGEST_NAME = 1000
"""Maximum length of a topic's name in the archive [characters]."""
NEEDED = 4
"""Memory needed to export a topic, as a multiple of its size in the bag."""


class Exported(NamedTuple):
    """Result of an export.

    Attributes:
        arrays: Number of arrays written.
        topics: Number of topics written.
        damage: Description of the bag's damage, or None.
    """

    arrays: int
    topics: int
    damage: str | None


def export(
    path: Path, out: Path, topics: Collection[str] | None = None, progress: Progress | None = None
) -> Exported:
    """Write one array per field of each topic into a compressed ``.npz`` file.

    Arrays are named ``/tactile/frame/data``, ``/tactile/frame/stamps`` and so on. A field whose length
    differs between messages becomes one array of all values in order, and ``NAME.counts`` contains the number
    of values in each message. The array ``units`` is a JSON text that maps array names to units.

    The bag is read in several passes, so that only its largest topic must fit into memory.

    Args:
        path: The bag's folder or MCAP file.
        out: The file to write.
        topics: Topics to export; all by default.
        progress: Called with the number of bytes read and the size of the file.

    Raises:
        BagError: ``path`` is not a bag, lacks a requested topic or has a topic that does not fit into memory,
            or ``out`` cannot be written.
    """
    found = contents(path, progress)
    sizes = {name: topic.size for name, topic in found.topics.items() if topic.count}
    wanted = Selection(topics)
    if wanted.missing(sizes) is not None:
        read(path, topics)  # raises the error, with the nearest name
    sizes = {name: size for name, size in sizes.items() if name in wanted}
    check_memory(path, sizes)
    units: dict[str, str] = {}
    names = unique_names(sizes, _entry_name)
    count = 0
    with fresh(out) as made, ZipFile(made, "w", ZIP_DEFLATED) as archive:
        for group in _groups(sizes):
            with warnings.catch_warnings(action="ignore"):  # the damage is returned instead
                bag = read(path, group, progress)
            for name in group:
                for field, array in _arrays(bag.pop(name), units, names[name]):
                    _put(archive, field, array)
                    count += 1
        _put(archive, "units", np.array(json.dumps(units, ensure_ascii=False)))
    return Exported(count + 1, len(sizes), found.damage)


def _entry_name(topic: str) -> str:
    """Return a topic's name with null characters escaped, shortened to `LONGEST_NAME`."""
    return topic.replace("\0", "\\0")[:LONGEST_NAME]


def _groups(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Divide topics into groups, each of which is read in one pass.

    Args:
        sizes: Size of each topic [bytes].
    """
    group: list[str] = []
    for name in sorted(sizes):
        if group and sum(sizes[other] for other in group) + sizes[name] > TOGETHER:
            yield group
            group = []
        group.append(name)
    if group:
        yield group


def check_memory(path: Path, sizes: Mapping[str, int]) -> None:
    """Check that the largest topic fits into the free memory.

    Args:
        path: Path of the bag, for the error message.
        sizes: Size of each topic [bytes].

    Raises:
        BagError: The largest topic does not fit.
    """
    largest = max(sizes, key=sizes.__getitem__, default=None)
    room = _free_memory()
    if largest is not None and room is not None and NEEDED * sizes[largest] > room:
        raise BagError(
            f"{path}: {largest} must fit into the free memory of {room / 1e9:.1f} GB, got "
            f"{sizes[largest] / 1e9:.1f} GB; export with --format parquet, or select topics"
        )


def _free_memory() -> int | None:
    """Return the memory available without swapping [bytes], or None if the system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), None)


def _put(archive: ZipFile, name: str, array: np.ndarray) -> None:
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)


def _arrays(topic: Topic, units: dict[str, str], name: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and the array of each field of a topic.

    Args:
        topic: Messages of the topic.
        units: Units by array name; the units of this topic's arrays are added.
        name: Name of the topic in the archive.
    """
    found: dict[str, np.ndarray] = {}
    own = getattr(topic, "unit", None)
    for field, value in vars(topic).items():
        _add(found, field, value)
    for field, array in found.items():
        unit = unit_of(topic.message_type, field, own[0] if own else None)
        if unit:
            units[f"{name}/{field}"] = unit
        yield f"{name}/{field}", array


def _add(into: dict[str, np.ndarray], name: str, value: Any) -> None:
    if isinstance(value, Columns):
        for field, inner in vars(value).items():
            _add(into, f"{name}.{field}", inner)
    elif isinstance(value, list) and value and not isinstance(value[0], str | bytes):
        into[f"{name}.counts"] = np.array([len(element) for element in value])
        if isinstance(value[0], Columns):
            for field in vars(value[0]):
                _join(into, f"{name}.{field}", [getattr(element, field) for element in value])
        else:
            _join(into, name, value)
    else:
        into[name] = np.array(value)


def _join(into: dict[str, np.ndarray], name: str, values: list[Any]) -> None:
    """Concatenate the values of a field whose length differs between messages, and add them to ``into``.

    Args:
        into: Arrays by name. A struct adds an array for each of its fields.
        name: Name of the field.
        values: The field's value in each message.
    """
    if isinstance(values[0], Columns):
        for field in vars(values[0]):
            _join(into, f"{name}.{field}", [getattr(value, field) for value in values])
    elif isinstance(values[0], np.ndarray):
        into[name] = np.concatenate(values)
    else:
        _add(into, name, [element for value in values for element in value])
