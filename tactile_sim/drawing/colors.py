"""The colour scheme shared by all outputs: views, images, figures, videos and RViz.

Taxels without contact are dark. Readings in contact range from purple through orange to light yellow. The
scale is logarithmic unless stated otherwise, because impacts can be a thousand times stronger than a light
touch.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tactile_sim.drawing.inferno import INFERNO

MAP = "inferno"
"""Name of the colour map in matplotlib. Its brightness increases with the reading, so it is safe for
colour-blind users."""
FAINTEST = 88
"""Index of the first colour in `MAP` (0 to 255) that is visible on dark bodies and backgrounds."""
DECADES = 3.0
"""Number of decades between the smallest visible reading and the end of a logarithmic scale."""
NO_CONTACT = (0, 0, 4)
"""Colour of a taxel without contact."""
DARK_BODY = (52, 57, 66)
"""Colour of bodies with skin. It is dark enough that all readings are visible on it."""
NORMAL_FORCE, FRICTION, NET_FORCE = (64, 214, 255), (150, 255, 120), (255, 255, 255)
"""Colours of force arrows in views. None of them occurs in the colour map."""
CONTACT_POINT = (255, 255, 255)
FREE_FEELER, COVERED_FEELER = (115, 128, 140), (255, 191, 26)
"""Colours of a free feeler and of one covered to its root."""
MARKER_NORMAL, MARKER_TANGENT1, MARKER_TANGENT2, MARKER_NET = (
    (26, 204, 51),
    (230, 38, 26),
    (38, 89, 255),
    (255, 204, 26),
)
"""Colours of the arrows in the topic ``markers``."""


@cache
def table() -> np.ndarray:
    """Return the visible colours of `MAP`.

    Returns:
        (256, 3) uint8 RGB colours. The first one is for the smallest visible reading, the last one for the
        reading at the end of the scale.
    """
    visible = np.linspace(FAINTEST / 255.0, 1.0, 256) * 256.0
    return INFERNO[np.minimum(visible.astype(int), 255)]


def levels(readings: np.ndarray, end: float, logarithmic: bool = True) -> np.ndarray:
    """Return the positions of readings on the colour scale.

    Args:
        readings: Readings (...) of any shape and unit.
        end: Reading at the end of the scale, in the same unit. The level of larger readings is 1.
        logarithmic: Whether the scale is logarithmic and covers `DECADES` powers of ten; otherwise it is
            linear from zero.

    Returns:
        Levels (...) from 0 to 1, where 1 is the end of the scale and 0 means no contact. Readings count as no
        contact if they are NaN, not positive, or at least `DECADES` powers of ten below the end.
    """
    share = np.nan_to_num(np.asarray(readings, float) / end, nan=0.0)
    contact = share > 10.0**-DECADES
    if logarithmic:
        share = 1.0 + np.log10(share, out=np.zeros_like(share), where=contact) / DECADES
    return np.where(contact, np.clip(share, 1e-6, 1.0), 0.0)


def level_colors(level: np.ndarray) -> np.ndarray:
    """Convert the result of `levels` (...) to RGB colours (..., 3) uint8; level 0 becomes `NO_CONTACT`."""
    chosen = table()[(np.asarray(level) * 255.0).astype(np.uint8)]
    chosen[np.asarray(level) == 0.0] = NO_CONTACT
    return chosen


def colors(readings: np.ndarray, end: float, logarithmic: bool = True) -> np.ndarray:
    """Convert readings to RGB colours (..., 3) uint8. Arguments are as in `levels`."""
    return level_colors(levels(readings, end, logarithmic))


def unit_rgba(rgb: tuple[int, int, int]) -> tuple[float, float, float, float]:
    """Convert an RGB colour (0 to 255) to an opaque RGBA colour with values from 0 to 1."""
    red, green, blue = (part / 255.0 for part in rgb)
    return red, green, blue, 1.0
