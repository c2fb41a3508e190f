"""Figure: the force on each body over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from tactile_sim.analysis import paper
from tactile_sim.analysis.touch import Touch

NAMED = len(paper.LINES)


def forces(touch: Touch, bodies: Sequence[int]) -> Figure:
    """A line for each of the bodies that feel the most over time, and one for all others together."""
    nets = touch.nets[:, bodies]
    named, others = paper.strongest(nets.sum(axis=0), NAMED)
    fig = Figure(figsize=(9.0, 4.2), layout="constrained")
    ax = fig.add_subplot()
    for color, place in zip(paper.LINES, named, strict=False):
        name, most = touch.bodies[bodies[place]], nets[:, place].max()
        ax.plot(touch.times, nets[:, place], color=color, lw=1.4, label=f"{name}  (peak {most:.3g})")
    if others:
        label = f"{len(others)} more together"
        ax.plot(touch.times, nets[:, others].sum(axis=1), color=paper.REST, lw=1.4, label=label)
    quiet = len(bodies) - len(named) - len(others)
    if quiet:
        ax.plot([], [], " ", label=f"{quiet} felt nothing")
    label = f"net {paper.words(touch.quantity)} [{touch.unit}]"
    ax.set(title="Force per body", xlabel=paper.TIME, ylabel=label, xlim=_limits(touch.times))
    ax.set_ylim(0, 1.05 * max(nets.max(initial=0.0), 1e-9))
    ax.grid(color="#dfe4ea")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), title=f"body [{touch.unit}]", alignment="left")
    return fig


def _limits(times: np.ndarray) -> tuple[float, float]:
    return (times[0], times[-1]) if len(times) > 1 else (times[0] - 0.5, times[0] + 0.5)
