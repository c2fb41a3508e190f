"""Convert bags to a LeRobot v3.0 dataset with one episode per bag."""

from __future__ import annotations

import fcntl
import glob
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

import tactile_sim
from tactile_sim.bag.atomic_write import fresh_folder
from tactile_sim.bag.mcap_file import Progress
from tactile_sim.collect import folder, lerobot
from tactile_sim.collect.bag_columns import Column, read_streams, resample, tactile_rate
from tactile_sim.errors import BagError


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

    Raises:
        BlockingIOError: Another process has locked the folder.
    """
    descriptor = os.open(place, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
