"""Reconstruct skins from point clouds, for bags without layouts.

The points on a body are assumed to move rigidly with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

_REQUIRED = ("x", "y", "z", "intensity")
_DTYPES = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 8: "<f8"}
"""NumPy types for the ``datatype`` constants of sensor_msgs/PointField."""


def records(cloud: Any) -> np.ndarray:
    """Return the points in a decoded PointCloud2 as a structured array (n,) with the cloud's fields."""
    fields = cloud.fields
    dtype = np.dtype(
        {
            "names": list(fields.name),
            "formats": [_DTYPES[int(datatype)] for datatype in fields.datatype],
            "offsets": fields.offset.tolist(),
            "itemsize": int(cloud.point_step),
        }
    )
    return np.frombuffer(np.ascontiguousarray(cloud.data).tobytes(), dtype)


def fault_of(cloud: Any) -> str:
    """Return why a decoded PointCloud2 has no points to show, or an empty string if it has some."""
    if missing := [name for name in _REQUIRED if name not in list(cloud.fields.name)]:
        return f"fields must include {', '.join(_REQUIRED)}, got none named {', '.join(missing)}"
    try:
        return "" if len(records(cloud)) else "there are no points"
    except (KeyError, ValueError):
        return f"fields do not match the {len(cloud.data)} bytes of data in steps of {cloud.point_step}"


def _positions(points: np.ndarray) -> np.ndarray:
    return np.stack([points[axis] for axis in "xyz"], axis=1).astype(np.float64)


class PointBodies:
    """Rigid bodies that consist of the points in a cloud. The origin of each body is the mean of its points.

    Bodies with points that are not finite are left out.

    Attributes:
        invalid: Values of the cloud's field ``body`` for the bodies that are left out.
        numbers: Value of the cloud's field ``body`` for each body (b,), or 0 without this field.
        counts: Number of points on each body (b,).
        positions: Points (n, 3) in their body frames [m], concatenated over the bodies.
        spacings: Point spacing on each body (b,) [m].
    """

    def __init__(self, cloud: Any):
        """Create the bodies from a decoded PointCloud2 without a fault."""
        points = records(cloud)
        self._number = len(points)
        numbers = points["body"] if "body" in (points.dtype.names or ()) else np.zeros(len(points), int)
        positions = _positions(points)
        self.invalid = np.unique(numbers[~np.isfinite(positions).all(axis=1)])
        order = np.argsort(numbers, kind="stable")
        self._order = order[~np.isin(numbers[order], self.invalid)]
        self.numbers, starts, counts = np.unique(numbers[self._order], return_index=True, return_counts=True)
        self.counts = counts
        self._parts = [slice(start, start + count) for start, count in zip(starts, counts, strict=True)]
        positions = positions[self._order]
        self.positions = np.concatenate(
            [positions[part] - positions[part].mean(axis=0) for part in self._parts] or [positions]
        )
        self.spacings = np.array([_spacing(self.positions[part]) for part in self._parts])

    def read(self, cloud: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return the readings and body poses in a later cloud.

        Poses are least-squares fits: https://doi.org/10.1107/S0567739476001873 (Kabsch).

        Args:
            cloud: A decoded PointCloud2.

        Returns:
            Intensities (n,), positions (b, 3) [m] and quaternions (b, 4) wxyz of the bodies in the cloud's
            frame. None if the cloud has a fault, another number of points, or points on these bodies that are
            not finite.
        """
        if fault_of(cloud) or len(points := records(cloud)) != self._number:
            return None
        points = points[self._order]
        positions = _positions(points)
        if not np.isfinite(positions).all():
            return None
        centers = np.array([positions[part].mean(axis=0) for part in self._parts])
        rotations = [
            Rotation.align_vectors(positions[part] - center, self.positions[part])[0]
            if len(positions[part]) > 2
            else Rotation.identity()
            for part, center in zip(self._parts, centers, strict=True)
        ]
        quaternions = np.array([rotation.as_quat(scalar_first=True) for rotation in rotations])
        return points["intensity"].astype(np.float64), centers, quaternions


def _spacing(positions: np.ndarray) -> float:
    """Return the median distance of points to their nearest neighbours [m]; 0.01 for a single point."""
    if len(positions) < 2:
        return 0.01
    return float(np.median(cKDTree(positions).query(positions, k=2)[0][:, 1]))
