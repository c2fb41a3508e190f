"""Colours of bodies, lines and arrows in the browser."""

from __future__ import annotations

import numpy as np

from tactile_sim.figures.colors import DARK_BODY

GAMMA = 2.2
STAGE = 0.2
"""Factor that darkens the colour of large shapes and sheets."""
OBJECT, PALE = 0.4, 0.35
"""Darkening of shapes on bodies without skin, except large shapes and sheets.

The factor is ``OBJECT * (1 - PALE * brightness)``. Bright shapes are darkened more, because readings behind
them would have little contrast.
"""
SATURATION = 0.45
"""Share of the colourfulness that darkened shapes keep, because only readings are colourful."""
FLOOR = 0.12
"""Smallest brightness of darkened shapes on bodies without skin."""
DARKEST_GROUND = 0.33
"""Smallest brightness of large shapes and sheets, so that a black table does not look like a hole."""
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def linear_rgb(rgb: np.ndarray) -> np.ndarray:
    """Convert sRGB colours to linear colours, as browsers expect them for lines and arrows.

    Args:
        rgb: sRGB colours (..., 3), 0 to 1.

    Returns:
        Linear colours (..., 3) uint8.
    """
    return (255.0 * rgb**GAMMA).round().astype(np.uint8)


def dark_color(rgb: np.ndarray, has_skin: bool, is_ground: bool) -> tuple[float, float, float]:
    """Darken the colour of a shape so that taxels in contact stand out.

    Args:
        rgb: Original colour of the shape (3,), 0 to 1.
        has_skin: Whether the body has a skin. Such bodies are drawn grey.
        is_ground: Whether the shape is large or a sheet.
    """
    brightness = float(rgb @ _LUMINANCE)
    if has_skin:
        # Shapes on the same body remain distinguishable by their brightness.
        color = np.array(DARK_BODY) / 255.0 * (0.75 + 0.35 * brightness)
    else:
        rgb = brightness + SATURATION * (rgb - brightness)
        color = FLOOR + rgb * (STAGE if is_ground else OBJECT * (1.0 - PALE * brightness))
        if is_ground:
            color = color + max(0.0, DARKEST_GROUND - float(color @ _LUMINANCE))
    red, green, blue = np.clip(color, 0.0, 1.0).tolist()
    return red, green, blue
