"""Taxels of a bag that has points in the world and no layouts: each body's points move as one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

_TYPES = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 8: "<f8"}
"""Of sensor_msgs/PointField."""


def records(cloud: Any) -> np.ndarray:
    """(n,) the points of a decoded PointCloud2, with its fields."""
    fields = cloud.fields
    kind = np.dtype(
        {
            "names": list(fields.name),
            "formats": [_TYPES[int(datatype)] for datatype in fields.datatype],
            "offsets": fields.offset.tolist(),
            "itemsize": int(cloud.point_step),
        }
    )
    return np.frombuffer(np.ascontiguousarray(cloud.data).tobytes(), kind)


def _positions(points: np.ndarray) -> np.ndarray:
    return np.stack([points[axis] for axis in "xyz"], axis=1).astype(np.float64)


class PointBodies:
    """Bodies made of the points of one cloud, each with its middle as its origin."""

    def __init__(self, cloud: Any):
        points = records(cloud)
        numbers = points["body"] if "body" in (points.dtype.names or ()) else np.zeros(len(points), int)
        self._order = np.argsort(numbers, kind="stable")
        self.numbers, starts, counts = np.unique(numbers[self._order], return_index=True, return_counts=True)
        """(b,) what the cloud calls the bodies."""
        self.counts = counts
        self._parts = [slice(start, start + count) for start, count in zip(starts, counts, strict=True)]
        positions = _positions(points)[self._order]
        self.positions = np.concatenate(
            [positions[part] - positions[part].mean(axis=0) for part in self._parts]
        )
        """(n, 3) of the points in their bodies' frames [m], body after body."""
        self.spacings = np.array([_spacing(self.positions[part]) for part in self._parts])

    def read(self, cloud: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Of a later cloud: intensities (n,), and positions (b, 3) [m] and quaternions wxyz (b, 4) of bodies.

        The poses fit best in the least squares: https://doi.org/10.1107/S0567739476001873 (Kabsch).
        None for a cloud of other points.
        """
        points = records(cloud)
        if len(points) != len(self.positions):
            return None
        points = points[self._order]
        positions = _positions(points)
        middles = np.array([positions[part].mean(axis=0) for part in self._parts])
        turns = [
            Rotation.align_vectors(positions[part] - middle, self.positions[part])[0]
            if len(positions[part]) > 2
            else Rotation.identity()
            for part, middle in zip(self._parts, middles, strict=True)
        ]
        quaternions = np.array([turn.as_quat(scalar_first=True) for turn in turns])
        return points["intensity"].astype(np.float64), middles, quaternions


def _spacing(positions: np.ndarray) -> float:
    """Between neighbours, in the middle of all [m]."""
    if len(positions) < 2:
        return 0.01
    return float(np.median(cKDTree(positions).query(positions, k=2)[0][:, 1]))
