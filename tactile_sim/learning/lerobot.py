"""Write the metadata that turns shards into a LeRobot v3.0 dataset."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.common.errors import CommandError
from tactile_sim.learning import folder


def check_rate(rate: float) -> int:
    """Return the number of rows per second as an integer, which LeRobot requires."""
    if abs(rate - round(rate)) > 1e-9 * rate or rate < 0.5:
        raise CommandError(
            f"--substeps: --format lerobot requires an integer number of rows per second, got {rate:g}"
        )
    return round(rate)


def is_finished(out: Path) -> bool:
    """Return whether a folder contains a dataset that `finish` has completed."""
    return (out / "meta/info.json").exists()


def finish(out: Path, info: dict[str, Any]) -> None:
    """Complete a dataset whose shards all exist: number its rows and write the folder ``meta``.

    ``info`` is the description of the dataset. ``meta/info.json`` is written last.
    """
    import pyarrow

    meta = out / "meta"
    statistics = {name: _Statistics(tuple(field["shape"])) for name, field in info["fields"].items()}
    episodes: list[dict[str, Any]] = []
    task, total = info["task"] or info["config"], 0
    for shard in range(info["shards"]):
        path = folder.shard_path(out, shard)
        _number(path, total)
        place = {"data/chunk_index": shard // folder.CHUNK, "data/file_index": shard % folder.CHUNK}
        for columns in _episodes(path):
            length = len(columns["index"])
            for name, values in columns.items():
                statistics[name].add(values)
            episodes.append(
                {"episode_index": len(episodes), "tasks": [task], "length": length}
                | place
                | {"dataset_from_index": total, "dataset_to_index": total + length}
                | {"meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0}
            )
            total += length
    table = pyarrow.Table.from_pylist(episodes)
    folder.write_tables(meta / "episodes/chunk-000/file-000.parquet", [table])
    folder.write_tables(meta / "tasks.parquet", [_tasks(task)])
    folder.write_json(meta / "stats.json", {name: found.result() for name, found in statistics.items()})
    features = {
        name: {"dtype": field["dtype"], "shape": field["shape"], "names": field.get("names")}
        for name, field in info["fields"].items()
    }
    folder.write_json(
        meta / "info.json",
        {
            "codebase_version": "v3.0",
            "robot_type": Path(info["config"]).stem,
            "total_episodes": len(episodes),
            "total_frames": total,
            "total_tasks": 1,
            "chunks_size": folder.CHUNK,
            "fps": check_rate(info["rate"]),
            "splits": {"train": f"0:{len(episodes)}"},
            "data_path": folder.DATA_PATH,
            "video_path": None,
            "features": features,
        },
    )


def _number(path: Path, first: int) -> None:
    """Correct the ``index`` column of a shard so that it counts rows from ``first``.

    The column is wrong if an earlier episode in the dataset ended early, because the process that wrote the
    shard assumes that all episodes have full length.
    """
    import pyarrow
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        groups = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        rows = np.arange(first, first + sum(groups))
        if np.array_equal(file.read(["index"]).column("index").to_numpy(), rows):
            return

        def tables() -> Iterator[Any]:
            edges = np.cumsum([0, *groups])
            for k in range(len(groups)):
                table = file.read_row_group(k)
                column = table.column_names.index("index")
                values = pyarrow.array(rows[edges[k] : edges[k + 1]])
                yield table.set_column(column, table.schema.field(column), values)

        folder.write_tables(path, tables())


def _episodes(path: Path) -> Iterator[dict[str, np.ndarray]]:
    """Yield the columns (length, ...) of each episode of a shard."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group)
            yield {name: _array(table.column(name)) for name in table.column_names}


def _array(column: Any) -> np.ndarray:
    """Return a column of numbers or nested lists of fixed size as an array (length, ...)."""
    import pyarrow

    values, shape = column.combine_chunks(), [len(column)]
    while pyarrow.types.is_fixed_size_list(values.type):
        shape.append(values.type.list_size)
        values = values.flatten()
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(shape)


class _Statistics:
    """Computes the minimum, maximum, mean and standard deviation of each element over all rows."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._count = 0
        self._least, self._most = np.full(shape, np.inf), np.full(shape, -np.inf)
        self._mean, self._squares = np.zeros(shape), np.zeros(shape)

    def add(self, values: np.ndarray) -> None:
        """Add the rows of an episode with Chan's parallel algorithm for mean and variance."""
        rows = values.reshape(len(values), *self._shape).astype(float)
        count, mean = len(rows), rows.mean(axis=0)
        total, change = self._count + count, mean - self._mean
        self._squares += ((rows - mean) ** 2).sum(axis=0) + change**2 * (self._count * count / total)
        self._mean += change * (count / total)
        self._count = total
        self._least = np.minimum(self._least, rows.min(axis=0))
        self._most = np.maximum(self._most, rows.max(axis=0))

    def result(self) -> dict[str, Any]:
        """Return the statistics as lists of numbers, keyed by LeRobot's names."""
        return {
            "min": self._least.tolist(),
            "max": self._most.tolist(),
            "mean": self._mean.tolist(),
            "std": np.sqrt(self._squares / self._count).tolist(),
            "count": [self._count],
        }


def _tasks(task: str) -> Any:
    """Return LeRobot's table of tasks as pandas would store it, with the task names as index."""
    import pyarrow

    table = pyarrow.table({"task_index": pyarrow.array([0]), "task": [task]})
    columns = [
        {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": stored, "metadata": None}
        for name, kind, stored in (("task_index", "int64", "int64"), ("task", "unicode", "object"))
    ]
    index = {"index_columns": ["task"], "column_indexes": [], "columns": columns, "pandas_version": "2.0.0"}
    return table.replace_schema_metadata({"pandas": json.dumps(index)})
