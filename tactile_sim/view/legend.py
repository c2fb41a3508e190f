"""The colour scale of the taxels, as a strip with its numbers."""

from __future__ import annotations

from html import escape

import numpy as np

from tactile_sim.drawing.colors import colors

STOPS = 24
DARK = 0.2
"""Of the map, what is left out at its dark end: a skin that is touched lights up."""


def skin_colors(levels: np.ndarray) -> np.ndarray:
    """(n, 3) uint8 of readings that are something, in ends of the scale."""
    return colors(DARK + (1.0 - DARK) * np.minimum(levels, 1.0), 1.0)


def legend(scale: float, unit: str) -> str:
    """HTML of the scale from 0 to ``scale``; beyond its end the colour stays the last one."""
    chosen = skin_colors(np.linspace(0.0, 1.0, STOPS))
    stops = ", ".join(f"rgb({red} {green} {blue})" for red, green, blue in chosen.tolist())
    numbers = [f"{share * scale:.3g}" for share in (0.0, 0.25, 0.5, 0.75)] + [f"≥ {scale:.3g}"]
    quantity = "force" if unit == "N" else "reading"
    return (
        '<div style="padding: 0 1em 0.6em 1em; font-size: 0.8em">'
        f"<div>{quantity} of a taxel [{escape(unit)}]; grey: none</div>"
        f'<div style="height: 0.9em; border-radius: 3px; margin: 0.25em 0;'
        f' background: linear-gradient(to right, {stops})"></div>'
        '<div style="display: flex; justify-content: space-between">'
        + "".join(f"<span>{number}</span>" for number in numbers)
        + "</div></div>"
    )
