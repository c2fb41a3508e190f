"""Pads as configured, and with their placed taxels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.skin.pads.layout import Layout
from tactile_sim.skin.placement.surface import BodySurface


@dataclass(frozen=True)
class Region:
    """Part of a body's surface."""

    normal: np.ndarray | None = None
    """(3,) direction in the body's frame, any length."""
    within: float = 90.0
    """Greatest angle between the normal of a taxel and this direction [degrees]."""
    box: np.ndarray | None = None
    """(2, 3) opposite corners in the body's frame [m]."""

    def contains(self, positions: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Return whether taxels are in the region, (n,).

        Args:
            positions: (n, 3) in the body's frame [m].
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
    """A pad to place: either taxels at given poses or evenly spaced ones on part of a body's surface."""

    name: str
    body: int
    """Id of the body."""
    where: str
    """The beginning of errors: file and key."""
    spacing: float = 0.0
    """Distance between taxels [m]; 0: that of the layout."""
    layout: Layout | None = None
    """Taxels in the frame of the body; None: evenly spaced ones."""
    geoms: tuple[int, ...] = ()
    """Ids of the geoms to cover; empty: all that collide."""
    region: Region | None = None
    """Part of the surface to cover; None: all of it."""
    ignores_outside: bool = False
    """True if loads farther than one spacing from any taxel are left out."""
    rate: float = 0.0
    """Rate of its topics [Hz]; 0: the common one."""
    touch_function: str | None = None
    """Name of its touch function; None: that of the whole skin."""
    response_function: str | None = None
    """Name of its response function; None: that of the whole skin."""
    sampling: str | None = None
    """Name of its sampling; None: that of the whole skin."""
    flex: int = -1
    """Id of the flex to cover; -1: none."""


@dataclass(frozen=True)
class PlacedPad:
    """The taxels of a pad in the frame of its body."""

    name: str
    body: int
    spacing: float
    surface: BodySurface
    """The taxels on the collision surface, where loads are looked up."""
    positions: np.ndarray
    """(n, 3) of the taxels as configured [m]; a layout may have points off the surface."""
    axes: np.ndarray
    """(n, 3, 3) rows: first tangent, second tangent, outward normal."""
    ids: np.ndarray
    """(n,) uint32, in the numbering of the sensor."""
    rows: np.ndarray
    """(n,) uint32, or empty."""
    columns: np.ndarray
    """(n,) uint32, or empty."""
    ignores_outside: bool = False
    is_whole: bool = False
    """True if the pad covers its body as a whole."""
    is_meshed: bool = True
    """True if the edges of the surface connect the taxels."""
    flex: int = -1
    """Id of the flex with these taxels; -1: none."""
    corners: np.ndarray | None = None
    """(n, 3) vertices of the triangle with each taxel, as indices into those of the flex; None: no flex."""
    weights: np.ndarray | None = None
    """(n, 3) barycentric weights of the taxel in this triangle, which sum to 1."""

    def __len__(self) -> int:
        return len(self.positions)
