"""Figure: the skin at the instant at which it feels the most, with the feelers it has, from two sides."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from tactile_sim.analysis import dots, paper
from tactile_sim.analysis.feelers import COVER, Hairs
from tactile_sim.analysis.layouts import Placed
from tactile_sim.analysis.touch import Touch
from tactile_sim.plots import drawing

SIDES = (("from above", 28.0, -60.0), ("from below", -28.0, -60.0))
"""What a view is called, and where the camera is: elevation and azimuth [degrees]."""
PLACES = (0.0, 0.02, 0.45, 0.88), (0.45, 0.02, 0.45, 0.88)
"""Of the views on the figure."""
FREE, COVERED = np.array([0.45, 0.5, 0.55]), np.array([1.0, 0.75, 0.1])
"""Colours of feelers, as on the topic markers."""
ASLEEP = np.array([0.165, 0.19, 0.23])
FLATTEST = 0.3
"""The shortest axis, in lengths of the longest."""


def peak(touch: Touch, skin: Placed, taxels: np.ndarray, hairs: Hairs, frame: str) -> Figure:
    """The placed taxels (n,) of a skin at the peak, in a frame, coloured by what they feel; and feelers.

    taxels: which of all they are.
    """
    feelers = touch.quantity == COVER
    assert touch.peak is not None
    felt = touch.peak.magnitudes[taxels]
    norm = paper.share() if feelers else paper.scale(felt)
    colors = paper.shades(felt, norm)
    fig = Figure(figsize=(11.0, 5.2))
    for place, (side, elevation, azimuth) in zip(PLACES, SIDES, strict=True):
        ax: Any = fig.add_axes(place, projection="3d", proj_type="ortho", computed_zorder=False)
        ax.view_init(elevation, azimuth)
        fig.text(place[0] + 0.02, 0.86, side)
        camera = dots.axes(elevation, azimuth)[2]
        _axes(ax, np.concatenate([skin.positions, hairs.ends.reshape(-1, 3)]))
        _draw(ax, skin, felt > 0, colors, camera)
        _draw_hairs(ax, hairs, camera)
    bar = fig.add_axes((0.91, 0.2, 0.012, 0.6))
    label = "covered share" if feelers else f"{paper.words(touch.quantity)} at a taxel [{touch.unit}]"
    paper.color_bar(fig, norm, label, cax=bar)
    what = "Feelers" if feelers else "Skin"
    title = f"{what} at the peak: {touch.peak.stamp / 1e9:.3f} s, {_told(felt, touch.unit, feelers)}"
    fig.suptitle(title, x=0.01, ha="left", fontsize=12)
    if len(hairs.cover):
        fig.text(0.01, 0.015, "lines: covered feelers, yellow to the root", fontsize=8)
    fig.text(0.99, 0.015, f"frame: {frame}; what faces away is not drawn", ha="right", fontsize=8)
    return fig


def _told(felt: np.ndarray, unit: str, feelers: bool) -> str:
    """What (n,) taxels feel, in words."""
    count = np.count_nonzero(felt)
    if feelers:
        return f"{count} of {len(felt)} are covered"
    return f"{count} taxels feel {felt.sum():.3g} {unit} in all, one {felt.max():.3g} {unit}"


def _axes(ax: Any, points: np.ndarray) -> None:
    """Equal axes around points (n, 3) [m] on dark panes."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = 1.1 * np.maximum(high - low, FLATTEST * max((high - low).max(), 1e-3))
    middle = (low + high) / 2
    corners = middle + size * np.array(list(product((-0.5, 0.5), repeat=3)))
    drawing.box(ax, middle, size, corners, fill=0.8)
    for axis, name, share in zip((ax.xaxis, ax.yaxis, ax.zaxis), "xyz", size / size.max(), strict=True):
        axis.set_label_text(f"{name} [m]")
        axis.labelpad = 10 if name == "x" else 5
        axis.set_pane_color(paper.DARK)
        axis.set_major_locator(MaxNLocator(max(2, round(6 * share)), steps=[1, 2, 5, 10]))
    ax.set_facecolor("white")
    ax.tick_params(labelsize=7, pad=0)
    ax.grid(False)


def _draw(ax: Any, skin: Placed, felt: np.ndarray, colors: np.ndarray, camera: np.ndarray) -> None:
    """The taxels that face the camera, the farthest first; those that feel nothing (n,) are grey."""
    facing = (skin.normals @ camera > 0.0) | ~skin.normals.any(axis=1)  # 0 0 0 faces every way
    order = np.flatnonzero(facing)
    order = order[np.argsort(skin.positions[order] @ camera)]
    light = np.clip(0.55 + 0.45 * skin.normals @ camera, 0.7, 1.0)[:, None]
    shown = np.where(felt[:, None], colors, ASLEEP * light)
    size = (0.95 * drawing.dots(ax, skin.spacings)) ** 2
    ax.scatter(*skin.positions[order].T, s=size[order], c=shown[order], linewidths=0, depthshade=False)


def _draw_hairs(ax: Any, hairs: Hairs, camera: np.ndarray) -> None:
    """Those that stand out toward the camera."""
    facing = (hairs.ends[:, 1] - hairs.ends[:, 0]) @ camera > 0
    if not facing.any():
        return
    colors = FREE + hairs.cover[facing, None] * (COVERED - FREE)
    ax.add_collection3d(Line3DCollection(hairs.ends[facing], colors=colors, linewidths=0.8))
