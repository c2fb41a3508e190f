"""Taxel layouts of a sensor: poses, ids, rows and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.common.errors import ConfigError, suggest

MOST_TAXELS = 100_000
"""Maximum number of taxels in a layout."""
COLUMNS = {
    "positions": ("x", "y", "z"),
    "normals": ("nx", "ny", "nz"),
    "tangents": ("tx", "ty", "tz"),
    "ids": ("id",),
    "rows": ("row",),
    "columns": ("column",),
}
"""Column names in CSV files for each array name in ``.npz`` and ``.yaml`` files."""
REQUIRED = ("positions", "normals")


@dataclass(frozen=True)
class Layout:
    """The n taxels of a sensor, in the sensor's order."""

    positions: np.ndarray
    """(n, 3) positions of the taxels in the frame of the layout [m]."""
    axes: np.ndarray
    """(n, 3, 3) axes of each taxel in the frame of the layout. Rows: first tangent, second tangent, outward
    normal; they are right-handed unit vectors."""
    ids: np.ndarray
    """(n,) uint32 id of each taxel, as numbered by the sensor."""
    rows: np.ndarray
    """(n,) uint32 row of each taxel in the sensor's grid; empty if there is no grid."""
    columns: np.ndarray
    """(n,) uint32 column of each taxel in the sensor's grid; empty if there is no grid."""
    spacing: float
    """Distance between neighboring taxels [m]."""

    def moved(self, position: np.ndarray, rotation: np.ndarray) -> Layout:
        """Return the layout rotated by ``rotation`` (3, 3) and then translated by ``position`` (3,) [m]."""
        return replace(self, positions=self.positions @ rotation.T + position, axes=self.axes @ rotation.T)

    def mirrored(self) -> Layout:
        """Return the layout mirrored along x. The second tangents and normals are mirrored, too."""
        axes = self.axes * [-1.0, 1.0, 1.0]
        axes[:, 0] *= -1.0
        return replace(self, positions=self.positions * [-1.0, 1.0, 1.0], axes=axes)

    def triangles(self) -> np.ndarray:
        """Return two triangles (t, 3), wound outward, for each grid cell with taxels at all four corners."""
        if len(self.rows) == 0:
            return np.empty((0, 3), np.uint32)
        # The row numbers of a sensor may have gaps.
        row, column = (np.unique(values, return_inverse=True)[1] for values in (self.rows, self.columns))
        index = np.full((row.max() + 1, column.max() + 1), -1)
        index[row, column] = np.arange(len(row))
        cells = np.stack([index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]], axis=-1)
        corners = cells.reshape(-1, 4)
        corners = corners[(corners >= 0).all(axis=1)]
        triangles = np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
        a, b, c = np.moveaxis(self.positions[triangles], 1, 0)
        inward = np.einsum("ti,ti->t", np.cross(b - a, c - a), self.axes[triangles[:, 0], 2]) < 0
        triangles[inward] = triangles[inward][:, ::-1]
        return triangles.astype(np.uint32)


def grid(rows: int, columns: int, pitch: tuple[float, float]) -> Layout:
    """Create a flat grid centerd at the origin, row by row, with normals along +z and tangents +x and +y.

    Args:
        rows: Number of rows, counted along +y.
        columns: Number of columns, counted along +x.
        pitch: Distance between columns along x and between rows along y [m].
    """
    row, column = np.divmod(np.arange(rows * columns, dtype=np.uint32), np.uint32(columns))
    x, y = (column - (columns - 1) / 2) * pitch[0], (row - (rows - 1) / 2) * pitch[1]
    return Layout(
        np.stack([x, y, np.zeros(len(x))], axis=1),
        np.tile(np.eye(3), (len(x), 1, 1)),
        np.arange(len(x), dtype=np.uint32),
        row,
        column,
        float(np.sqrt(pitch[0] * pitch[1])),
    )


