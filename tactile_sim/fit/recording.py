"""Read recorded presses on one pad (times, reference forces and readings) from a CSV file or a bag."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tactile_sim.errors import CommandError, suggest
from tactile_sim.files import MB, read_file

_LARGEST = 512 * MB
_REST = 0.02
"""A pad counts as unloaded up to this fraction of the largest force, because force sensors are noisy."""
_LEADING = 0.8
"""A taxel counts as pressed if its reading changes most in at least this fraction of a press's samples."""


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

    def __post_init__(self) -> None:
        columns = [self.times, self.readings, *(x for x in (self.force, self.loads) if x is not None)]
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
    try:
        table = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1, ndmin=2)
    except ValueError:
        table = np.empty((0, 0))
    if table.shape[1] != len(header):
        raise CommandError(f"{path}: {_fault_of_table(text, header)}; separate numbers by commas")
    return dict(zip(header, table.T, strict=True))


def _fault_of_table(text: str, header: list[str]) -> str:
    """Describe the first row of a CSV file that does not consist of a number for each column."""
    rows = (line.split(",") for line in text.splitlines()[1:])
    for number, row in enumerate(rows, 2):
        if not row[0].strip() and len(row) == 1 or row[0].lstrip().startswith("#"):
            continue
        if len(row) != len(header):
            return f"line {number}: must have {len(header)} numbers, as the header, got {len(row)}"
        for name, cell in zip(header, row, strict=True):
            try:
                float(cell)
            except ValueError:
                return f"line {number}: column {name!r} must be a number, got {cell!r}"
    return "must have numbers below its header"


def read_csv(path: Path) -> Recording:
    """Read a recording from a CSV file.

    The columns are ``time`` [s], ``reading_0``, ``reading_1``, ... [units], and the reference: either
    ``force`` [N] with an optional ``taxel``, or ``load_0``, ``load_1``, ... [N]. Other columns are ignored.

    Raises:
        CommandError: The file cannot be read, or a column is missing or invalid.
    """
    columns = read_table(path)
    header = list(columns)
    if "time" not in columns:
        raise CommandError(f"{path}: the column 'time' is missing{suggest('time', header)}")
    readings = _numbered(path, columns, "reading")
    if readings is None:
        raise CommandError(f"{path}: the columns 'reading_0', 'reading_1', ... are missing")
    loads = _numbered(path, columns, "load")
    if loads is not None and loads.shape != readings.shape:
        raise CommandError(f"{path}: must have one load per reading, got {loads.shape[1]}")
    if loads is None and "force" not in columns:
        raise CommandError(f"{path}: must have the column 'force' or the columns 'load_0', 'load_1', ...")
    taxel = columns.get("taxel")
    if taxel is not None:
        number = readings.shape[1]
        if not np.isin(taxel, np.arange(-2, number)).all():
            raise CommandError(f"{path}: taxel must be an index from 0 to {number - 1}, or -1 for none")
        taxel = taxel.astype(int)
    return Recording(str(path), columns["time"], readings, columns.get("force"), taxel, loads)


def _numbered(path: Path, columns: dict[str, np.ndarray], name: str) -> np.ndarray | None:
    """Combine the columns ``name_0``, ``name_1``, ... in one array; return None if there are none."""
    found = sorted(int(match[1]) for key in columns if (match := re.fullmatch(rf"{name}_(\d+)", key)))
    if not found:
        return None
    if found != list(range(len(found))):
        raise CommandError(f"{path}: the columns '{name}_0' to '{name}_{found[-1]}' must all be present")
    return np.stack([columns[f"{name}_{k}"] for k in found], axis=1)


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
