"""Figure: reading of each taxel and each feeler over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tactile_sim.analysis import style
from tactile_sim.analysis.feelers import COVER
from tactile_sim.analysis.touch import Touch

ROWS = 1200
"""Maximum number of rows; with more taxels, neighbours in the skin share a row."""
HEIGHTS = 5.6, 3.8
"""Height of the first panel and of the others [inches]."""
ROOM = 0.17
"""Height of a name [inches]."""


def raster(parts: Sequence[tuple[Touch, Sequence[int]]]) -> Figure:
    """Plot a row for each loaded taxel of the given bodies, and for each covered feeler below.

    Args:
        parts: Skin, by unit, and feelers, each with the indices of the bodies to plot.
    """
    heights = [HEIGHTS[bool(place)] for place in range(len(parts))]
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
            parts.append(np.maximum.reduceat(own, range(0, own.shape[1], per_row), axis=1))
            names.append(touch.bodies[body])
    image = np.concatenate(parts, axis=1).T if parts else np.zeros((1, len(rows)))
    ends = np.cumsum([0, *(part.shape[1] for part in parts)])
    feelers = touch.quantity == COVER
    norm = style.share() if feelers else style.scale(image)
    start, stop = style.bands(ax, image, touch.times, norm)
    ax.hlines(ends[1:-1], start, stop, color="#5a6472", lw=0.4)
    _name(ax, names, ends, np.array([part.sum() for part in parts]), ROOM / height)
    what, state = ("feelers", "covered") if feelers else ("taxels", "loaded")
    group = "body" if feelers else "pad"
    count = f"{int(felt[taxels].sum())} of {len(taxels)} {state}"
    ax.set(title=f"{what.capitalize()} over time: {count}", ylabel=f"{what} by {group}")
    label = (
        "covered share of a feeler" if feelers else f"{style.words(touch.quantity)} per taxel [{touch.unit}]"
    )
    style.color_bar(fig, norm, label, ax=ax, pad=0.01)


def _name(ax: Any, names: Sequence[str], ends: np.ndarray, strengths: np.ndarray, room: float) -> None:
    """Label the rows of bodies; of two overlapping labels, keep that of the more loaded body."""
    middles = (ends[1:] + ends[:-1]) / 2
    shown: list[int] = []
    for body in np.argsort(-strengths, kind="stable"):
        if all(abs(middles[body] - middles[other]) >= room * ends[-1] for other in shown):
            shown.append(int(body))
    ax.set_yticks([middles[body] for body in shown], [names[body] for body in shown], fontsize=8)
