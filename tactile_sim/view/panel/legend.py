"""The colour scale of the taxels."""

from __future__ import annotations

from html import escape

import numpy as np

from tactile_sim.view.scene.colors import taxel_colors

STOPS = 24
"""Number of colours in the strip."""


def legend(scale: float, unit: str) -> str:
    """Return the colour scale as HTML.

    Args:
        scale: Reading at the end of the scale, above which the colour is constant.
        unit: Unit of the readings.
    """
    chosen = taxel_colors(np.linspace(0.0, 1.0, STOPS))
    stops = ", ".join(f"rgb({red} {green} {blue})" for red, green, blue in chosen.tolist())
    numbers = [f"{share * scale:.3g}" for share in (0.0, 0.25, 0.5, 0.75)] + [f"≥ {scale:.3g}"]
    quantity = "force" if unit == "N" else "reading"
    return (
        '<div style="padding: 0 1em 0.6em 1em; font-size: 0.8em">'
        f"<div>{quantity} of a taxel [{escape(unit)}]; grey: zero</div>"
        f'<div style="height: 0.9em; border-radius: 3px; margin: 0.25em 0;'
        f' background: linear-gradient(to right, {stops})"></div>'
        '<div style="display: flex; justify-content: space-between">'
        + "".join(f"<span>{number}</span>" for number in numbers)
        + "</div></div>"
    )
