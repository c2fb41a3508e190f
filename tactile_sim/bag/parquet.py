"""Export a bag as Parquet files, one per topic, for pandas, polars, DuckDB or Spark.

Each message becomes a row. If the messages on a topic consist of one list of structs, such as contacts or
transforms, each struct becomes a row. Nested fields have dotted names. Arrays are stored as lists, which have
a fixed size if the array has the same length in all messages. The metadata of a column contains its unit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.bag.atomic_write import fresh, fresh_folder
from tactile_sim.bag.mcap_file import Progress
from tactile_sim.bag.messages import Message, Messages, Selection, require_rows, unique_names
from tactile_sim.bag.optional_deps import require
from tactile_sim.bag.reader import rows_of
from tactile_sim.bag.units import unit_of
from tactile_sim.common.errors import BagError, suggest
from tactile_sim.wire.records import Columns, Record

BATCH = 128
"""Number of messages written at a time."""
LONGEST_NAME = 100
"""Maximum length of a file name without extension [characters]."""


def require_pyarrow() -> None:
    """Check that pyarrow can be imported.

    Raises:
        BagError: Pyarrow is missing or broken.
    """
    require("Parquet", "pyarrow.parquet", "pyarrow", "pyarrow")


def export(
    path: Path, out: Path, topics: Collection[str] | None = None, progress: Progress | None = None
) -> tuple[list[Path], str | None]:
    """Write one file per topic into a folder.

    The bag is read twice, without loading all of it into memory.

    Args:
        path: The bag's folder or MCAP file.
        out: Output folder. The files appear only after all of them are complete.
        topics: Topics to export; all by default.
        progress: Called with the number of bytes read and the size of the file.

    Returns:
        The paths of the files, and a description of the bag's damage or None.

    Raises:
        BagError: ``path`` is not a bag or lacks a requested topic, or ``out`` cannot be written.
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
    return re.sub(r"[^A-Za-z0-9_.-]", "_", topic.strip("/").replace("/", "."))[:LONGEST_NAME] or "_"


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

        Args:
            columns: List of the values in all messages, by field name.
            first: First message of the batch.
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
    """Return the name of the list of structs in a message that has no other field except a header.

    Returns:
        The name of the field, or an empty string for all other messages.
    """
    names = [name for name in vars(value) if name != "header"]
    return names[0] if len(names) == 1 and isinstance(getattr(value, names[0]), Columns) else ""


def _note_sizes(sizes: dict[str, int | None], value: Any) -> None:
    """Update the lengths of a topic's array fields with those in one message.

    Args:
        sizes: Length of each array field by dotted name; None for fields whose length differs between
            messages. Modified in place.
        value: Decoded message.
    """
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

    Args:
        parts: The lists of structs.
        prefix: Prefix of the names that are yielded.

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

    Args:
        values: An array (n, ...) or a list of n values of one type.
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
