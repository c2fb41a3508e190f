"""Export a bag as one ``.npz`` file, or as Parquet files, for programs without ROS."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Collection, Container, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from tactile_sim.bag.atomic_write import fresh, fresh_folder
from tactile_sim.bag.mcap_file import Progress
from tactile_sim.bag.messages import Message, Messages, Selection, require, require_rows, unique_names
from tactile_sim.bag.reader import Topic, contents, read, rows_of
from tactile_sim.common.errors import BagError, suggest
from tactile_sim.wire import Columns, Record

_VECTORS = {"force": "N", "torque": "N m", "linear": "m/s", "angular": "rad/s"}
"""Units of fields in any message type, keyed by the last component of the field's name."""
_FIELDS = {
    "TactileLayout": {"spacing": "m", "positions": "m", "normals": "1", "areas": "m2", "lengths": "m"},
    "TactileState": {
        "contact_time": "s",
        "air_time": "s",
        "center_of_pressure": "m",
        "normal": "1",
        "area": "m2",
        "friction_utilization": "1",
        "slip_velocity": "m/s",
    },
    "ContactWrenchArray": {
        "contacts.position": "m",
        "contacts.distance": "m",
        "contacts.normal": "1",
        "contacts.tangent1": "1",
        "contacts.tangent2": "1",
        "contacts.contact_force": "N",
        "contacts.relative_velocity": "m/s",
    },
    "ContactSensor": {"slots.dist": "m", "slots.pos": "m", "slots.normal": "1", "slots.tangent": "1"},
    "TFMessage": {"transforms.transform.translation": "m", "transforms.transform.rotation": "1"},
    "Clock": {"clock.sec": "s", "clock.nanosec": "ns"},
}
"""Units of fields, keyed by message type (without the package) and then by field name."""
TIMES = ("stamps", "log_times", "stamp", "log_time")


def unit_of(type_name: str, field: str, own: str | None = None) -> str | None:
    """Return the unit of a field, or None if it is unknown."""
    if field in TIMES:
        return "ns"
    if field == "data" and own:
        return own
    known = _FIELDS.get(type_name.rpartition("/")[2], {}).get(field)
    return known or _VECTORS.get(field.rpartition(".")[2])


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
    """Divide topics into groups, each of which is read in one pass."""
    group: list[str] = []
    for name in sorted(sizes):
        if group and sum(sizes[other] for other in group) + sizes[name] > TOGETHER:
            yield group
            group = []
        group.append(name)
    if group:
        yield group


def check_memory(path: Path, sizes: Mapping[str, int]) -> None:
    """Check that the largest topic fits into the free memory."""
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
    """Yield the name and the array of each field of a topic."""
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
    """Concatenate the values of a field whose length differs between messages, and add them to ``into``."""
    if isinstance(values[0], Columns):
        for field in vars(values[0]):
            _join(into, f"{name}.{field}", [getattr(value, field) for value in values])
    elif isinstance(values[0], np.ndarray):
        into[name] = np.concatenate(values)
    else:
        _add(into, name, [element for value in values for element in value])


BATCH = 128
"""Number of messages written at a time."""
LONGEST_FILE_NAME = 100
"""Maximum length of a file name without extension [characters]."""


def require_pyarrow() -> None:
    """Check that pyarrow can be imported."""
    require("Parquet", "pyarrow.parquet", "pyarrow", "pyarrow")


