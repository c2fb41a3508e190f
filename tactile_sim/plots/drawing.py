"""Drawing sensors and what they feel: equal axes with units, a colour bar, few artists for many sensors."""

from __future__ import annotations

from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d import Axes3D, proj3d
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from tactile_sim.plots.sensed import Sensed, Sensors

COLOURS = ListedColormap(plt.get_cmap("inferno")(np.linspace(0.86, 0.1, 256)), "felt")
"""Amber to near black: inferno without the ends that white paper and black ink would swallow."""
DARK, BRIGHT = np.array([0.42, 0.48, 0.58]), np.array([0.85, 0.87, 0.91])
"""A sensor that feels nothing, in the shade and in the light."""
LIGHT = np.array([0.35, -0.55, 0.76])
"""(3,) where the light comes from, unit."""
INK = "#333b46"
STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "grid.color": "#dfe4ea",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 8,
    "ytick.color": INK,
    "ytick.labelsize": 8,
}
LONGEST = 0.2
"""The longest arrow, in lengths of the longest axis."""
FLATTEST = 0.5
"""The shortest axis, in lengths of the longest."""
RIM = 1.3
"""How wide the rims of sensors are, in distances between these."""
WIDEST = 14.0
"""No dot is wider than this [points]."""


def canvas(title: str, frame: str) -> tuple[Figure, Axes3D]:
    """An empty figure with axes in metres, and room for a colour bar at its right."""
    with plt.rc_context(STYLE):
        fig = plt.figure(figsize=(7.0, 5.6), facecolor="white")
        ax: Any = fig.add_axes(
            (-0.02, 0.02, 0.84, 0.92),
            projection="3d",
            proj_type="ortho",
            computed_zorder=False,  # what is felt stays in front of the sensors
            facecolor="white",
        )
        ax.set_title(title)
        for axis, name in zip((ax.xaxis, ax.yaxis, ax.zaxis), "xyz", strict=True):
            axis.set_label_text(f"{name} [m]")
            axis.set_pane_color("white")
        ax.tick_params(axis="z", pad=6)
        fig.text(0.985, 0.02, f"frame: {frame}", size=8, ha="right")
    return fig, ax


def fit(ax: Axes3D, points: np.ndarray, limit: float = np.inf) -> None:
    """Equal axes around points (n, 3) [m], reaching no further from 0 than the limit."""
    low, high = np.clip(points.min(axis=0), -limit, limit), np.clip(points.max(axis=0), -limit, limit)
    size = 1.06 * np.maximum(high - low, FLATTEST * max((high - low).max(), 1e-3))
    middle = (low + high) / 2
    corners = middle + size * np.array(list(product((-0.5, 0.5), repeat=3)))
    box(ax, middle, size, corners, fill=0.81)
    for axis, share in zip((ax.xaxis, ax.yaxis, ax.zaxis), size / size.max(), strict=True):
        axis.set_major_locator(MaxNLocator(max(2, round(5 * share)), steps=[1, 2, 5, 10]))


def box(ax: Axes3D, middle: np.ndarray, size: np.ndarray, outline: np.ndarray, fill: float) -> None:
    """Equal axes over a box of this size (3,) [m], zoomed so that an outline (n, 3) fills them so much."""
    low, high = middle - size / 2, middle + size / 2
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    ax.set_box_aspect(size)
    reach = np.abs(_pixels(ax, outline) - _pixels(ax, middle[None])).max(axis=0)
    ax.set_box_aspect(size, zoom=fill * (ax.bbox.size / np.maximum(2 * reach, 1)).min())


def _pixels(ax: Axes3D, points: np.ndarray) -> np.ndarray:
    """(n, 2) where points (n, 3) [m] are in the figure."""
    ax.apply_aspect()
    x, y, _ = proj3d.proj_transform(*points.T, ax.get_proj())
    return ax.transData.transform(np.stack([x, y], axis=1))


def dots(ax: Axes3D, spacing: np.ndarray) -> np.ndarray:
    """(n,) how wide [points] dots are that just touch their neighbours at these distances (n,) [m]."""
    axes = _pixels(ax, np.eye(3)) - _pixels(ax, np.zeros((1, 3)))
    # Seen along any direction, the squares of three unit vectors at right angles sum to two.
    scale = np.sqrt((axes**2).sum() / 2) * 72 / ax.figure.dpi
    return np.clip(np.where(spacing > 0, spacing * scale, WIDEST), 2.0, WIDEST)


