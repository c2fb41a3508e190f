"""Plot the reading of each taxel and each feeler over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tactile_sim.analysis import style
from tactile_sim.analysis.feelers import COVER
from tactile_sim.analysis.touch import Touch

ROWS = 1200
"""Approximate maximum number of rows. If more taxels were loaded, several taxels of a body share a row."""
HEIGHTS = 5.6, 3.8
"""Minimum height of the first panel, and of each other panel [inches]."""
ROOM = 0.17
"""Height that a body's label requires [inches]."""


def raster(parts: Sequence[tuple[Touch, Sequence[int]]]) -> Figure:
    """Plot a row for each taxel that was loaded and for each feeler that was covered.

    Args:
        parts: Histories of the skin (one for each physical unit) and of the feelers, each with the indices
            of the bodies to plot. Each history has its own panel.
    """
    heights = [
        max(HEIGHTS[bool(place)], 2 * ROOM * _loaded(touch, bodies))
        for place, (touch, bodies) in enumerate(parts)
    ]
    fig = Figure(figsize=(9.0, sum(heights)), layout="constrained")
    axes = fig.subplots(len(parts), squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for ax, height, (touch, bodies) in zip(axes, heights, parts, strict=True):
        _draw(fig, ax, height, touch, bodies)
    axes[-1].set_xlabel(style.TIME)
    return fig


def _draw(fig: Figure, ax: Any, height: float, touch: Touch, bodies: Sequence[int]) -> None:
    rows = np.stack(touch.raster.rows)
    felt = rows.max(axis=0) > 0
    parts, names = [], []
    taxels = touch.taxels_of(bodies)
    per_row = max(1, -(-int(felt[taxels].sum()) // ROWS))
    for body in bodies:
        own = rows[:, touch.offsets[body] : touch.offsets[body + 1]][
            :, felt[touch.offsets[body] : touch.offsets[body + 1]]
        ]
        if own.shape[1]:
            own = own[:, np.argsort((own > 0).argmax(axis=0), kind="stable")]  # first touched on top
            parts.append(np.maximum.reduceat(own, range(0, own.shape[1], per_row), axis=1))
            names.append(touch.bodies[body])
    feelers = touch.quantity == COVER
    norm = style.share() if feelers else style.scale(rows[:, taxels])
    counts = np.array([part.shape[1] for part in parts] or [1])
    ends = np.cumsum([0.0, *np.maximum(counts, ROOM / height * counts.sum())])  # room for each label
    for part, low, high in zip(parts or [np.zeros((len(rows), 1))], ends[:-1], ends[1:], strict=True):
        start, stop = style.bands(ax, part.T, touch.times, norm, (low, high))
    ax.set_ylim(ends[-1], 0)
    ax.hlines(ends[1:-1], start, stop, color=style.theme().rest, lw=0.4)
    ax.set_yticks((ends[1:] + ends[:-1])[: len(names)] / 2, names, fontsize=8)
    what, state = ("feelers", "covered") if feelers else ("taxels", "loaded")
    group = "body" if feelers else "pad"
    count = f"{int(felt[taxels].sum())} of {len(taxels)} {state}"
    ax.set(title=f"{what.capitalize()} over time: {count}", ylabel=f"{what} by {group}")
    label = (
        "covered share of a feeler" if feelers else f"{style.words(touch.quantity)} per taxel [{touch.unit}]"
    )
    style.color_bar(fig, norm, label, ax=ax, pad=0.01)


def _loaded(touch: Touch, bodies: Sequence[int]) -> int:
    """Return the number of bodies, among those with the given indices, that ever have a reading above 0."""
    largest = np.max(touch.raster.rows, axis=0)
    return sum(bool(largest[touch.taxels_of([body])].any()) for body in bodies)
