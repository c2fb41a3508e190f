"""Read recorded presses on one pad (times, reference forces and readings) from files of several formats."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tactile_sim.common.errors import CommandError, suggest
from tactile_sim.common.files import MB, read_file

_LARGEST = 512 * MB
_REST = 0.02
"""A pad counts as unloaded up to this fraction of the largest force, because force sensors are noisy."""
_LEADING = 0.8
"""A taxel counts as pressed if its reading changes most in at least this fraction of a press's samples."""
_GAP = 3.0
"""A reference is interpolated over gaps of up to this many intervals."""
FORMATS = (".csv", ".mat", ".npz", ".npy")
"""File formats that are not bags."""
_QUANTITIES = ("time", "readings", "force", "load", "loads", "taxel", "x", "y", "z")
_KEYS = {
    "column",
    "columns",
    "variable",
    "topic",
    "field",
    "file",
    "time",
    "by",
    "scale",
    "offset",
    "invalid",
}


@dataclass(frozen=True)
class Recording:
    """A recording of one pad with n samples of m taxels."""

    source: str
    """Name of the recording in error messages."""
    times: np.ndarray
    """(n,) times of the samples, increasing [s]."""
    readings: np.ndarray
    """(n, m) readings along the inward normal of each taxel [units]."""
    force: np.ndarray | None = None
    """(n,) reference force on the pad, such as from a force sensor [N]."""
    taxel: np.ndarray | None = None
    """(n,) index of the taxel on which ``force`` acts; -1 if none, -2 if unknown."""
    loads: np.ndarray | None = None
    """(n, m) reference load of each taxel [N], used instead of ``force`` and ``taxel``."""
    points: np.ndarray | None = None
    """(n, 3) positions of the indenter in the frame of the body [m], used if there is no ``taxel``."""

    def __post_init__(self) -> None:
        optional = (self.force, self.loads, self.points)
        columns = [self.times, self.readings, *(x for x in optional if x is not None)]
        if len(self.times) < 20:
            raise CommandError(f"{self.source}: must have at least 20 samples, got {len(self.times)}")
        if not all(np.isfinite(column).all() for column in columns):
            raise CommandError(f"{self.source}: must have finite numbers only")
        if (steps := np.flatnonzero(np.diff(self.times) <= 0)).size:
            row = steps[0] + 1
            raise CommandError(
                f"{self.source}: time must increase, got {self.times[row]:g} after {self.times[row - 1]:g} s"
            )


def read_table(path: Path) -> dict[str, np.ndarray]:
    """Read the columns of a CSV file, keyed by the names in its header.

    Without a header, the names are the numbers of the columns from 0.

    Raises:
        CommandError: The file cannot be read, or its rows do not match the header.
    """
    try:
        text = read_file(path, _LARGEST).decode("utf-8-sig")
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{path}: must be a CSV file in UTF-8") from None
    try:
        header = [name.strip() for name in next(csv.reader(io.StringIO(text)), [])]
    except csv.Error as error:
        raise CommandError(f"{path}: line 1: must name the columns: {error}") from None
    if (lines := sum(bool(line.strip()) for line in text.splitlines())) < 2:
        raise CommandError(f"{path}: must have a header and rows of numbers, got {lines} lines")
    named = not all(_is_number(name) for name in header)
    names = header if named else [str(k) for k in range(len(header))]
    try:
        table = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=int(named), ndmin=2)
    except ValueError:
        table = np.empty((0, 0))
    if table.shape[1] != len(names):
        raise CommandError(f"{path}: {_fault_of_table(text, names)}; separate numbers by commas")
    return dict(zip(names, table.T, strict=True))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _fault_of_table(text: str, header: list[str]) -> str:
    """Describe the first row of a CSV file that does not consist of a number for each column."""
    rows = (line.split(",") for line in text.splitlines()[1:])
    for number, row in enumerate(rows, 2):
        if not row[0].strip() and len(row) == 1 or row[0].lstrip().startswith("#"):
            continue
        if len(row) != len(header):
            return f"line {number}: must have {len(header)} numbers, as the header, got {len(row)}"
        for name, cell in zip(header, row, strict=True):
            if not _is_number(cell):
                return f"line {number}: column {name!r} must be a number, got {cell!r}"
    return "must have numbers below its header"


def read_csv(path: Path) -> Recording:
    """Read a recording from a CSV file with the column names in docs/fit.md. Other columns are ignored.

    Raises:
        CommandError: The file cannot be read, or a column is missing or invalid.
    """
    columns = read_table(path)
    header = list(columns)
    if "time" not in columns:
        raise CommandError(
            f"{path}: the column 'time' is missing{suggest('time', header)}; rename columns or use --mapping"
        )
    readings = _numbered(path, columns, "reading")
    if readings is None:
        raise CommandError(f"{path}: the columns 'reading_0', 'reading_1', ... are missing; use --mapping")
    given: dict[str, Any] = {
        name: columns[name] for name in ("force", "load", "taxel", "x", "y", "z") if name in columns
    }
    return _recording(path, columns["time"], readings, given | {"loads": _numbered(path, columns, "load")})


