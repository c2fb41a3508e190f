"""Draw sensors and readings on 3D axes with equal scales."""

from __future__ import annotations

from dataclasses import dataclass
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

from tactile_sim.figures import colors
from tactile_sim.figures.colors import MAP

COLORS = ListedColormap(plt.get_cmap(MAP)(np.linspace(0.86, 0.1, 256)), "felt")
"""Color map from amber to near black: inferno without its ends, which are hard to see on white or black."""
DARK, BRIGHT = np.array([0.42, 0.48, 0.58]), np.array([0.85, 0.87, 0.91])
"""Colors of unloaded sensors whose normals point away from the light and toward it, respectively."""
LIGHT = np.array([0.35, -0.55, 0.76])
"""Unit vector (3,) toward the light."""
STYLE: dict[Any, Any] = {
    "axes.edgecolor": colors.LIGHT.ink,
    "axes.labelcolor": colors.LIGHT.ink,
    "axes.titlecolor": colors.LIGHT.ink,
    "grid.color": colors.LIGHT.grid,
    "text.color": colors.LIGHT.ink,
    "xtick.color": colors.LIGHT.ink,
    "xtick.labelsize": 8,
    "ytick.color": colors.LIGHT.ink,
    "ytick.labelsize": 8,
}
LONGEST = 0.2
"""Length of the longest arrow relative to the largest extent of the sensors along x, y or z."""
FLATTEST = 0.5
"""Minimum length of an axis relative to the longest axis."""
RIM = 1.3
"""Diameter of the dot of a sensor including its white rim, relative to the spacing of the sensors."""
WIDEST = 14.0
"""Maximum diameter of a dot [points]."""


@dataclass(frozen=True)
class Sensors:
    """Positions and normals of n sensors, all in one frame."""

    positions: np.ndarray
    """Positions of the sensors (n, 3) [m]."""
    normals: np.ndarray
    """Outward unit normals of the surface at the sensors, estimated from their positions (n, 3)."""
    spacing: np.ndarray
    """Approximate distance from each sensor to its nearest neighbor (n,) [m]; 0 for a single sensor."""


@dataclass(frozen=True)
class Readings(Sensors):
    """Positions, normals and readings of n sensors, all in one frame."""

    outputs: np.ndarray
    """Reading of each sensor (n, channels). With three channels, it is a vector."""
    quantity: str
    """Name and unit of the measured quantity, such as ``normal force [N]``."""

    @property
    def magnitude(self) -> np.ndarray:
        """Reading of each sensor if it is a scalar, or the length of its vector (n,)."""
        return self.outputs[:, 0] if self.outputs.shape[1] == 1 else np.linalg.norm(self.outputs, axis=1)

    @property
    def nonzero(self) -> np.ndarray:
        """Indices (k,) of the sensors with nonzero readings, in ascending order of absolute value."""
        strength = np.abs(self.magnitude)
        order = np.argsort(strength, kind="stable")
        return order[strength[order] > 0]


