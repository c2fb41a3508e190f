"""Sweep configuration keys over a grid and write a table with one row per grid point."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import json
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.bag.atomic_write import refuse_existing
from tactile_sim.bag.export import arrow_array, require_pyarrow
from tactile_sim.collect import folder
from tactile_sim.collect.axes import Axis
from tactile_sim.collect.collection import Collection, describe, make_probe
from tactile_sim.collect.episodes import Episodes, Recipe
from tactile_sim.collect.metric import load_metric, split
from tactile_sim.collect.ray_workers import require_ray
from tactile_sim.collect.workers import make_shards
from tactile_sim.errors import CommandError, TactileSimError


@dataclass(frozen=True)
class Sweep:
    """A sweep over a grid. All points use the same seed, so that they differ only in the swept keys."""

    recipe: Recipe
    axes: tuple[Axis, ...]
    metric: str
    """File with the metric, see `load_metric`."""
    out: Path
    """File for the table, ``.csv`` or ``.parquet``."""
    episodes: int = 8
    """Number of episodes at each point."""
    seed: int = 0

    def absolute(self) -> Sweep:
        """Return a copy with absolute paths, for processes with a different working directory."""
        path, name = split(self.metric)
        return dataclasses.replace(
            self, recipe=self.recipe.absolute(), metric=f"{path.absolute()}:{name}", out=self.out.absolute()
        )

    @property
    def points(self) -> int:
        """Number of points in the grid."""
        return math.prod(self._shape)

    @property
    def parts(self) -> Path:
        """Folder for the results of completed points, which exists until the table is written."""
        return self.out.with_name(self.out.name + ".parts")

    def part(self, point: int) -> Path:
        """Return the path of the file with a point's results."""
        return folder.shard_path(self.parts, point, ".json")

    def values(self, point: int) -> dict[str, Any]:
        """Return the value of each axis at a point. The last axis changes fastest."""
        places = np.unravel_index(point, self._shape)
        return {axis.name: axis.values[place] for axis, place in zip(self.axes, places, strict=True)}

    def collection(self, point: int) -> Collection:
        """Return the settings of a dataset whose only shard contains the episodes of a point."""
        values = self.values(point)
        changes = tuple((key, values[axis.name]) for axis in self.axes for key in axis.keys)
        recipe = dataclasses.replace(self.recipe, changes=changes)
        return Collection(recipe, self.episodes, self.parts, self.episodes, self.seed)

    def make(self, shard: int, threads: int = 0) -> int:
        """Run the episodes of a point and write the values of the metric to the point's file.

        Args:
            shard: Index of the point.
            threads: Number of threads, or 0 for one thread per processor.

        Returns:
            1, the number of completed points.

        Raises:
            TactileSimError: The point is invalid, the metric fails or the point's file cannot be written.
        """
        measure, collection = load_metric(self.metric), self.collection(shard)
        try:
            episodes = Episodes(collection.recipe, self.episodes, collection.seed_of(0), threads)
            numbers = measure(episodes.record(), episodes.batch.simulation)
            if clash := numbers.keys() & self.values(shard):
                raise CommandError(f"--metric: must not return the name of a key, got {min(clash)!r}")
        except TactileSimError as error:
            at = ", ".join(f"{name}={value}" for name, value in self.values(shard).items())
            raise CommandError(f"{at}: {error}") from None
        folder.write_json(self.part(shard), numbers)
        return 1

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(len(axis.values) for axis in self.axes)


def sweep(
    work: Sweep,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
    ray: str | None = None,
    force: bool = False,
) -> int:
    """Run all missing points and write the table.

    Args:
        work: The sweep to run.
        workers: Number of processes.
        progress: Called with the number of complete points and the total number of points.
        ray: Address of a Ray cluster, ``auto`` or ``local``. None uses local processes without Ray.
        force: Whether to discard an existing table and the results of completed points.

    Returns:
        The number of points run by this call, not counting those that were already complete.

    Raises:
        TactileSimError: The input is invalid, the metric fails or the table cannot be written. Completed
            points are kept.
    """
    if work.out.suffix not in (".csv", ".parquet"):
        raise CommandError(f"--out: must end in .csv or .parquet, got {str(work.out)!r}")
    if work.out.suffix == ".parquet":
        require_pyarrow()
    if ray:
        require_ray()
    if work.out.is_dir():
        raise CommandError(f"--out: {work.out} is a folder; give a file")
    refuse_existing(work.out, force or work.parts.exists())
    load_metric(work.metric)
    first = work.collection(0)
    probe = make_probe(first, workers, "--episodes")
    with folder.locked(work.parts):
        if force:
            folder.clear(work.parts)
        source, name = split(work.metric)
        folder.begin(
            work.parts,
            describe(first, probe)
            | {"over": {axis.name: list(axis.values) for axis in work.axes}}
            | {"metric": name, "metric_sha256": hashlib.sha256(source.read_bytes()).hexdigest()},
            "use another path, or --force to start again",
        )
        todo = folder.missing(work.parts, work.points, lambda point: folder.holds_json(work.part(point)))
        done = work.points - len(todo)
        for count in make_shards(work, todo, workers, ray):
            done += count
            if progress:
                progress(done, work.points)
        _write_table(work)
        shutil.rmtree(work.parts)
    return len(todo)


def _write_table(work: Sweep) -> None:
    rows: list[dict[str, Any]] = []
    for point in range(work.points):
        numbers = json.loads(work.part(point).read_text())
        rows.append(work.values(point) | numbers)
        if different := rows[0].keys() ^ rows[-1].keys():
            raise CommandError(
                f"--metric: must return the same names at each point, got {min(different)!r} only at some"
            )
    if work.out.suffix == ".csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        folder.write_text(work.out, text.getvalue())
    else:
        import pyarrow

        table = {name: [row[name] for row in rows] for name in rows[0]}
        for name, values in table.items():
            if any(isinstance(value, list) for value in values):  # a column has one type; text, as in CSV
                table[name] = list(map(str, values))
        columns = {name: arrow_array(values) for name, values in table.items()}
        folder.write_tables(work.out, [pyarrow.table(columns)])
