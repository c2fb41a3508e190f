"""Colours of bodies, lines and arrows in the browser."""

from __future__ import annotations

import numpy as np

from tactile_sim.drawing.colors import DARK_BODY

GAMMA = 2.2
STAGE = 0.18
"""Brightness of large shapes and of sheets relative to their own colour."""
OBJECT = 0.4
"""The same of other bodies without skin."""
FLOOR = 0.06
"""Least brightness of their shapes."""
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def linear_rgb(rgb: np.ndarray) -> np.ndarray:
    """Convert sRGB colours to linear ones, which browsers expect for lines and arrows.

    Args:
        rgb: (..., 3), 0 to 1.

    Returns:
        (..., 3) uint8.
    """
    return (255.0 * rgb**GAMMA).round().astype(np.uint8)


def dark_color(rgb: np.ndarray, has_skin: bool, is_ground: bool) -> tuple[float, float, float]:
    """Return a darker colour of a shape, on which taxels in contact stand out.

    Args:
        rgb: Its own colour (3,), 0 to 1.
        has_skin: Whether its body has a skin; such bodies are grey.
        is_ground: Whether it is large or a sheet.
    """
    if has_skin:
        # Parts of a body stay distinguishable by their brightness.
        color = np.array(DARK_BODY) / 255.0 * (0.5 + 0.6 * float(rgb @ _LUMINANCE))
    else:
        color = FLOOR + rgb * (STAGE if is_ground else OBJECT)
    red, green, blue = np.clip(color, 0.0, 1.0).tolist()
    return red, green, blue
