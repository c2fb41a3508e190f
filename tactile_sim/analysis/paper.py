"""How figures look: one face for all, and where things go on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from tactile_sim.drawing import colors, force_scale

INK = "#333b46"
DARK = "#14171c"
"""Behind what glows."""
REST = "#a5adb8"
"""What is told of several together."""
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b4a9e")
"""Told apart also by those who do not see all colours (Okabe and Ito), and one more."""
STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "figure.facecolor": "white",
    "font.size": 10,
    "legend.frameon": False,
    "savefig.dpi": 130,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "tactile_sim",  # the same bag gives the same file
    "text.color": INK,
    "text.parse_math": False,  # a name with a dollar sign is a name
    "xtick.color": INK,
    "ytick.color": INK,
}
FAINTEST = 88
"""The first colour of the map that stands out from the dark and from skin that feels nothing."""
DECADES = 1e3
"""From the first colour to the last one."""
TIME = "simulation time [s]"
_WORDS = {
    "force_vector": "force",
    "force_vector_global": "force",
    "normal": "normal force",
    "normal_force": "normal force",
}


@contextmanager
def style() -> Iterator[None]:
    """All figures are made and written within."""
    with matplotlib.rc_context(STYLE):
        yield


def words(quantity: str) -> str:
    """A quantity of tactile messages in plain words."""
    return _WORDS.get(quantity, quantity.replace("_", " "))


def color_map() -> ListedColormap:
    """The map of all pictures of touch, without its darkest: what is touched lightly is to be seen, too."""
    return ListedColormap(colors.table()[FAINTEST:] / 255, "touch")


def scale(readings: np.ndarray) -> LogNorm:
    """Colours by order of magnitude up to a round end: an impact is a thousand times a light touch."""
    end = force_scale.full_scale(float(readings.max(initial=0.0)) / 1.2) if readings.any() else 1.0
    return LogNorm(end / DECADES, end)


def share() -> Normalize:
    """Colours of what goes from 0 to 1."""
    return Normalize(0.0, 1.0)


def shades(readings: np.ndarray, norm: Normalize) -> np.ndarray:
    """(n, 3) colours, 0 to 1, of readings (n,) above 0."""
    return np.asarray(color_map()(norm(readings)))[:, :3]


def marks(norm: LogNorm) -> list[float]:
    """Where a scale is told: at its powers of ten and its ends [of its readings]."""
    low, high = np.log10([norm.vmin or 1.0, norm.vmax or 1.0])
    decades = [10.0**decade for decade in range(int(np.ceil(low - 1e-9)), int(np.floor(high + 1e-9)) + 1)]
    return sorted({float(f"{value:.3g}") for value in (10**low, *decades, 10**high)})


def color_bar(fig: Figure, norm: Normalize, label: str, **place: Any) -> None:
    """What the colours mean; what is less than a scale of decades has the first one."""
    decades = isinstance(norm, LogNorm)
    bar = fig.colorbar(
        ScalarMappable(norm, color_map()),
        extend="min" if decades else "neither",
        label=label,
        ticks=marks(norm) if isinstance(norm, LogNorm) else None,
        format=FuncFormatter(lambda value, _: f"{value:g}"),
        **place,
    )
    bar.minorticks_off()
    bar.outline.set_visible(False)  # type: ignore[operator]


def bands(ax: Any, rows: np.ndarray, times: np.ndarray, norm: Normalize) -> tuple[float, float]:
    """Rows (r, c) of readings over times (n,) [s] on the dark, which stays where nothing is felt.

    Returns the times of the two ends.
    """
    start, stop = times[0], max(times[-1], times[0] + 1e-3)
    ax.set_facecolor(DARK)
    ax.imshow(
        np.ma.masked_less_equal(rows, 0),
        cmap=color_map(),
        norm=norm,
        aspect="auto",
        interpolation="nearest",
        extent=(start, stop, len(rows), 0),
    )
    ax.tick_params(axis="y", length=0)
    return start, stop


def strongest(strengths: np.ndarray, number: int) -> tuple[list[int], list[int]]:
    """The places of so many of the largest strengths, and of all others above 0, the largest first."""
    order = [int(place) for place in np.argsort(-strengths, kind="stable") if strengths[place] > 0]
    return order[:number], order[number:]
