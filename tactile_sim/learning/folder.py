"""Manage a dataset's folder: write its description and shards, and find missing shards."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from tactile_sim.bag.atomic_write import fresh
from tactile_sim.bag.export import arrow_array
from tactile_sim.common.errors import CommandError

INFO = "info.json"
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
CHUNK = 1000
"""Largest number of shards in one chunk, which is a subfolder of the dataset."""


def shard_path(out: Path, shard: int, ending: str = ".parquet") -> Path:
    """Return the path of a shard's file in a dataset."""
    path = out / DATA_PATH.format(chunk_index=shard // CHUNK, file_index=shard % CHUNK)
    return path.with_suffix(ending)


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Create a dataset's folder and lock it against other processes while the block runs."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        handle = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    except (FileExistsError, NotADirectoryError):
        raise CommandError(f"--out: must be a folder, got {out}, which is a file or below one") from None
    except OSError as error:
        raise CommandError(f"--out: cannot use the folder {out}: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise CommandError(f"--out: another process is writing {out}; wait until it has finished") from None
    finally:
        os.close(handle)


def begin(out: Path, info: dict[str, Any], remedy: str = "use another path") -> None:
    """Write the description of a dataset, or check that it matches an existing dataset in the folder.

    ``info`` is everything on which the dataset depends. The description of an existing dataset without
    complete shards is replaced. Errors end with ``remedy``.
    """
    info = json.loads(json.dumps(info))
    path = out / INFO
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if others := sorted(file.name for file in out.iterdir() if not file.name.endswith(".new")):
            raise CommandError(f"--out: {out} contains {others[0]!r}, but no {INFO}; {remedy}") from None
        write_json(path, info)
        return
    except (OSError, ValueError) as error:
        raise CommandError(f"--out: cannot read {path}: {error}; {remedy}") from None
    if not isinstance(found, dict):
        raise CommandError(f"--out: {path} does not describe a dataset; {remedy}")
    if info != found and all(file.suffix == ".new" for file in out.glob("data/*/*")):
        write_json(path, info)  # the other dataset has no shards
        return
    if info != found:
        key, was, wanted = _difference(found, info)
        raise CommandError(f"--out: {out} was created with another {key}: {was}, not {wanted}; {remedy}")


def clear(out: Path) -> None:
    """Remove the description and the shards from a folder."""
    try:
        (out / INFO).unlink(missing_ok=True)
        if (out / "data").exists():
            shutil.rmtree(out / "data")
    except OSError as error:
        raise CommandError(f"--out: cannot write {out}: {error.strerror}") from None


def missing(out: Path, shards: int, is_complete: Callable[[int], bool]) -> list[int]:
    """Return the indices of the incomplete shards, and remove partial files left by killed processes."""
    try:
        for leftover in out.glob("**/*.new"):
            leftover.unlink()
    except OSError as error:
        raise CommandError(f"--out: cannot write {out}: {error.strerror}") from None
    return [shard for shard in range(shards) if not is_complete(shard)]


def holds_shard(path: Path, shard: int) -> bool:
    """Return whether a file is that of a shard, and not cut: its metadata are at its end."""
    from pyarrow.lib import ArrowException
    from pyarrow.parquet import read_metadata

    try:
        return (read_metadata(path).metadata or {}).get(b"shard") == str(shard).encode()
    except (OSError, ArrowException):
        return False


def holds_json(path: Path) -> bool:
    """Return whether a file contains a JSON object."""
    try:
        return isinstance(json.loads(path.read_bytes()), dict)
    except (OSError, ValueError):
        return False


def write_shard(
    path: Path, episodes: Iterable[dict[str, np.ndarray]], units: dict[str, str], metadata: dict[str, str]
) -> None:
    """Write the columns (length, ...) of each episode of a shard, with their units, atomically.

    The file gets its final name only after it is complete and on disk.
    """
    import pyarrow

    def tables() -> Iterator[Any]:
        for columns in episodes:
            arrays = {name: arrow_array(values) for name, values in columns.items()}
            listed = [
                pyarrow.field(name, array.type, metadata={"unit": units[name]} if name in units else None)
                for name, array in arrays.items()
            ]
            schema = pyarrow.schema(listed, metadata=metadata)
            yield pyarrow.table(list(arrays.values()), schema=schema)

    write_tables(path, tables())


def write_tables(path: Path, tables: Iterable[Any]) -> None:
    """Write Arrow tables with a common schema as row groups of a Parquet file, atomically."""
    from pyarrow.parquet import ParquetWriter

    with _written(path) as file:
        writer: Any = None
        try:
            for table in tables:
                writer = writer or ParquetWriter(file, table.schema, compression="zstd", use_dictionary=False)
                writer.write_table(table)
        finally:
            if writer:
                writer.close()


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file, which gets its final name only after it is complete and on disk."""
    write_text(path, json.dumps(content, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file, which gets its final name only after it is complete and on disk."""
    with _written(path) as file:
        file.write(text.encode())


@contextmanager
def _written(path: Path) -> Iterator[Any]:
    # A worker that outlived its killed driver may write the same file.
    with fresh(path, f".{uuid4().hex}.new") as made:
        made.parent.mkdir(parents=True, exist_ok=True)
        with open(made, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())


def _difference(found: dict[str, Any], info: dict[str, Any], above: str = "") -> tuple[str, str, str]:
    """Return the first key, in the order of ``info``, whose values differ, and both values as text."""
    key = next(key for key in [*info, *found] if info.get(key) != found.get(key))
    was, wanted = found.get(key), info.get(key)
    if isinstance(was, dict) and isinstance(wanted, dict):
        return _difference(was, wanted, f"{above}{key}.")
    return above + key, _shown(was), _shown(wanted)


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 60 else f"{text[:60]}..."
