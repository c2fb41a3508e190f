"""Data classes for configured pads and for pads with placed taxels."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tactile_sim.skin.pads.layout import Layout
from tactile_sim.skin.placement.surface import BodySurface
from tactile_sim.skin.quadrature import Cells


@dataclass(frozen=True)
class Region:
    """A part of a body's surface, selected by its normals, by a box, or by both."""

    normal: np.ndarray | None = None
    """(3,) direction in the body's frame, of any length."""
    within: float = 90.0
    """Maximum angle between a taxel's normal and ``normal`` [degrees]."""
    box: np.ndarray | None = None
    """(2, 3) opposite corners of the box, in the body's frame [m]."""

    def contains(self, positions: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Return whether each taxel (n,) is in the region.

        Args:
            positions: (n, 3) positions in the body's frame [m].
            normals: (n, 3) outward unit normals in the body's frame.
        """
        inside = np.ones(len(positions), bool)
        if self.normal is not None:
            cosine = normals @ self.normal / np.linalg.norm(self.normal)
            inside &= cosine >= np.cos(np.radians(self.within)) - 1e-12
        if self.box is not None:
            low, high = self.box.min(axis=0), self.box.max(axis=0)
            inside &= ((positions >= low) & (positions <= high)).all(axis=1)
        return inside


@dataclass(frozen=True)
class PadPlan:
    """A configured pad: either taxels in a layout, or evenly spaced taxels on a part of a body's surface."""

    name: str
    body: int
    """Id of the body."""
    where: str
    """Prefix for error messages (file and key)."""
    spacing: float = 0.0
    """Distance between taxels [m]; 0 uses the spacing of the layout."""
    layout: Layout | None = None
    """Taxels in the frame of the body; None places evenly spaced taxels."""
    geoms: tuple[int, ...] = ()
    """Ids of the geoms to cover; if empty, all colliding geoms are covered."""
    region: Region | None = None
    """Part of the surface to cover; None covers the entire surface."""
    ignores_outside: bool = False
    """True if the pad ignores loads that are farther than one spacing from their nearest taxel."""
    rate: float = 0.0
    """Publishing rate of the pad's topics [Hz]; 0 uses the rate of the skin."""
    touch_function: str | None = None
    """Name of the pad's touch function; None uses that of the skin."""
    response_function: str | None = None
    """Name of the pad's response function; None uses that of the skin."""
    sampling: str | None = None
    """Name of the pad's sampling method; None uses that of the skin."""
    flex: int = -1
    """Id of the flex to cover, or -1."""


@dataclass(frozen=True)
class PlacedPad:
    """The taxels of a pad in the frame of its body."""

    name: str
    body: int
    spacing: float
    surface: BodySurface
    """The taxels on the collision surface, used to find the taxels near a load."""
    positions: np.ndarray
    """(n, 3) positions of the taxels as configured [m]; those of a layout may be off the surface."""
    axes: np.ndarray
    """(n, 3, 3) axes of each taxel. Rows: first tangent, second tangent, outward normal."""
    ids: np.ndarray
    """(n,) uint32 ids of the taxels, as numbered by the sensor."""
    rows: np.ndarray
    """(n,) uint32 row of each taxel; empty if there is no grid."""
    columns: np.ndarray
    """(n,) uint32 column of each taxel; empty if there is no grid."""
    ignores_outside: bool = False
    is_whole: bool = False
    """True if the pad covers its entire body."""
    is_meshed: bool = True
    """True if the edges of ``surface`` connect the taxels."""
    flex: int = -1
    """Id of the flex that carries the taxels, or -1."""
    corners: np.ndarray | None = None
    """(n, 3) flex vertices of the triangle that contains each taxel; None for pads not on a flex."""
    weights: np.ndarray | None = None
    """(n, 3) barycentric coordinates of each taxel in the triangle with the vertices ``corners``."""
    cells: Cells | None = None
    """Cells of the taxels, for a pad on a part of a triangle mesh; None if the layout defines them."""
    beside: np.ndarray = field(default_factory=lambda: np.empty((0, 2, 3)))
    """(b, 2, 3) positions [m] and normals of places next to the pad. The pad covers the points of the surface
    that are nearer to one of its taxels than to any of these."""

    def __len__(self) -> int:
        return len(self.positions)
