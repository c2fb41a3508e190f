"""Define the style and draw the common elements of all figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import matplotlib
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from tactile_sim.figures import colors
from tactile_sim.figures.colors import LIGHT, Theme

NAMED_LINES = len(LIGHT.lines)
"""Number of lines in a plot that can be distinguished by color."""
_theme: ContextVar[Theme] = ContextVar("theme", default=LIGHT)
TIME = "simulation time [s]"
_WORDS = {
    "": "reading",
    "force_vector": "force",
    "force_vector_global": "force",
    "force_vector_taxel": "force",
    "normal": "normal force",
    "normal_force": "normal force",
}


@contextmanager
def figure_style(theme: Theme = LIGHT) -> Iterator[None]:
    """Apply a theme to the figures that are created and saved in the ``with`` block."""
    token = _theme.set(theme)
    try:
        with matplotlib.rc_context(_parameters(theme)):
            yield
    finally:
        _theme.reset(token)


def theme() -> Theme:
    """Return the current theme, as set by `figure_style`."""
    return _theme.get()


def _parameters(theme: Theme) -> dict[Any, Any]:
    inked = (
        "axes.edgecolor",
        "axes.labelcolor",
        "axes.titlecolor",
        "text.color",
        "xtick.color",
        "ytick.color",
    )
    background = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    return {
        **dict.fromkeys(inked, theme.ink),
        **dict.fromkeys(background, theme.background),
        "axes.titlelocation": "left",
        "axes.titlesize": 12,
        "font.size": 10,
        "grid.color": theme.grid,
        "legend.frameon": False,
        "savefig.dpi": 130,
        "svg.fonttype": "none",  # text stays text
        "svg.hashsalt": "tactile_sim",  # the same bag always gives the same file
        "text.parse_math": False,  # allow dollar signs in names
    }


def words(quantity: str) -> str:
    """Convert the name of a tactile quantity, such as a touch function, to readable words."""
    return _WORDS.get(quantity, quantity.replace("_", " "))


def color_map() -> ListedColormap:
    """Return the matplotlib color map for tactile readings, with the colors of `colors.table`."""
    return ListedColormap(colors.table() / 255, "touch")


def scale(readings: np.ndarray) -> LogNorm:
    """Return a logarithmic color scale that ends at a round value not below the largest reading.

    The scale is logarithmic because impacts can be a thousand times stronger than a light touch.
    """
    end = colors.full_scale(float(readings.max(initial=0.0)) / 1.2) if readings.any() else 1.0
    return LogNorm(end / 10**colors.DECADES, end)


def share() -> Normalize:
    """Return a linear color scale from 0 to 1, for fractions."""
    return Normalize(0.0, 1.0)


def shades(readings: np.ndarray, norm: Normalize) -> np.ndarray:
    """Return the colors of positive readings.

    Args:
        readings: (n,) readings.
        norm: Color scale that maps readings to the tactile color map.

    Returns:
        (n, 3) RGB values from 0 to 1.
    """
    return np.asarray(color_map()(norm(readings)))[:, :3]


def marks(norm: LogNorm) -> list[float]:
    """Return the tick values of a logarithmic color scale: its ends and all powers of ten between them."""
    low, high = np.log10([norm.vmin or 1.0, norm.vmax or 1.0])
    decades = [10.0**decade for decade in range(int(np.ceil(low - 1e-9)), int(np.floor(high + 1e-9)) + 1)]
    return sorted({float(f"{value:.3g}") for value in (10**low, *decades, 10**high)})


def color_bar(fig: Figure, norm: Normalize, label: str, **place: Any) -> None:
    """Add a color bar to a figure.

    On a logarithmic scale, values below the minimum have the first color.
    """
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


def bands(
    ax: Any, rows: np.ndarray, times: np.ndarray, norm: Normalize, span: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Draw readings over time as rows of colors on a dark background.

    Args:
        ax: Axes to draw in.
        rows: Readings (r, c) in r rows and c time intervals. Values of 0 are not drawn.
        times: Times (n,) of the messages [s], of which only the first and the last are used.
        norm: Color scale.
        span: Upper and lower edge on the vertical axis; by default 0 and r.

    Returns:
        The start and end times on the horizontal axis [s].
    """
    start, stop = times[0], max(times[-1], times[0] + 1e-3)
    top, bottom = span or (0, len(rows))
    ax.set_facecolor(theme().data)
    ax.imshow(
        np.ma.masked_less_equal(rows, 0),
        cmap=color_map(),
        norm=norm,
        aspect="auto",
        interpolation="nearest",
        extent=(start, stop, bottom, top),
    )
    ax.tick_params(axis="y", length=0)
    return start, stop


def strongest(strengths: np.ndarray, number: int) -> tuple[list[int], list[int]]:
    """Return the indices of the largest positive values, and the indices of all other positive values.

    Args:
        strengths: (b,) values.
        number: Maximum number of indices in the first list.

    Returns:
        Two lists of indices. Both are sorted by value, largest first.
    """
    order = [int(place) for place in np.argsort(-strengths, kind="stable") if strengths[place] > 0]
    return order[:number], order[number:]
