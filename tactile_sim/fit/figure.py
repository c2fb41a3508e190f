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
    """Plot measured and fitted readings over time and over load, and the residuals and their spread."""
    data, number = result.data, style.NAMED_LINES
    strongest = np.argsort(-np.abs(data.loads).sum(axis=0))[:_TAXELS]
    fig = Figure(figsize=(10.0, 8.0), layout="constrained")
    over_time, over_load, errors, spread = fig.subplots(4, 1, height_ratios=(3, 3, 2, 2))
    for place, taxel in enumerate(strongest):
        color = style.theme().lines[place % number]
        for start, stop in data.bounds[:1]:
            times, fitted = data.times[start:stop], result.fitted[start:stop, taxel]
            over_time.plot(times, data.readings[start:stop, taxel], color=color, lw=0.8, alpha=0.5)
            over_time.plot(times, fitted, color=color, lw=1.2, label=f"taxel {taxel}")
            used = start + np.flatnonzero(data.weights[start:stop, taxel])
        used = used[:: max(1, len(used) * _TAXELS // _MOST)]
        load = data.loads[used, taxel]
        over_load.plot(load, data.readings[used, taxel], ".", color=color, ms=2, alpha=0.4)
        over_load.plot(load, result.fitted[used, taxel], color=color, lw=0.8)
        residual = data.readings[used, taxel] - result.fitted[used, taxel]
        errors.plot(data.times[used], residual, ".", color=color, ms=2)
    verdict = "poor fit" if result.poor else "fit"
    over_time.set(title=f"Measured (pale) and fitted (dark): {verdict}", xlabel="time [s]", ylabel="reading")
    over_load.set(xlabel="reference load [N]", ylabel="reading")
    errors.set(xlabel="time [s]", ylabel="residual")
    if result.verdict is not None:
        lags = result.semivariance.lags
        spread.plot(lags, np.sqrt(result.semivariance.values), "o-", ms=3, label="recorded")
        spread.plot(result.verdict.times, result.verdict.spread[1], "s", label="replayed")
        spread.legend()
    spread.set(xlabel="time difference [s]", ylabel="spread of noise", xscale="log")
    over_time.legend(loc="upper right", ncols=_TAXELS)
    for ax in (over_time, over_load, errors, spread):
        ax.grid()
        ax.set_axisbelow(True)
    return fig
