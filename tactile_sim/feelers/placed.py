"""Data classes that store the positions, lengths and pixels of a body's feelers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Part:
    """The area of a body's image that shows one geom.

    The areas of all geoms are stacked vertically and left-aligned.
    """

    geom_id: int
    top: int
    """First row of the part in the body's image."""
    width: int
    """Width of the part [pixels]."""
    height: int
    """Height of the part [pixels]."""


@dataclass(frozen=True)
class Placed:
    """The feelers of one body, in its frame.

    u increases to the right and v upwards, each from 0 to 1 over a geom's image. Row 0 of an image is the top
    row; the centre of the pixel in column x of row y is (x + 1/2, y + 1/2) pixels from the upper left corner.
    """

    body_id: int
    positions: np.ndarray
    """(n, 3) float64 positions of the feelers' roots on the surface [m], in the body's frame."""
    normals: np.ndarray
    """(n, 3) outward unit vectors along the feelers, in the body's frame."""
    lengths: np.ndarray
    """(n,) full length of each feeler [m]."""
    geom_index: np.ndarray
    """(n,) uint16 index of each feeler's geom in ``parts``."""
    uv: np.ndarray
    """(n, 2) float64 position (u, v) of each root on its geom's UV map; a pixel's centre if painted."""
    pixels: np.ndarray
    """(n,) uint32 unique pixel indices (row * width + column) in the body's image."""
    parts: tuple[Part, ...]
    """For each geom with feelers, the area of the body's image that shows it."""
    width: int
    """Width of the body's image [pixels]."""
    height: int
    """Height of the body's image [pixels]."""
    spacing: float
    """Approximate distance between neighbouring feelers [m], used for drawing."""