def _recording(path: Path, times: np.ndarray, readings: np.ndarray, given: Mapping[str, Any]) -> Recording:
    """Create a recording from its columns, by their names in a mapping."""
    loads, taxel, number = given.get("loads"), given.get("taxel"), readings.shape[1]
    if loads is not None and loads.shape != readings.shape:
        raise CommandError(f"{path}: must have one load per reading, got {loads.shape[1]}")
    if loads is None and given.get("load") is not None:
        loads = np.repeat(given["load"][:, None], number, axis=1)
    if loads is None and given.get("force") is None:
        raise CommandError(
            f"{path}: must have the column 'force', or 'load' of every taxel, or 'load_0', 'load_1', ..."
        )
    if taxel is not None:
        if not np.isin(taxel, np.arange(-2, number)).all():
            hint = ""
            if taxel.max() == number and not (taxel == 0).any():
                hint = "; they seem to be numbered from 1: subtract 1"
            raise CommandError(
                f"{path}: taxel must be an index from 0 to {number - 1}, or -1 for none, got"
                f" {taxel.min():g} to {taxel.max():g}{hint}"
            )
        taxel = taxel.astype(int)
    points = None
    if "x" in given and "y" in given:
        points = np.stack([given["x"], given["y"], given.get("z", np.zeros(len(times)))], axis=1)
    return Recording(str(path), times, readings, given.get("force"), taxel, loads, points)


def _numbered(path: Path, columns: dict[str, np.ndarray], name: str) -> np.ndarray | None:
    """Combine the columns ``name_0``, ``name_1``, ... in one array; return None if there are none."""
    found = sorted(int(match[1]) for key in columns if (match := re.fullmatch(rf"{name}_(\d+)", key)))
    if not found:
        return None
    if found != list(range(len(found))):
        raise CommandError(f"{path}: the columns '{name}_0' to '{name}_{found[-1]}' must all be present")
    return np.stack([columns[f"{name}_{k}"] for k in found], axis=1)


