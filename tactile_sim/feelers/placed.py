"""Where the feelers of a body stand, and what pixel of its image each one is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Part:
    """The map of one geom in its body's image: the parts stand one below another, aligned to the left."""

    geom_id: int
    top: int
    """First row of it in the body's image."""
    width: int
    height: int


@dataclass(frozen=True)
class Placed:
    """The feelers of one body, in its frame.

    u goes to the right and v upwards, from 0 to 1 over the map of the geom; row 0 of an image is on top,
    and the centre of the pixel in column x of row y lies at (x + 1/2, y + 1/2) pixels from its upper left.
    """

    body_id: int
    positions: np.ndarray
    """(n, 3) float64 where they stand: on the surface, in the body's frame [m]."""
    normals: np.ndarray
    """(n, 3) outward unit vectors along them, in the body's frame."""
    lengths: np.ndarray
    """(n,) [m]."""
    geom_index: np.ndarray
    """(n,) uint16: which of the parts each one stands on."""
    uv: np.ndarray
    """(n, 2) float64: its place on the map of its geom; for those painted the centre of its pixel."""
    pixels: np.ndarray
    """(n,) uint32, no two alike: row · width + column in the body's image, with all its parts."""
    parts: tuple[Part, ...]
    width: int
    """Of the body's image [pixels]."""
    height: int
    spacing: float
    """About the distance between neighbours [m]; for drawing."""
