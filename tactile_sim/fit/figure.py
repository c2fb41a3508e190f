"""Plot a fit: measured and fitted readings over time and over load, and the residuals."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tactile_sim.figures import style
from tactile_sim.fit.estimate import Fit

_TAXELS = 4
"""Number of taxels to draw. The most loaded taxels are chosen."""
_MOST = 20_000
"""Maximum number of points in a scatter plot."""


def figure(result: Fit) -> Figure:
    """Plot measured and fitted readings over time and over load, and the residuals."""
    recording, number = result.recording, style.NAMED_LINES
    strongest = np.argsort(-np.abs(result.loads).sum(axis=0))[:_TAXELS]
    fig = Figure(figsize=(10.0, 7.0), layout="constrained")
    over_time, over_load, errors = fig.subplots(3, 1, height_ratios=(3, 3, 2))
    for place, taxel in enumerate(strongest):
        color = style.theme().lines[place % number]
        over_time.plot(recording.times, recording.readings[:, taxel], color=color, lw=0.8, alpha=0.5)
        over_time.plot(recording.times, result.fitted[:, taxel], color=color, lw=1.2, label=f"taxel {taxel}")
        used = np.flatnonzero(result.used[:, taxel])
        used = used[:: max(1, len(used) * _TAXELS // _MOST)]
        load = result.loads[used, taxel]
        over_load.plot(load, recording.readings[used, taxel], ".", color=color, ms=2, alpha=0.4)
        over_load.plot(load, result.fitted[used, taxel], color=color, lw=0.8)
        residual = recording.readings[used, taxel] - result.fitted[used, taxel]
        errors.plot(recording.times[used], residual, ".", color=color, ms=2)
    verdict = f"poor fit, systematic error {result.misfit:.1%}" if result.poor else "fit"
    over_time.set(title=f"Measured (pale) and fitted (dark): {verdict}", xlabel="time [s]", ylabel="reading")
    over_load.set(xlabel="reference load [N]", ylabel="reading")
    errors.set(xlabel="time [s]", ylabel="residual")
    over_time.legend(loc="upper right", ncols=_TAXELS)
    for ax in (over_time, over_load, errors):
        ax.grid()
        ax.set_axisbelow(True)
    return fig
