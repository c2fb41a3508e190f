"""Draw a force strip, an SVG plot of the force on each body over an entire recording.

`tactile_sim.view.web.strip_script` styles it, moves its cursor and reports where users click.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from tactile_sim.figures.colors import DARK, full_scale

NAMED = 5
"""Largest number of bodies that are plotted. Others are only counted."""
WIDTH, HEIGHT = 1000.0, 100.0
"""Size of the drawing in SVG units. The page stretches it."""


class ForceStrip(NamedTuple):
    """A force strip as HTML, and what it shows."""

    html: str
    end: float
    """Value at the top of the strip, in the unit of the forces."""
    shown: list[int]
    """Indices of the plotted bodies, in the order of the legend."""


def force_strip(
    times: Sequence[float] | np.ndarray,
    forces: np.ndarray,
    names: Sequence[str],
    unit: str,
    duration: float,
    channel: str = "",
) -> ForceStrip:
    """Draw a force strip.

    Args:
        times: Times since the start of the recording (n,) [s].
        forces: Magnitude of the force on each body or largest reading on each body (n, b), in ``unit``.
        names: Names of the bodies (b,).
        unit: Unit of the forces; empty if unknown.
        duration: Length of the recording [s].
        channel: Id of the panel input that receives the times at which users click, if any.
    """
    duration = max(duration, 1e-9)
    peaks = forces.max(axis=0)
    order = np.argsort(-peaks, kind="stable")
    shown = [int(body) for body in order[:NAMED] if peaks[body] > 0.0]
    end = full_scale(float(peaks.max(initial=0.0)) / 1.2)
    x = WIDTH * np.asarray(times) / duration
    lines, legend = [], []
    for body, color in zip(shown, DARK.lines, strict=False):
        y = HEIGHT * (1.0 - forces[:, body] / end)
        points = " ".join(f"{a:.1f},{b:.2f}" for a, b in zip(x, y, strict=True))
        lines.append(f'<polyline points="{points}" stroke="{color}"/>')
        legend.append(
            f'<span><i style="background: {color}"></i>{escape(names[body])} <output></output></span>'
        )
    others = int((peaks > 0.0).sum()) - len(shown)
    if others:
        legend.append(f"<span>{others} weaker not shown</span>")
    label = f"force [{escape(unit)}]" if unit else "reading"
    html = (
        f'<div id="force-strip" data-channel="{channel}">'
        f'<div class="legend"><b>{label}</b>{"".join(legend)}</div>'
        f'<div class="plot"><svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" preserveAspectRatio="none">'
        f"{''.join(lines)}</svg><em>{end:g}</em><em>{duration:.2f}&nbsp;s</em>"
        '<div class="cursor"></div></div></div>'
    )
    return ForceStrip(html, end, shown)