def canvas(title: str, frame: str) -> tuple[Figure, Axes3D]:
    """Create a figure with 3D axes in meters and space for a color bar on the right.

    Args:
        title: Title of the axes.
        frame: Name of the frame in which positions are plotted, shown below the axes.
    """
    with plt.rc_context(STYLE):
        fig = plt.figure(figsize=(7.0, 5.6), facecolor="white")
        ax: Any = fig.add_axes(
            (-0.02, 0.02, 0.84, 0.92),
            projection="3d",
            proj_type="ortho",
            computed_zorder=False,  # keep readings in front of the sensors
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
    """Set the limits of the axes so that all points are visible at equal scales.

    Args:
        ax: Axes to change.
        points: Points (n, 3) [m].
        limit: Largest absolute coordinate that the axes show [m].
    """
    low, high = np.clip(points.min(axis=0), -limit, limit), np.clip(points.max(axis=0), -limit, limit)
    size = 1.06 * np.maximum(high - low, FLATTEST * max((high - low).max(), 1e-3))
    middle = (low + high) / 2
    corners = middle + size * np.array(list(product((-0.5, 0.5), repeat=3)))
    box(ax, middle, size, corners, fill=0.81)
    for axis, share in zip((ax.xaxis, ax.yaxis, ax.zaxis), size / size.max(), strict=True):
        axis.set_major_locator(MaxNLocator(max(2, round(5 * share)), steps=[1, 2, 5, 10]))


def box(ax: Axes3D, middle: np.ndarray, size: np.ndarray, outline: np.ndarray, fill: float) -> None:
    """Set the limits of the axes to a box, with equal scales.

    Args:
        ax: Axes to change.
        middle: Center (3,) of the box [m].
        size: Size (3,) of the box [m].
        outline: Points (n, 3) that determine the zoom [m].
        fill: Fraction of the axes that the outline fills.
    """
    low, high = middle - size / 2, middle + size / 2
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    ax.set_box_aspect(size)
    reach = np.abs(_pixels(ax, outline) - _pixels(ax, middle[None])).max(axis=0)
    ax.set_box_aspect(size, zoom=fill * (ax.bbox.size / np.maximum(2 * reach, 1)).min())


def _pixels(ax: Axes3D, points: np.ndarray) -> np.ndarray:
    """Return the pixel coordinates in the figure (n, 2) at which the axes show points (n, 3) [m]."""
    ax.apply_aspect()
    x, y, _ = proj3d.proj_transform(*points.T, ax.get_proj())
    return ax.transData.transform(np.stack([x, y], axis=1))


def dots(ax: Axes3D, spacing: np.ndarray) -> np.ndarray:
    """Return the diameters at which neighboring dots touch each other.

    Args:
        ax: Axes in which the dots are drawn.
        spacing: Distance of each dot to its neighbors (n,) [m]; 0 for dots without neighbors.

    Returns:
        Diameters (n,) [points], from 2 to `WIDEST`.
    """
    axes = _pixels(ax, np.eye(3)) - _pixels(ax, np.zeros((1, 3)))
    # In any projection, the squared lengths of three orthogonal unit vectors sum to two.
    scale = np.sqrt((axes**2).sum() / 2) * 72 / ax.figure.dpi
    return np.clip(np.where(spacing > 0, spacing * scale, WIDEST), 2.0, WIDEST)


def sensors(ax: Axes3D, sensors: Sensors, share: float, solid: bool) -> None:
    """Draw sensors as shaded dots.

    Args:
        ax: Axes to draw in.
        sensors: The sensors to draw.
        share: Diameter of a dot relative to the spacing of the sensors.
        solid: Whether dots are opaque and have white rims; otherwise they are translucent.
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


def tails(readings: Readings) -> np.ndarray:
    """Return the start points of the arrows that show vector readings (k, 3) [m].

    The arrows end at the k sensors with nonzero readings.
    """
    vectors = readings.outputs[readings.nonzero]
    longest = LONGEST * np.ptp(readings.positions, axis=0).max() or 0.01
    most = np.linalg.norm(vectors, axis=1).max(initial=0.0) or 1.0
    return readings.positions[readings.nonzero] - vectors * (longest / most)


def draw_arrows(ax: Axes3D, tails: np.ndarray, readings: Readings) -> None:
    """Draw vector readings as arrows from ``tails`` (k, 3) [m] to the k sensors with nonzero readings."""
    tips = readings.positions[readings.nonzero]
    if len(tips) == 0:
        return  # matplotlib rejects an empty collection of lines
    shaft = tips - tails
    length = np.linalg.norm(shaft, axis=1, keepdims=True)
    first = np.cross(shaft, np.where(np.abs(shaft[:, :1]) < 0.7 * length, [[1.0, 0, 0]], [[0, 1.0, 0]]))
    first *= length / np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(shaft, first) / length
    barbs = [tips - 0.28 * shaft + 0.1 * side for side in (first, -first, second, -second)]
    lines = np.stack([tails, tips, *(point for barb in barbs for point in (barb, tips))], axis=1)
    magnitude = readings.magnitude[readings.nonzero]
    ax.add_collection3d(
        Line3DCollection(
            lines, array=magnitude, cmap=COLORS, norm=norm(readings), linewidths=1.3, label="readings"
        )
    )


def draw_discs(ax: Axes3D, readings: Readings, share: float) -> None:
    """Draw nonzero readings as discs whose color and size depend on the magnitude.

    Args:
        ax: Axes to draw in.
        readings: Readings of sensors.
        share: Diameter of the disc for the weakest reading, relative to the spacing of the sensors. The disc
            for the strongest reading has twice this diameter.
    """
    magnitude = readings.magnitude[readings.nonzero]
    growth = 1 + np.abs(magnitude) / np.abs(magnitude).max(initial=1e-300)
    ax.scatter(
        *readings.positions[readings.nonzero].T,
        s=(share * growth * dots(ax, readings.spacing[readings.nonzero])) ** 2,
        c=magnitude,
        cmap=COLORS,
        norm=norm(readings),
        linewidths=0,
        depthshade=False,
        label="readings",
    )


def contact_points(ax: Axes3D, points: np.ndarray) -> None:
    """Draw contact points (k, 3) [m] and a legend for them."""
    if len(points):
        style = {"color": "#0fa697", "edgecolors": "white", "linewidths": 0.6}
        drawn = ax.scatter(*points.T, s=60, marker="P", depthshade=False, label="contact points", **style)
        ax.legend(handles=[drawn], loc="upper left", frameon=False, fontsize=9)


def norm(readings: Readings) -> Normalize:
    """Return a color scale from the minimum reading or 0, whichever is smaller, to the maximum reading."""
    return Normalize(min(0.0, readings.magnitude.min()), max(0.0, readings.magnitude.max()) or 1.0)


def color_bar(fig: Figure, readings: Readings) -> None:
    """Add a color bar for the readings."""
    with plt.rc_context(STYLE):
        bar = fig.colorbar(ScalarMappable(norm(readings), COLORS), cax=fig.add_axes((0.875, 0.25, 0.02, 0.5)))
        bar.set_label(f"{readings.quantity} at each sensor")
        bar.outline.set_visible(False)
