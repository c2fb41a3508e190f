"""Figure: what each taxel felt over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from tactile_sim.analysis import paper
from tactile_sim.analysis.touch import Touch

ROWS = 1200
"""More taxels share rows with their neighbours in the skin."""
ROOM = 0.03
"""A name needs so much of the height."""


def raster(touch: Touch, bodies: Sequence[int]) -> Figure:
    """A row for each taxel that felt anything, body after body."""
    rows = np.stack(touch.raster.rows)
    felt = rows.max(axis=0) > 0
    parts, names = [], []
    taxels = touch.taxels_of(bodies)
    together = max(1, -(-int(felt[taxels].sum()) // ROWS))
    for body in bodies:
        own = rows[:, touch.offsets[body] : touch.offsets[body + 1]][
            :, felt[touch.offsets[body] : touch.offsets[body + 1]]
        ]
        if own.shape[1]:
            parts.append(np.maximum.reduceat(own, range(0, own.shape[1], together), axis=1))
            names.append(touch.bodies[body])
    image = np.concatenate(parts, axis=1).T if parts else np.zeros((1, len(rows)))
    ends = np.cumsum([0, *(part.shape[1] for part in parts)])
    norm = paper.scale(image)
    start, stop = touch.times[0], max(touch.times[-1], touch.times[0] + 1e-3)

    fig = Figure(figsize=(9.0, 5.6), layout="constrained")
    ax = fig.add_subplot()
    ax.set_facecolor(paper.DARK)
    ax.imshow(
        np.ma.masked_less_equal(image, 0),
        cmap=paper.color_map(),
        norm=norm,
        aspect="auto",
        interpolation="nearest",
        extent=(start, stop, len(image), 0),
    )
    ax.hlines(ends[1:-1], start, stop, color="#5a6472", lw=0.4)
    strengths = np.array([part.sum() for part in parts])
    _name(ax, names, ends, strengths)
    told = f"{int(felt[taxels].sum())} of {len(taxels)} taxels felt something"
    ax.set(title="Taxels over time", xlabel=paper.TIME, ylabel=f"taxels by body ({told})")
    paper.color_bar(fig, norm, f"{paper.words(touch.quantity)} at a taxel [{touch.unit}]", ax=ax, pad=0.01)
    return fig


def _name(ax, names: Sequence[str], ends: np.ndarray, strengths: np.ndarray) -> None:  # type: ignore[no-untyped-def]
    """Names beside their rows: of two that are too close to each other, the one that feels more."""
    middles = (ends[1:] + ends[:-1]) / 2
    shown: list[int] = []
    for body in np.argsort(-strengths, kind="stable"):
        if all(abs(middles[body] - middles[other]) >= ROOM * ends[-1] for other in shown):
            shown.append(int(body))
    ax.set_yticks([middles[body] for body in shown], [names[body] for body in shown], fontsize=8)
    ax.tick_params(axis="y", length=0)