def export_parquet(
    path: Path, out: Path, topics: Collection[str] | None = None, progress: Progress | None = None
) -> tuple[list[Path], str | None]:
    """Write one file per topic into a folder.

    The bag is read twice, without loading all of it into memory.

    Returns:
        The paths of the files, and a description of the bag's damage or None.
    """
    wanted = Selection(topics)
    messages = Messages(path, wanted.__contains__, progress)
    sizes: dict[str, dict[str, int | None]] = {}
    for message in messages:
        require_rows(message)
        _note_sizes(sizes.setdefault(message.topic, {}), message.value)
    if (name := wanted.missing(sizes)) is not None:
        raise BagError(f"{path}: the bag has no topic {name!r}{suggest(name, messages.others.union(sizes))}")
    files = {topic: out / f"{name}.parquet" for topic, name in unique_names(sizes, _file_name).items()}
    with fresh_folder(out), ExitStack() as stack:
        tables = {
            topic: _Table(stack.enter_context(fresh(file)), topic, sizes[topic], stack)
            for topic, file in files.items()
        }
        for message in messages:
            tables[message.topic].add(message)
        for table in tables.values():
            table.end()
    return list(files.values()), messages.damage


def _file_name(topic: str) -> str:
    """Return a topic's file name without extension, such as ``tactile.frame`` for ``/tactile/frame``."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", topic.strip("/").replace("/", "."))[:LONGEST_FILE_NAME] or "_"


class _Table:
    """Writes the file of a topic in batches of messages."""

    def __init__(self, path: Path, topic: str, sizes: dict[str, int | None], stack: ExitStack) -> None:
        self._path, self._topic, self._sizes, self._stack = path, topic, sizes, stack
        self._messages: list[Message] = []
        self._type_name = ""
        self._count = 0
        self._writer: Any = None

    def add(self, message: Message) -> None:
        """Add the next message of the topic. It is written when `BATCH` messages are pending, or by `end`."""
        self._type_name = message.type_name
        self._messages.append(message)
        if len(self._messages) == BATCH:
            self._write()

    def end(self) -> None:
        """Write the last batch and close the file.

        The file has no rows if each row would be a struct in a list (see the module docstring) and the lists
        of all messages are empty.
        """
        self._write()
        if self._writer is None:
            self._put({"message_index": np.zeros(0, np.int64), "stamp": np.zeros(0, np.int64)}, "", None)
        self._writer.close()

    def _write(self) -> None:
        if not self._messages:
            return
        messages = self._messages
        values = [message.value for message in messages]
        stamps = np.array([message.stamp for message in messages], np.int64)
        log_times = np.array([message.log_time for message in messages], np.int64)
        numbers = self._count + np.arange(len(messages))
        own = getattr(values[0], "unit", None)
        listed = _only_list(values[0])
        if listed:
            parts = [getattr(value, listed) for value in values]
            which = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
            columns: dict[str, Any] = {
                "message_index": numbers[which], "stamp": stamps[which], "log_time": log_times[which],
            }  # fmt: skip
            columns |= {_free(name, columns): values for name, values in _joined(parts, "")}
        else:
            columns = {"stamp": stamps, "log_time": log_times}
            leaves = [dict(_leaves(value, "")) for value in values]
            fields = {name: [leaf[name] for leaf in leaves] for name in leaves[0]}
            self._shape(fields, values[0])
            columns |= {_free(name, columns): values for name, values in fields.items()}
        if len(columns["stamp"]):
            self._put(columns, f"{listed}." if listed else "", own)
        self._count += len(messages)
        self._messages = []

    def _shape(self, columns: dict[str, Any], first: Any) -> None:
        """Stack the arrays of a batch of messages, modifying ``columns`` in place.

        Fields of constant length become arrays (messages, length), or (messages, rows, width) if they have
        several numbers per taxel or triangle. Other fields remain lists.
        """
        for name, size in self._sizes.items():
            if size:  # None: the length varies; Arrow has no fixed-size lists of size 0
                columns[name] = np.stack(columns[name])
        for name, width in rows_of(self._type_name, first).items():
            if isinstance(columns[name], np.ndarray) and width:
                columns[name] = columns[name].reshape(len(columns[name]), -1, width)

    def _put(self, columns: dict[str, Any], prefix: str, own: str | None) -> None:
        import pyarrow
        from pyarrow.parquet import ParquetWriter

        arrays = {name: arrow_array(values) for name, values in columns.items()}
        fields = []
        for name, array in arrays.items():
            unit = unit_of(self._type_name, name) or unit_of(self._type_name, prefix + name, own)
            kind = _without_null(array.type)
            fields.append(pyarrow.field(name, kind, metadata={"unit": unit} if unit else None))
        about = {"topic": self._topic, "message_type": self._type_name}
        schema = pyarrow.schema(fields, metadata=about)
        if self._writer is None:
            self._writer = self._stack.enter_context(
                ParquetWriter(str(self._path), schema, compression="zstd")
            )
        try:
            table = pyarrow.table(arrays).cast(self._writer.schema)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise BagError(
                f"{self._topic} does not fit into one table: {reason}; select other topics"
            ) from None
        self._writer.write_table(table)


def _free(name: str, taken: Container[str]) -> str:
    """Return the column name for a field, with an underscore appended if the name is already in use."""
    return f"{name}_" if name in taken else name


def _only_list(value: Any) -> str:
    """Return the name of the list of structs in a message that has no other field except a header."""
    names = [name for name in vars(value) if name != "header"]
    return names[0] if len(names) == 1 and isinstance(getattr(value, names[0]), Columns) else ""


def _note_sizes(sizes: dict[str, int | None], value: Any) -> None:
    """Update the lengths of a topic's array fields with those in one message."""
    for name, leaf in _leaves(value, ""):
        if isinstance(leaf, np.ndarray) and sizes.setdefault(name, len(leaf)) != len(leaf):
            sizes[name] = None


