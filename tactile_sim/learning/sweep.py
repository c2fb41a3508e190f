"""Sweep configuration keys over a grid and write a table with one row per grid point."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import json
import math
import numbers
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tactile_sim import config
from tactile_sim.bag.atomic_write import refuse_existing
from tactile_sim.bag.export import arrow_array, require_pyarrow
from tactile_sim.common.errors import CommandError, ConfigError, ConfigErrors, TactileSimError, suggest
from tactile_sim.config.parameter_file import scalar
from tactile_sim.learning import folder
from tactile_sim.learning.dataset import Collection, describe, make_probe
from tactile_sim.learning.episodes import Episodes, Recipe, call
from tactile_sim.learning.workers import make_shards, require_ray
from tactile_sim.simulation import Simulation

MOST_POINTS = 100_000
"""Largest number of points in a grid."""
_COMMA = re.compile(r",(?![^\[]*\])")
"""Comma between two values, but not between the numbers of a list."""
_SENSOR = "sensor."
"""Prefix of abbreviated keys, which apply to the signal chains of all pads."""


@dataclass(frozen=True)
class Axis:
    """A configuration key and the values to sweep."""

    name: str
    """The key as the user wrote it."""
    keys: tuple[str, ...]
    """Full configuration keys that the axis sets."""
    values: tuple[Any, ...]


def make_axes(name: str, given: Sequence[str]) -> tuple[Axis, ...]:
    """Parse the axes of a sweep's grid.

    Args:
        name: Shipped name or path of the configuration.
        given: Axes as strings, such as ``skin.thickness=0.001:0.005:5`` (start, end and number of values) or
            ``sensor.noise.std=0,0.01`` (a list). ``sensor.STAGE.PARAMETER`` sets the parameter in all
            entries of ``skin.sensor``, or in an entry ``*`` if there are none.

    Raises:
        TactileSimError: The configuration, an axis, a key or a value is invalid, or there are too many
            points.
    """
    settings = config.load(name)
    axes: list[Axis] = []
    for text in given:
        key, equals, values = text.partition("=")
        if not (key and equals and values):
            raise CommandError(f"--over: must be KEY=A:B:N or KEY=VALUE,VALUE,..., got {text!r}")
        keys = [key]
        if key.startswith(_SENSOR):
            keys = [f"skin.sensor.{pad}.{key.removeprefix(_SENSOR)}" for pad in settings.skin.sensor or ["*"]]
        if any(set(keys) & set(axis.keys) for axis in axes):
            raise CommandError(f"--over: {key} is given twice; list all of its values in one")
        axes.append(Axis(key, tuple(keys), _axis_values(key, values)))
    if math.prod(len(axis.values) for axis in axes) > MOST_POINTS:
        sizes = " x ".join(str(len(axis.values)) for axis in axes)
        raise CommandError(f"--over: must be at most {MOST_POINTS} points, got {sizes}")
    first = {key: axis.values[0] for axis in axes for key in axis.keys}
    for axis in axes:
        for value in axis.values:
            try:
                config.load(name, changes=first | dict.fromkeys(axis.keys, value))
            except ConfigErrors:
                raise
            except ConfigError as error:
                raise CommandError(f"--over {axis.name}: {error}") from None
    return tuple(axes)


def _axis_values(key: str, text: str) -> tuple[Any, ...]:
    """Parse a range ``A:B:N`` or a list of values with the syntax of configuration files."""
    parts: list[Any] = [scalar(part.strip()) for part in text.split(":")]
    if len(parts) == 2 and all(_is_number(part) for part in parts):
        raise CommandError(f"--over {key}: must have the number of values as in {text}:5, got {text!r}")
    if len(parts) == 3 and all(_is_number(part) for part in parts):
        start, end, count = parts
        if not (isinstance(count, int) and 2 <= count <= MOST_POINTS):
            raise CommandError(f"--over {key}: must have 2 to {MOST_POINTS} values, got {text!r}")
        if start == end:
            raise CommandError(f"--over {key}: must be different values, got {text!r}")
        values = np.linspace(start, end, count).tolist()
        whole = isinstance(start, int) and isinstance(end, int) and all(value % 1 == 0 for value in values)
        return tuple(int(value) if whole else _short(value) for value in values)
    values = [_value(key, part) for part in _COMMA.split(text)]
    if len(set(map(str, values))) < len(values):
        raise CommandError(f"--over {key}: must be different values, got {text!r}")
    return tuple(values)


def _value(key: str, text: str) -> Any:
    """Parse a value, or a list in brackets."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [_value(key, part) for part in text[1:-1].split(",")]
    if not text:
        raise CommandError(f"--over {key}: must have a value before and after each comma, got none")
    return scalar(text)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _short(value: float) -> float:
    """Remove the rounding error of a value: 0.0030000000000000005 becomes 0.003."""
    return float(f"{value:.12g}")


Measure = Callable[[list[dict[str, np.ndarray]], Simulation], dict[str, float]]
"""Function that reduces recorded episodes to numbers, keyed by name.

Its arguments are the columns (length, ...) of each episode, keyed by name, and the simulation.
"""
_MODULE = "tactile_sim_metric"
"""Module name under which a metric file is loaded."""


def load_metric(place: str) -> Measure:
    """Load the function ``metric`` of a Python file, or that named by ``FILE:FUNCTION``.

    The returned function raises CommandError if the user's raises an exception or does not return numbers.
    """
    path, name = split(place)
    module = ModuleType(_MODULE)
    module.__file__ = str(path)
    try:
        code = compile(path.read_bytes(), str(path), "exec")
    except OSError as error:
        raise CommandError(f"--metric: cannot read {path}: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        raise CommandError(f"--metric: {path} is not Python: {error}") from None
    sys.modules[_MODULE] = module  # where dataclasses and pickle look it up
    content = vars(module)
    call("--metric", path, exec, code, content)
    function = content.get(name)
    if not callable(function):
        known = [key for key, value in content.items() if callable(value) and not key.startswith("_")]
        raise CommandError(f"--metric: {path} has no function {name!r}{suggest(name, known)}")
    where = f"--metric: {name} in {path}"
    return lambda episodes, simulation: _numbers(
        where, name, call("--metric", path, function, episodes, simulation)
    )


def split(place: str) -> tuple[Path, str]:
    """Split ``FILE`` or ``FILE:FUNCTION`` into the path and the function name."""
    path, colon, name = place.rpartition(":")
    return (Path(path), name) if colon and name.isidentifier() else (Path(place), "metric")


def _numbers(where: str, name: str, value: Any) -> dict[str, float]:
    """Convert the result of a metric, which is a number or a mapping, to numbers keyed by name."""
    named = value if isinstance(value, Mapping) else {name: value}
    found = {}
    for key, entry in named.items():
        number = entry.item() if isinstance(entry, np.generic | np.ndarray) and entry.size == 1 else entry
        if not (isinstance(key, str) and isinstance(number, numbers.Real)):
            raise CommandError(f"{where}: must return a number or numbers by name, got {key!r}: {entry!r}")
        try:
            found[key] = float(number)
        except OverflowError:
            raise CommandError(f"{where}: must return numbers up to 1.8e308, got more for {key!r}") from None
    if not found:
        raise CommandError(f"{where}: must return at least one number, got {value!r}")
    return found


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
        """Run the episodes of a point and write the values of the metric to the point's file; return 1."""
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
