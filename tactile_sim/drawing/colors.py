"""The colour language of all outputs: views, images, figures, videos and RViz.

A reading without contact is dark. Readings in contact run from purple over orange to light yellow, on a
logarithmic scale unless stated otherwise, because impacts exceed light touch a thousandfold.
"""

from __future__ import annotations

from functools import cache

import numpy as np

MAP = "inferno"
"""Name in matplotlib. Brightness increases with the reading, which also works with colour blindness."""
FAINTEST = 88
"""First colour of the 256 of the map that is visible on dark bodies and backgrounds."""
DECADES = 3.0
"""Powers of ten from the smallest visible reading to the end of a logarithmic scale."""
NO_CONTACT = (0, 0, 4)
"""Colour of a taxel without contact."""
DARK_BODY = (52, 57, 66)
"""Colour of bodies with skin, on which all readings are visible."""
NORMAL_FORCE, FRICTION, NET_FORCE = (64, 214, 255), (150, 255, 120), (255, 255, 255)
"""Colours of force arrows in views; none of them is in the map."""
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
    """Return the colours from the smallest visible reading to the end of the scale, RGB (256, 3) uint8."""
    from matplotlib import colormaps  # takes 0.5 s, which a node without images saves

    visible = np.linspace(FAINTEST / 255.0, 1.0, 256)
    return (colormaps[MAP](visible)[:, :3] * 255.0).round().astype(np.uint8)


def levels(readings: np.ndarray, end: float, logarithmic: bool = True) -> np.ndarray:
    """Return the positions of readings on the colour scale.

    Args:
        readings: Readings (...) of any shape.
        end: Reading at the end of the scale, above which the level is constant.
        logarithmic: Whether the scale covers `DECADES` powers of ten; otherwise it is linear from zero.

    Returns:
        Levels (...) above 0 and up to 1; 0 for readings without contact: NaN, not positive, or more than
        `DECADES` powers of ten below the end.
    """
    share = np.nan_to_num(np.asarray(readings, float) / end, nan=0.0)
    contact = share > 10.0**-DECADES
    if logarithmic:
        share = 1.0 + np.log10(share, out=np.zeros_like(share), where=contact) / DECADES
    return np.where(contact, np.clip(share, 1e-6, 1.0), 0.0)


def level_colors(level: np.ndarray) -> np.ndarray:
    """Return the colours (..., 3) uint8 of levels (...)."""
    chosen = table()[(np.asarray(level) * 255.0).astype(np.uint8)]
    chosen[np.asarray(level) == 0.0] = NO_CONTACT
    return chosen


def colors(readings: np.ndarray, end: float, logarithmic: bool = True) -> np.ndarray:
    """Return the colours (..., 3) uint8 of readings; arguments as in `levels`."""
    return level_colors(levels(readings, end, logarithmic))


def unit_rgba(rgb: tuple[int, int, int]) -> tuple[float, float, float, float]:
    """Return a colour as red, green, blue and opacity from 0 to 1."""
    red, green, blue = (part / 255.0 for part in rgb)
    return red, green, blue, 1.0
