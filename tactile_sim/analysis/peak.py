"""Figure: the skin and its feelers at the time of the largest total reading, from two sides."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from tactile_sim.analysis import dots, style
from tactile_sim.analysis.feelers import COVER, CoveredFeelers
from tactile_sim.analysis.layouts import Placed
from tactile_sim.analysis.touch import Touch
from tactile_sim.plots import axes as plot_axes

SIDES = (("from above", 28.0, -60.0), ("from below", -28.0, -60.0))
"""Name of each view, with elevation and azimuth of the camera [degrees]."""
PLACES = (0.0, 0.02, 0.45, 0.88), (0.45, 0.02, 0.45, 0.88)
"""Positions of the views in the figure."""
FREE, COVERED = np.array([0.45, 0.5, 0.55]), np.array([1.0, 0.75, 0.1])
"""Colours of feelers, as on the topic markers."""
UNLOADED = np.array([0.165, 0.19, 0.23])
"""Colour of taxels without load."""
FLATTEST = 0.3
"""Length of the shortest axis relative to the longest."""


def peak(touch: Touch, skin: Placed, taxels: np.ndarray, covered: CoveredFeelers, frame: str) -> Figure:
    """Draw the skin at its peak, coloured by readings, with covered feelers.

    Args:
        touch: The skin's history.
        skin: The n taxels to draw.
        taxels: Indices (n,) of these taxels in ``touch``.
        covered: Feelers to draw.
        frame: Name of the frame of the positions.
    """
    feelers = touch.quantity == COVER
    assert touch.peak is not None
    readings = touch.peak.magnitudes[taxels]
    norm = style.share() if feelers else style.scale(readings)
    colors = style.shades(readings, norm)
    fig = Figure(figsize=(11.0, 5.2))
    for place, (side, elevation, azimuth) in zip(PLACES, SIDES, strict=True):
        ax: Any = fig.add_axes(place, projection="3d", proj_type="ortho", computed_zorder=False)
        ax.view_init(elevation, azimuth)
        fig.text(place[0] + 0.02, 0.86, side)
        camera = dots.axes(elevation, azimuth)[2]
        _axes(ax, np.concatenate([skin.positions, covered.ends.reshape(-1, 3)]))
        _draw(ax, skin, readings > 0, colors, camera)
        _draw_feelers(ax, covered, camera)
    bar = fig.add_axes((0.91, 0.2, 0.012, 0.6))
    label = "covered share" if feelers else f"{style.words(touch.quantity)} per taxel [{touch.unit}]"
    style.color_bar(fig, norm, label, cax=bar)
    what = "Feelers" if feelers else "Skin"
    title = f"{what} at the peak: {touch.peak.stamp / 1e9:.3f} s, {_summary(readings, touch.unit, feelers)}"
    fig.suptitle(title, x=0.01, ha="left", fontsize=12)
    if len(covered.cover):
        fig.text(0.01, 0.015, "lines: covered feelers, more yellow for shorter free length", fontsize=8)
    fig.text(0.99, 0.015, f"frame: {frame}; surfaces facing away are not drawn", ha="right", fontsize=8)
    return fig


def _summary(readings: np.ndarray, unit: str, feelers: bool) -> str:
    """Describe readings (n,) in one phrase."""
    count = np.count_nonzero(readings)
    if feelers:
        return f"{count} of {len(readings)} covered"
    return f"{count} loaded taxels, total {readings.sum():.3g} {unit}, maximum {readings.max():.3g} {unit}"


def _axes(ax: Any, points: np.ndarray) -> None:
    """Set up equal axes around points (n, 3) [m] on dark panes."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = 1.1 * np.maximum(high - low, FLATTEST * max((high - low).max(), 1e-3))
    middle = (low + high) / 2
    corners = middle + size * np.array(list(product((-0.5, 0.5), repeat=3)))
    plot_axes.box(ax, middle, size, corners, fill=0.8)
    for axis, name, share in zip((ax.xaxis, ax.yaxis, ax.zaxis), "xyz", size / size.max(), strict=True):
        axis.set_label_text(f"{name} [m]")
        axis.labelpad = 10 if name == "x" else 5
        axis.set_pane_color(style.DARK)
        axis.set_major_locator(MaxNLocator(max(2, round(6 * share)), steps=[1, 2, 5, 10]))
    ax.set_facecolor("white")
    ax.tick_params(labelsize=7, pad=0)
    ax.grid(False)


def _draw(ax: Any, skin: Placed, loaded: np.ndarray, colors: np.ndarray, camera: np.ndarray) -> None:
    """Draw the taxels that face the camera, farthest first, unloaded ones in grey."""
    facing = (skin.normals @ camera > 0.0) | ~skin.normals.any(axis=1)  # 0 0 0: always visible
    order = np.flatnonzero(facing)
    order = order[np.argsort(skin.positions[order] @ camera)]
    light = np.clip(0.55 + 0.45 * skin.normals @ camera, 0.7, 1.0)[:, None]
    shown = np.where(loaded[:, None], colors, UNLOADED * light)
    size = (0.95 * plot_axes.dots(ax, skin.spacings)) ** 2
    ax.scatter(*skin.positions[order].T, s=size[order], c=shown[order], linewidths=0, depthshade=False)


def _draw_feelers(ax: Any, covered: CoveredFeelers, camera: np.ndarray) -> None:
    """Draw the feelers that point toward the camera."""
    facing = (covered.ends[:, 1] - covered.ends[:, 0]) @ camera > 0
    if not facing.any():
        return
    colors = FREE + covered.cover[facing, None] * (COVERED - FREE)
    ax.add_collection3d(Line3DCollection(covered.ends[facing], colors=colors, linewidths=0.8))