def read_mapping(path: Path) -> dict[str, dict[str, Any]]:
    """Read a mapping from the contents of a file to a recording, as described in docs/fit.md.

    Raises:
        CommandError: The file cannot be read, or a key or value is invalid.
    """
    try:
        mapping = yaml.safe_load(read_file(path, MB))
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror or error}") from None
    except yaml.YAMLError as error:
        raise CommandError(f"{path}: must be YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(mapping, dict) or not all(isinstance(value, dict) for value in mapping.values()):
        raise CommandError(f"{path}: must have entries such as 'time: {{column: 0}}'")
    for name, entry in mapping.items():
        if name not in _QUANTITIES:
            raise CommandError(f"{path}: unknown quantity {name!r}{suggest(str(name), _QUANTITIES)}")
        for key in entry:
            if key not in _KEYS:
                raise CommandError(f"{path}: {name}: unknown key {key!r}{suggest(str(key), _KEYS)}")
    for name in ("time", "readings"):
        if name not in mapping:
            raise CommandError(f"{path}: must have {name!r}")
    return mapping


def read_mapped(path: Path, mapping: Mapping[str, Mapping[str, Any]]) -> Recording:
    """Read a recording from a CSV, MATLAB, NumPy or bag file by a mapping.

    Quantities from other files are interpolated linearly to the times of the readings. Samples of the
    reference with the value ``invalid`` are left out.

    Raises:
        CommandError: A file cannot be read, or does not have what the mapping names.
    """
    times = _values(path, "time", mapping["time"])[:, 0]
    entry, readings = mapping["readings"], _values(path, "readings", mapping["readings"])
    if "by" in entry:  # long form: a row for each taxel
        taxel = _values(path, "readings.by", {**entry, "column": entry["by"]})[:, 0].astype(int)
        instants, at = np.unique(times, return_inverse=True)
        names, who = np.unique(taxel, return_inverse=True)
        wide = np.full((len(instants), len(names)), np.nan)
        wide[at, who] = readings[:, 0]
        keep = np.isfinite(wide).all(axis=1)
        rows = np.array([np.flatnonzero(at == k)[0] for k in np.flatnonzero(keep)], int)
        times, readings = instants[keep], wide[keep]
    else:
        rows = np.arange(len(times))
    given, usable = {}, np.ones(len(times), bool)
    for name in (name for name in mapping if name not in ("time", "readings")):
        entry = mapping[name]
        values = _values(path, name, entry)
        if "time" in entry:
            at = _values(path, f"{name}.time", {**entry, "column": entry["time"], "scale": 1, "offset": 0})[
                :, 0
            ]
            raw = _values(path, name, {**entry, "scale": 1, "offset": 0})
            longest = _GAP * float(np.median(np.diff(at)))
            good = (raw != entry.get("invalid", np.nan)).all(axis=1)
            at, values = at[good], values[good]
            if len(at) < 2:
                raise CommandError(f"{path}: {name}: must have at least 2 valid samples, got {len(at)}")
            before = np.clip(np.searchsorted(at, times, side="right") - 1, 0, len(at) - 2)
            near = (at[before + 1] - at[before] <= longest) | (np.abs(times - at[before]) < 0.1 * longest)
            usable &= near & (times >= at[0]) & (times <= at[-1])
            values = np.stack([np.interp(times, at, column) for column in values.T], axis=1)
        elif len(values) >= max(rows[-1] + 1, 1):
            values = values[rows]
        else:  # one recorder stopped earlier
            usable[len(values) :] = False
            values = np.pad(values, ((0, len(rows) - len(values)), (0, 0)), mode="edge")
        given[name] = values if name == "loads" else values[:, 0]
    return _recording(path, times[usable], readings[usable], {k: v[usable] for k, v in given.items()})


def _values(path: Path, name: str, entry: Mapping[str, Any]) -> np.ndarray:
    """Return the values (n, k) of one quantity of a mapping."""
    file = path.parent / entry["file"] if "file" in entry else path
    where = f"{file}: {name}"
    try:
        table = _table(
            file, str(entry.get("variable", "")), str(entry.get("topic", "")), str(entry.get("field", ""))
        )
        columns = entry.get("columns", entry.get("column"))
        if isinstance(table, dict):
            names = list(table)
            if columns is None:
                raise CommandError(f"{where}: must have a column, one of {', '.join(names[:12])}")
            array = np.stack(list(table.values()), axis=1)
        else:
            array, names = table, [str(k) for k in range(table.shape[1])]
            columns = ":" if columns is None else columns
        if isinstance(columns, str) and ":" in columns:
            begin, _, end = columns.partition(":")
            chosen = list(range(len(names)))[slice(int(begin or 0), int(end) if end else None)]
        else:
            chosen = [
                _index(where, names, column)
                for column in (columns if isinstance(columns, list) else [columns])
            ]
        return array[:, chosen] * float(entry.get("scale", 1.0)) + float(entry.get("offset", 0.0))
    except (TypeError, ValueError) as error:
        raise CommandError(f"{where}: invalid entry: {error}") from None


def _index(where: str, names: list[str], column: Any) -> int:
    """Return the index of a column, from its name or number."""
    if isinstance(column, int) and 0 <= column < len(names):
        return column
    if str(column) in names:
        return names.index(str(column))
    raise CommandError(f"{where}: no column {column!r}{suggest(str(column), names)}; there are {len(names)}")


@lru_cache(maxsize=8)
def _table(file: Path, variable: str, topic: str, field: str) -> dict[str, np.ndarray] | np.ndarray:
    """Return the columns of a CSV file by name, or an array (n, k) of another file."""
    if file.suffix == ".csv":
        return read_table(file)
    if file.suffix not in FORMATS:
        from tactile_sim import bag  # takes a while to import

        if not topic:
            raise CommandError(f"{file}: must have a topic in the mapping, as this is a bag")
        messages: Any = bag.read(file, [topic])[topic]
        if field == "stamp":
            return np.asarray(messages.stamps / 1e9)[:, None]
        array: Any = messages
        for part in field.split("."):
            array = getattr(array, part, None)
        return _flat(file, f"{topic}.{field}", array)
    try:
        if file.suffix == ".mat":
            from scipy.io import loadmat

            content: Any = loadmat(file, squeeze_me=True, struct_as_record=True)
        elif file.suffix == ".npy":
            return _flat(file, "array", np.load(file))
        else:
            content = dict(np.load(file))
    except (OSError, ValueError, NotImplementedError) as error:
        raise CommandError(f"{file}: cannot be read: {error}") from None
    array = content
    for part in variable.split("."):
        try:
            array = array[part]
            array = array.item() if isinstance(array, np.ndarray) and array.dtype == object else array
        except (KeyError, ValueError, IndexError):
            known = [name for name in content if not name.startswith("__")]
            raise CommandError(
                f"{file}: no variable {variable!r}{suggest(variable, known)}; it has {known}"
            ) from None
    return _flat(file, variable, array)


def _flat(file: Path, name: str, array: Any) -> np.ndarray:
    """Return an array of numbers as (n, k)."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub" or array.ndim == 0:
        raise CommandError(f"{file}: {name}: must be an array of numbers")
    return array.reshape(len(array), -1).astype(float)


def read(
    path: Path,
    pad: str,
    normals: np.ndarray,
    mapping: Mapping[str, Mapping[str, Any]] | None = None,
    reference: str | None = None,
) -> Recording:
    """Read a recording: by a mapping, or a CSV file or a bag with the usual names.

    Args:
        path: CSV, MATLAB or NumPy file, or bag.
        pad: Name of the pad in the topics of a bag.
        normals: (m, 3) outward normals of the taxels.
        mapping: From `read_mapping`.
        reference: Topic of a reference sensor in a bag.

    Raises:
        CommandError: The file cannot be read, or has not what is expected.
    """
    if mapping is not None:
        return read_mapped(path, mapping)
    if path.suffix in FORMATS[1:]:
        raise CommandError(f"{path}: --mapping must name its variables and columns, see docs/fit.md")
    if path.suffix == ".csv":
        return read_csv(path)
    return read_bag(path, pad, reference, normals)


def read_bag(path: Path, pad: str, reference: str | None, normals: np.ndarray) -> Recording:
    """Read a recording from a bag.

    Args:
        path: The bag's folder or MCAP file.
        pad: Name of the pad in the topics ``tactile/PAD/array`` and ``tactile/PAD/truth``.
        reference: WrenchStamped topic with the force on the pad; None to use the ground truth of a simulated
            pad.
        normals: (m, 3) outward normals of the taxels.

    Raises:
        BagError: A topic is missing from the bag.
        CommandError: The messages do not match the pad.
    """
    from tactile_sim import bag  # takes a while to import

    source = reference or f"tactile/{pad}/truth"
    topics = bag.read(path, [f"tactile/{pad}/array", source])
    array = topics[f"tactile/{pad}/array"]
    times, readings = array.stamps / 1e9, _along(path, array.data, normals)
    if reference is None:
        truth = topics[source]
        loads = _along(path, truth.data, normals)
        common, ours, theirs = np.intersect1d(array.stamps, truth.stamps, return_indices=True)
        return Recording(str(path), common / 1e9, readings[ours], loads=loads[theirs])
    wrench = topics[reference]
    if wrench.message_type != "geometry_msgs/msg/WrenchStamped":
        raise CommandError(
            f"{path}: {reference}: must be of geometry_msgs/msg/WrenchStamped, got {wrench.message_type}"
        )
    force = np.linalg.norm(wrench.wrench.force, axis=1)
    return Recording(str(path), times, readings, np.interp(times, wrench.stamps / 1e9, force))


def _along(path: Path, data: object, normals: np.ndarray) -> np.ndarray:
    """Return the components of a pad's readings along the inward normals, (n samples, m taxels).

    Readings with three channels are projected onto the inward normals. A single channel is used as it is.

    Args:
        path: Path of the bag, for error messages.
        data: (n, m, 1 or 3) readings.
        normals: (m, 3) outward normals.

    Raises:
        CommandError: The number of taxels is not m, or the number of channels is not 1 or 3.
    """
    if not isinstance(data, np.ndarray) or data.shape[1:] not in ((len(normals), 1), (len(normals), 3)):
        shape = data.shape[1:] if isinstance(data, np.ndarray) else "arrays of several sizes"
        raise CommandError(f"{path}: must have {len(normals)} taxels with 1 or 3 channels, got {shape}")
    values = data.astype(float)
    return values[..., 0] if values.shape[2] == 1 else -np.einsum("nmc,mc->nm", values, normals)


def is_loaded(loads: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of the samples in which any taxel is loaded, from the loads (n, m)."""
    sizes = np.abs(loads).max(axis=1)
    return np.asarray(sizes > _REST * sizes.max())


def pressed_taxels(recording: Recording) -> np.ndarray:
    """Return the index of the pressed taxel in each sample (n,); -1 between presses.

    In each sample of a press, one taxel's reading differs most from its value at rest. If this is the same
    taxel in nearly all samples of the press, that taxel counts as pressed in all of them. Otherwise, as in a
    slide, the pressed taxel is unknown (-2) in all of them.
    """
    assert recording.force is not None
    loaded = is_loaded(recording.force[:, None])
    free = recording.readings[~loaded] if (~loaded).any() else recording.readings[:1]
    leading = np.abs(recording.readings - np.median(free, axis=0)).argmax(axis=1)
    taxel = np.full(len(loaded), -1)
    edges = np.flatnonzero(np.diff(np.r_[False, loaded, False]))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        counts = np.bincount(leading[start:stop], minlength=recording.readings.shape[1])
        taxel[start:stop] = counts.argmax() if counts.max() >= _LEADING * (stop - start) else -2
    return taxel