def _leaves(value: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield the dotted name and value of each field that is not a struct.

    The fields of structs in a list are included.
    """
    for name, inner in vars(value).items():
        if isinstance(inner, Record | Columns):
            yield from _leaves(inner, f"{prefix}{name}.")
        else:
            yield prefix + name, inner


def _joined(parts: list[Columns], prefix: str) -> Iterator[tuple[str, Any]]:
    """Concatenate lists of structs, one from each message.

    Yields:
        The dotted name of each field, and its values in all structs of all lists.
    """
    for name, first in vars(parts[0]).items():
        values = [getattr(part, name) for part in parts]
        if isinstance(first, Columns):
            yield from _joined(values, f"{prefix}{name}.")
        elif isinstance(first, np.ndarray):
            yield prefix + name, np.concatenate(values)
        else:
            yield prefix + name, list(chain.from_iterable(values))


def _plain(value: Any) -> Any:
    """Convert nested Columns to nested dictionaries of lists."""
    if isinstance(value, Columns):
        return {name: _plain(inner) for name, inner in vars(value).items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


def _without_null(kind: Any) -> Any:
    """Replace the null type, which Arrow infers for empty lists, with string.

    Empty numeric fields are arrays, so an empty list can only be a list of strings.
    """
    import pyarrow

    if pyarrow.types.is_null(kind):
        return pyarrow.string()
    if pyarrow.types.is_list(kind):
        return pyarrow.list_(_without_null(kind.value_type))
    if pyarrow.types.is_struct(kind):
        return pyarrow.struct([(field.name, _without_null(field.type)) for field in kind])
    return kind


def arrow_array(values: Any) -> Any:
    """Convert values to an Arrow array of n rows.

    - ``values``: An array (n, ...) or a list of n values of one type.
    """
    import pyarrow

    if isinstance(values, np.ndarray):
        made = pyarrow.array(np.ascontiguousarray(values).ravel())
        for width in values.shape[:0:-1]:
            made = pyarrow.FixedSizeListArray.from_arrays(made, width)
        return made
    if values and isinstance(values[0], np.ndarray):
        offsets = np.cumsum([0, *(len(value) for value in values)]).astype(np.int32)
        return pyarrow.ListArray.from_arrays(offsets, arrow_array(np.concatenate(values)))
    if values and isinstance(values[0], bytes):
        return pyarrow.array([value[0] for value in values], pyarrow.uint8())
    return pyarrow.array([_plain(value) for value in values])
