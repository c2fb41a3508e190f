"""Plot the force on each body over time, and the covered fraction of its feelers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tactile_sim.analysis import style
from tactile_sim.analysis.feelers import COVER
from tactile_sim.analysis.touch import Touch

NAMED = style.NAMED_LINES
HEIGHTS = 4.2, 3.2
"""Height of the first panel, and of each other panel [inches]."""


def forces(parts: Sequence[tuple[Touch, Sequence[int]]]) -> Figure:
    """Plot the net force on each body, or the covered fraction of its feelers, over time.

    Each of the most loaded bodies has its own line. One more line shows the sum over all other bodies.

    Args:
        parts: Histories of the skin (one for each physical unit) and of the feelers, each with the indices
            of the bodies to plot. Each history has its own panel.
    """
    heights = [HEIGHTS[bool(place)] for place in range(len(parts))]
    fig = Figure(figsize=(9.0, sum(heights)), layout="constrained")
    axes = fig.subplots(len(parts), squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    colors: dict[str, str] = {}
    for ax, (touch, bodies) in zip(axes, parts, strict=True):
        _draw(ax, touch, bodies, colors)
    axes[-1].set_xlabel(style.TIME)
    return fig


def _draw(ax: Any, touch: Touch, bodies: Sequence[int], colors: dict[str, str]) -> None:
    """Draw the panel for one history.

    Args:
        ax: Axes of the panel.
        touch: History of the skin or of the feelers.
        bodies: Indices of the bodies to plot.
        colors: Colour of each body by name, which all panels share.
    """
    nets = touch.nets[:, bodies]
    feelers = touch.quantity == COVER
    weights = touch.counts[bodies] if feelers else None
    named, others = style.strongest(nets.sum(axis=0), NAMED)
    named.sort(key=lambda place: -nets[:, place].max())  # the legend states peaks
    _choose(colors, [touch.bodies[bodies[place]] for place in named])
    highest = 0.0
    for place in named:
        name, values = touch.bodies[bodies[place]], _together(nets, [place], weights)
        highest = max(highest, values.max())
        label = f"{name}  (peak {values.max():.3g})"
        ax.plot(touch.times, values, color=colors[name], lw=1.4, label=label)
    if others:
        values = _together(nets, others, weights)
        highest = max(highest, values.max())
        ax.plot(touch.times, values, color=style.theme().rest, lw=1.4, label=f"sum of {len(others)} others")
    quiet = len(bodies) - len(named) - len(others)
    if quiet:
        ax.plot([], [], " ", label=f"{quiet} {'never covered' if feelers else 'without load'}")
    label = "covered share of feelers" if feelers else f"net {style.words(touch.quantity)} [{touch.unit}]"
    title = "Feelers per body" if feelers else f"{style.words(touch.quantity).capitalize()} per pad"
    ax.set(title=title, ylabel=label, xlim=_limits(touch.times))
    ax.set_ylim(0, 1.05 * max(highest, 1e-9))
    ax.grid()
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    title = "body" if feelers else f"pad [{touch.unit}]"
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), title=title, alignment="left")


def _together(nets: np.ndarray, places: Sequence[int], weights: np.ndarray | None) -> np.ndarray:
    """Add up the forces on several bodies, or average the covered fractions of their feelers.

    Args:
        nets: Magnitude of the net reading of each of b bodies at n times (n, b). For feelers, this is the sum
            of their covered fractions.
        places: Indices of the bodies to combine.
        weights: Number of feelers on each body (b,); None for forces.

    Returns:
        At each time, the sum over the bodies, or with ``weights`` the mean over their feelers (n,).
    """
    total: np.ndarray = nets[:, places].sum(axis=1)
    return total if weights is None else total / weights[places].sum()


def _choose(colors: dict[str, str], names: Sequence[str]) -> None:
    """Add a distinct colour to ``colors`` for each name that does not have one yet."""
    taken = {colors[name] for name in names if name in colors}
    free = (color for color in style.theme().lines if color not in taken)
    colors.update({name: next(free) for name in names if name not in colors})


def _limits(times: np.ndarray) -> tuple[float, float]:
    return (times[0], times[-1]) if len(times) > 1 else (times[0] - 0.5, times[0] + 0.5)
