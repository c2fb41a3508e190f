"""Plot the contact forces between bodies over time."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from matplotlib.figure import Figure

from tactile_sim.analysis import style
from tactile_sim.analysis.contacts import Contacts

NAMED = 18
COLUMNS = 1600
"""Maximum number of columns. If there are more messages, several of them share a column."""


def timeline(contacts: Contacts, bodies: Collection[str] | None) -> Figure:
    """Plot a row for each of the most loaded pairs of bodies, and one for the sum of all others.

    Args:
        contacts: Contact forces over time.
        bodies: Show only pairs that include one of these bodies; None shows all pairs.
    """
    pairs, force = contacts.pairs()
    chosen = [
        number for number, pair in enumerate(pairs) if bodies is None or not set(pair).isdisjoint(bodies)
    ]
    force = force[:, chosen]
    named, others = style.strongest(force.sum(axis=0), NAMED)
    rows = [force[:, place] for place in named]
    labels = [" – ".join(pairs[chosen[place]]) for place in named]
    if others:
        rows.append(force[:, others].sum(axis=1))
        labels.append(f"sum of {len(others)} others")
    times = contacts.times
    image = np.stack(rows) if rows else np.zeros((1, len(times)))
    image = np.maximum.reduceat(image, range(0, len(times), -(-len(times) // COLUMNS)), axis=1)
    norm = style.scale(image)

    fig = Figure(figsize=(9.0, max(2.2, 1.3 + 0.27 * len(image))), layout="constrained")
    ax = fig.add_subplot()
    start, stop = style.bands(ax, image, times, norm)
    ax.hlines(np.arange(1, len(image)), start, stop, color=style.theme().background, lw=2.5)
    ax.set_yticks(np.arange(len(labels)) + 0.5, labels, fontsize=9)
    ax.spines[:].set_visible(False)
    ax.set(title="Contacts over time" if labels else "Contacts over time: no contact", xlabel=style.TIME)
    ax.set_ylabel("bodies in contact")
    style.color_bar(fig, norm, "contact force [N]", ax=ax, pad=0.01)
    return fig
