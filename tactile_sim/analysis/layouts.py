"""Read the positions of taxels and feelers from the layouts in a bag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import KDTree

from tactile_sim.analysis.poses import Poses
from tactile_sim.analysis.tactile_frames import pad_of
from tactile_sim.bag.messages import Message


class Layout(NamedTuple):
    """Positions and normals of the n taxels or feelers of a body, in the body frame."""

    frame: str
    positions: np.ndarray
    """Positions of the taxels or of the feelers' roots (n, 3) [m], in the body frame."""
    normals: np.ndarray
    """Outward unit normals of the skin at the taxels, or directions of the feelers (n, 3)."""
    spacing: float
    """Nominal distance between neighbouring taxels or feelers [m]."""
    lengths: np.ndarray
    """Full lengths of the feelers (n,) [m]; empty for taxels."""


def fault_of(layout: Any) -> str:
    """Return why a decoded TactileLayout message is invalid, or an empty string if it is valid."""
    count = len(layout.positions) // 3
    if len(layout.normals) != len(layout.positions) or len(layout.lengths) not in (0, count):
        return f"positions, normals and lengths do not match, got {count} positions"
    for name in ("positions", "normals", "lengths", "spacing"):
        finite = np.isfinite(getattr(layout, name))
        if not finite.all():
            return f"{name} must be finite, got {np.size(finite) - np.count_nonzero(finite)} that are not"
    return ""


class Layouts:
    """Collects the layouts of a robot's bodies from messages."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], Layout] = {}

    def add(self, message: Message) -> None:
        """Add the layout that a TactileLayout message contains. Invalid layouts are ignored."""
        value = message.value
        if fault_of(value):
            return
        positions = value.positions.reshape(-1, 3).astype(np.float64)
        self._found[value.layout_id, pad_of(value)] = Layout(
            value.header.frame_id,
            positions,
            value.normals.reshape(-1, 3).astype(np.float64),
            value.spacing or _apart(positions),
            value.lengths.astype(np.float64),
        )

    def of(self, layout_id: int, bodies: Sequence[str], counts: Sequence[int]) -> list[Layout | None]:
        """Return the layout of each body, or None if it is missing or does not match the number of taxels.

        Args:
            layout_id: Layout id to which the readings refer.
            bodies: Names of the bodies.
            counts: Number of taxels or feelers on each body, according to the readings.
        """
        found = [self._found.get((layout_id, body)) for body in bodies]
        return [
            layout if layout and len(layout.positions) == count else None
            for layout, count in zip(found, counts, strict=True)
        ]


def _apart(positions: np.ndarray) -> float:
    """Return the median distance between nearest neighbours among points (n, 3) [m].

    This replaces the spacing if a layout has none, for example a layout of painted feelers.
    """
    if len(positions) < 2:
        return 0.0
    return float(np.median(KDTree(positions).query(positions, k=2)[0][:, 1]))


class Placed(NamedTuple):
    """Positions and normals of the taxels of several bodies at one time, concatenated, in the world frame."""

    positions: np.ndarray
    """(n, 3) positions of the taxels of all bodies [m], in the world frame."""
    normals: np.ndarray
    """(n, 3) outward unit normals at these taxels, in the world frame."""
    spacings: np.ndarray
    """(n,) nominal distance from each taxel to its neighbours [m]."""


def place(layouts: Sequence[Layout], poses: Poses) -> Placed:
    """Transform the taxels of one or more layouts to the world frame with the poses of their bodies.

    The result contains the taxels of all layouts, in the order of ``layouts``.
    """
    origins, rotations = poses.of([layout.frame for layout in layouts])
    return Placed(
        np.concatenate(
            [
                layout.positions @ turn.T + origin
                for layout, origin, turn in zip(layouts, origins, rotations, strict=True)
            ]
        ),
        np.concatenate([layout.normals @ turn.T for layout, turn in zip(layouts, rotations, strict=True)]),
        np.concatenate([np.full(len(layout.positions), layout.spacing) for layout in layouts]),
    )