def sensors(ax: Axes3D, sensors: Sensors, share: float, solid: bool) -> None:
    """Sensors as dots, this share of their distance wide, lit from one side.

    solid: with white rims that hide what lies behind; else one sees through, and the farther are paler.
    """
    light = np.clip(sensors.normals @ LIGHT, 0, 1)[:, None]
    width = dots(ax, sensors.spacing)
    rim = width * max(RIM - share, 0) / 2 if solid else np.zeros(len(width))
    ax.scatter(
        *sensors.positions.T,
        s=(share * width + rim) ** 2,
        c=DARK + light * (BRIGHT - DARK),
        alpha=1.0 if solid else 0.8,
        edgecolors="white",
        linewidths=rim,
        depthshade=not solid,
        label="sensors",
    )


def tails(sensed: Sensed) -> np.ndarray:
    """(k, 3) where the arrows begin that end at the sensors that feel something [m]."""
    vectors = sensed.outputs[sensed.felt]
    longest = LONGEST * np.ptp(sensed.positions, axis=0).max() or 0.01
    most = np.linalg.norm(vectors, axis=1).max(initial=0.0) or 1.0
    return sensed.positions[sensed.felt] - vectors * (longest / most)


def felt_arrows(ax: Axes3D, tails: np.ndarray, sensed: Sensed) -> None:
    """What is felt as arrows from their tails to the sensors; each is one line, along its four barbs too."""
    tips = sensed.positions[sensed.felt]
    if len(tips) == 0:
        return  # matplotlib takes no empty collection of lines
    shaft = tips - tails
    length = np.linalg.norm(shaft, axis=1, keepdims=True)
    first = np.cross(shaft, np.where(np.abs(shaft[:, :1]) < 0.7 * length, [[1.0, 0, 0]], [[0, 1.0, 0]]))
    first *= length / np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(shaft, first) / length
    barbs = [tips - 0.28 * shaft + 0.1 * side for side in (first, -first, second, -second)]
    lines = np.stack([tails, tips, *(point for barb in barbs for point in (barb, tips))], axis=1)
    magnitude = sensed.magnitude[sensed.felt]
    ax.add_collection3d(
        Line3DCollection(
            lines, array=magnitude, cmap=COLOURS, norm=norm(sensed), linewidths=1.3, label="felt"
        )
    )


def felt_discs(ax: Axes3D, sensed: Sensed, share: float) -> None:
    """What is felt as discs at the sensors, coloured by it, and the wider the more."""
    magnitude = sensed.magnitude[sensed.felt]
    growth = 1 + np.abs(magnitude) / np.abs(magnitude).max(initial=1e-300)
    ax.scatter(
        *sensed.positions[sensed.felt].T,
        s=(share * growth * dots(ax, sensed.spacing[sensed.felt])) ** 2,
        c=magnitude,
        cmap=COLOURS,
        norm=norm(sensed),
        linewidths=0,
        depthshade=False,
        label="felt",
    )


def contact_points(ax: Axes3D, points: np.ndarray) -> None:
    """Where contacts act (k, 3) [m]."""
    if len(points):
        style = {"color": "#0fa697", "edgecolors": "white", "linewidths": 0.6}
        drawn = ax.scatter(*points.T, s=60, marker="P", depthshade=False, label="contact points", **style)
        ax.legend(handles=[drawn], loc="upper left", frameon=False, fontsize=9)


def norm(sensed: Sensed) -> Normalize:
    """Colours from 0, or from below where something is negative, to the most that is felt."""
    return Normalize(min(0.0, sensed.magnitude.min()), max(0.0, sensed.magnitude.max()) or 1.0)


def colour_bar(fig: Figure, sensed: Sensed) -> None:
    """What the colours mean."""
    with plt.rc_context(STYLE):
        bar = fig.colorbar(ScalarMappable(norm(sensed), COLOURS), cax=fig.add_axes((0.875, 0.25, 0.02, 0.5)))
        bar.set_label(f"{sensed.quantity} at each sensor")
        bar.outline.set_visible(False)