def layout_of_arrays(arrays: Mapping[str, Any], where: str) -> Layout:
    """Create a layout from arrays, which are named as in `COLUMNS`.

    Args:
        arrays: ``positions`` (n, 3) [m] and ``normals`` (n, 3), and optionally ``tangents`` (n, 3), ``ids``,
            ``rows`` and ``columns`` (n,).
        where: Prefix for error messages (file and key).

    Raises:
        ConfigError: An array is missing, unknown or invalid.
    """
    for name in arrays:
        if name not in COLUMNS:
            raise ConfigError(f"{where}: unknown array {name!r}{suggest(name, COLUMNS)}")
    for name in REQUIRED:
        if name not in arrays:
            raise ConfigError(f"{where}: {name} are missing; columns: {', '.join(COLUMNS[name])}")
    positions, normals = (_vectors(arrays[name], name, where) for name in REQUIRED)
    count = len(positions)
    if not 0 < count <= MOST_TAXELS:
        raise ConfigError(f"{where}: must have 1 to {MOST_TAXELS} taxels, got {count}")
    normals = _unit(normals, "normals", where)
    tangents = default_tangents(normals)
    if "tangents" in arrays:
        tangents = _vectors(arrays["tangents"], "tangents", where)
        if len(tangents) == count == len(normals):
            tangents = tangents - np.einsum("ni,ni->n", tangents, normals)[:, None] * normals
            tangents = _unit(tangents, "tangents", where)
    numbers = {
        name: _numbers(arrays[name], name, where) for name in ("ids", "rows", "columns") if name in arrays
    }
    for name, values in {"normals": normals, "tangents": tangents, **numbers}.items():
        if len(values) != count:
            raise ConfigError(
                f"{where}: {name}: must have {count} entries, like the positions, got {len(values)}"
            )
    if ("rows" in numbers) != ("columns" in numbers):
        raise ConfigError(f"{where}: rows and columns: must be given together")
    ids = numbers.get("ids", np.arange(count, dtype=np.uint32))
    _check_unique(ids, "id", where)
    rows, columns = (numbers.get(name, np.empty(0, np.uint32)) for name in ("rows", "columns"))
    _check_unique(rows.astype(np.uint64) << 32 | columns, "row and column", where)
    _check_apart(positions, where)
    axes = np.stack([tangents, np.cross(normals, tangents), normals], axis=1)
    return Layout(positions, axes, ids, rows, columns, spacing_of(positions))


def default_tangents(normals: np.ndarray) -> np.ndarray:
    """Return a unit tangent (n, 3) for each outward normal (n, 3); normals are unit vectors or 0.

    The tangent is the direction in the tangent plane that is nearest to the x axis, or to the y axis if the
    normal is within 18 degrees of the x axis.
    """
    wanted = np.where((np.abs(normals[:, 0]) > 0.95)[:, None], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    x = wanted - np.einsum("ni,ni->n", wanted, normals)[:, None] * normals
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def facing(normal: np.ndarray, turn: float = 0.0) -> np.ndarray:
    """Return the rotation (3, 3) of a pad from its outward normal (3,) and the angle about it [degrees].

    Without a turn, the x axis is the default tangent.
    """
    z = normal / np.linalg.norm(normal)
    x = default_tangents(z[None])[0]
    y, angle = np.cross(z, x), np.radians(turn)
    x = np.cos(angle) * x + np.sin(angle) * y
    return np.stack([x, np.cross(z, x), z], axis=1)


def spacing_of(positions: np.ndarray) -> float:
    """Return the median distance from each position (n, 3) to its nearest neighbor [m], or 0 if n < 2."""
    if len(positions) < 2:
        return 0.0
    return float(np.median(cKDTree(positions).query(positions, 2)[0][:, 1]))


def _vectors(values: Any, name: str, where: str) -> np.ndarray:
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError):
        raise ConfigError(f"{where}: {name}: must be numbers, three for each taxel") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise ConfigError(f"{where}: {name}: must have three numbers for each taxel, got shape {array.shape}")
    wrong = np.flatnonzero(~(np.abs(array) < 1e6).all(axis=1))
    if len(wrong):
        raise ConfigError(f"{where}: {name}: must be finite, got {array[wrong[0]]} for taxel {wrong[0]}")
    return array


def _unit(vectors: np.ndarray, name: str, where: str) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1)
    wrong = np.flatnonzero(lengths < 1e-6)
    if len(wrong):
        across = " across its normal" if name == "tangents" else ""
        raise ConfigError(
            f"{where}: {name}: must not be 0{across}, got {vectors[wrong[0]]} for taxel {wrong[0]}"
        )
    return vectors / lengths[:, None]


def _numbers(values: Any, name: str, where: str) -> np.ndarray:
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError):
        array = np.array([np.nan])
    if array.ndim != 1 or not ((array >= 0) & (array < 2**32) & (array == np.floor(array))).all():
        raise ConfigError(
            f"{where}: {name}: must be integers from 0, one for each taxel{_wrong_number(array)}"
        )
    return array.astype(np.uint32)


def _wrong_number(array: np.ndarray) -> str:
    if array.ndim != 1:
        return ""
    wrong = np.flatnonzero(~((array >= 0) & (array < 2**32) & (array == np.floor(array))))
    return f", got {array[wrong[0]]:g} for taxel {wrong[0]}"


def _check_apart(positions: np.ndarray, where: str) -> None:
    """Raise ConfigError if two of the positions (n, 3) are equal."""
    _, places = np.unique(positions, axis=0, return_inverse=True)
    order = np.argsort(places.ravel(), kind="stable")
    same = np.flatnonzero(np.diff(places.ravel()[order]) == 0)
    if len(same):
        first, second = order[same[0]], order[same[0] + 1]
        raise ConfigError(
            f"{where}: positions: must differ, got {positions[first]} for taxels {first} and {second}"
        )


def _check_unique(values: np.ndarray, what: str, where: str) -> None:
    _, first, counts = np.unique(values, return_index=True, return_counts=True)
    if (counts > 1).any():
        place = int(first[counts > 1][0])
        raise ConfigError(
            f"{where}: the {what} of taxel {place} occurs {counts.max()} times; it must be unique"
        )
