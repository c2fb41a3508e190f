"""Plot the readings of each touched body at the time of the largest total reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.collections import EllipseCollection, LineCollection
from matplotlib.figure import Figure

from tactile_sim.figures import colors, style
from tactile_sim.figures.messages import Placed
from tactile_sim.figures.recording import COVER, CoveredFeelers, Touch

MOST = 6
"""Maximum number of panels. The most loaded bodies are shown."""
COLUMNS = 3
PANEL = 3.6
"""Width and height of a panel [inches]."""
FRONT = np.array([0.45, -0.8, 0.4])
"""World direction toward which the camera is tilted, so that panels do not look straight down the normal."""
TILT = np.radians(35.0)
LEAST = 7.0
"""Minimum half-width of the region in a panel, in taxel spacings."""
ARROW = 0.7
"""Length of the arrow of a force parallel to the image, in half-widths of a panel."""
FONT_SIZE, GAP = 9, 4.0
"""Size of the text at an arrow, and its distance from the arrow [points]."""
ROOM = 1.5
"""Size of the region in a panel relative to the size of the touched skin."""


class Part(NamedTuple):
    """The taxels of one body, and the net force on it, at the time of the peak."""

    name: str
    taxels: slice
    """Range of the body's taxels in the arrays of the skin."""
    net: np.ndarray | None
    """Net force on the body in the world (3,) [N]; None if it was not recorded."""


def peak(
    touch: Touch, skin: Placed, taxels: np.ndarray, parts: Sequence[Part], covered: CoveredFeelers, frame: str
) -> Figure:
    """Plot each touched body at the time of the peak, seen roughly along the normal of its touched skin.

    Args:
        touch: History of the skin.
        skin: Positions, normals and spacings of the n taxels to draw.
        taxels: Indices of these n taxels among all taxels of ``touch`` (n,).
        parts: Bodies to which the taxels belong.
        covered: Covered feelers to draw.
        frame: Name of the frame in which the positions are given, for the title.
    """
    assert touch.peak is not None
    feelers = touch.quantity == COVER
    readings = touch.peak.magnitudes[taxels]
    norm = style.share() if feelers else style.scale(readings)
    loaded = sorted((p for p in parts if readings[p.taxels].any()), key=lambda p: -readings[p.taxels].sum())
    shown = loaded[:MOST] or list(parts[:1])
    columns = 2 if len(shown) == 4 else min(len(shown), COLUMNS)
    rows = -(-len(shown) // columns)
    fig = Figure(figsize=(max(PANEL * columns, 6.0) + 1.2, PANEL * rows + 0.7), layout="constrained")
    axes = fig.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes:
        ax.set_axis_off()
    for ax, part in zip(axes, shown, strict=False):
        own = readings[part.taxels]
        what = f"sum {own.sum():.3g} {touch.unit}"
        if feelers:
            what = f"{np.count_nonzero(own)} of {len(own)} covered"
        ax.set_title(f"{part.name}: {what}", fontsize=10)
        _draw(ax, skin, part, readings, norm, covered)
    label = "covered share" if feelers else f"{style.words(touch.quantity)} per taxel [{touch.unit}]"
    style.color_bar(fig, norm, label, ax=list(axes), shrink=0.8, pad=0.02)
    left = f"; {len(loaded) - len(shown)} more bodies touched" if len(loaded) > len(shown) else ""
    fig.suptitle(
        f"{'Feelers' if feelers else 'Skin'} at the peak: {touch.peak.stamp / 1e9:.3f} s, "
        f"{np.count_nonzero(readings)} of {len(readings)} taxels, frame: {frame}{left}",
        x=0.01,
        ha="left",
        fontsize=11,
    )
    return fig


def _camera(normal: np.ndarray) -> np.ndarray:
    """Return the view axes (rows: right, up, toward the camera) for skin with this normal (3,)."""
    length = np.linalg.norm(normal)
    normal = normal / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    aside = FRONT - (FRONT @ normal) * normal
    toward = np.cos(TILT) * normal + np.sin(TILT) * aside / max(float(np.linalg.norm(aside)), 1e-9)
    toward /= np.linalg.norm(toward)
    up = np.array([0.0, 0.0, 1.0]) - toward[2] * toward
    up /= np.linalg.norm(up)
    return np.stack([np.cross(up, toward), up, toward])


def _draw(
    ax: Any, skin: Placed, part: Part, readings: np.ndarray, norm: Any, covered: CoveredFeelers
) -> None:
    """Draw one body, cropped to the region of its touched taxels, over a silhouette of the other bodies.

    Args:
        ax: Axes to draw in.
        skin: Positions, normals and spacings of the n taxels of all bodies.
        part: The body to draw.
        readings: (n,) magnitudes of the readings, in the unit of the color scale.
        norm: Color scale.
        covered: Covered feelers to draw.
    """
    own = readings[part.taxels]
    touched = own > 0 if own.any() else np.ones(len(own), bool)
    weights = own[touched] if own.any() else np.ones(len(own))
    positions = skin.positions[part.taxels][touched]
    center = weights @ positions / weights.sum()
    view = _camera(weights @ skin.normals[part.taxels][touched])
    flat = (skin.positions - center) @ view.T
    inner = flat[part.taxels][touched][:, :2]
    middle = (inner.max(axis=0) + inner.min(axis=0)) / 2
    spacing = float(skin.spacings[part.taxels][0]) or 1e-3
    half = max(ROOM * float(np.ptp(inner, axis=0).max()) / 2 + 2 * spacing, LEAST * spacing)
    ax.set(xlim=middle[0] + half * np.array([-1, 1]), ylim=middle[1] + half * np.array([-1, 1]), aspect=1.0)
    near = (np.abs(flat[:, :2] - middle) < half + skin.spacings[:, None]).all(axis=1)
    mine = np.zeros(len(readings), bool)
    mine[part.taxels] = True
    facing = (skin.normals @ view[2] > 0.0) | ~skin.normals.any(axis=1)
    _discs(ax, flat, skin, view, np.flatnonzero(near), style.theme().silhouette, 1.6, flatten=False)
    order = np.flatnonzero(near & mine & facing)
    order = order[np.lexsort((flat[order, 2], readings[order] > 0))]  # touched taxels on top
    _discs(ax, flat, skin, view, order, [colors.unit_rgba(colors.DARK_BODY)], 1.5, flatten=True)
    light = np.clip(0.7 + 0.5 * skin.normals[order] @ view[2], 0.7, 1.2)[:, None]
    shades = np.where(
        readings[order, None] > 0,
        style.shades(readings[order], norm),
        light * np.array(colors.DARK_BODY) / 255,
    )
    _discs(ax, flat, skin, view, order, shades, 1.1, flatten=True)
    if len(covered.cover):
        lines = ((covered.ends - center) @ view.T)[..., :2]
        ax.add_collection(LineCollection(lines, colors=colors.unit_rgba(colors.COVERED_FEELER), lw=0.8))
    if part.net is not None and np.linalg.norm(part.net) > 0:
        _arrow(ax, view @ part.net, middle, half, part.net)
    _bar(ax, middle, half)


def _discs(
    ax: Any,
    flat: np.ndarray,
    skin: Placed,
    view: np.ndarray,
    order: np.ndarray,
    color: Any,
    share: float,
    flatten: bool,
) -> None:
    """Draw taxels as discs.

    Args:
        ax: Axes to draw in.
        flat: Positions of the n taxels along the axes of the view (n, 3) [m].
        skin: Positions, normals and spacings of the n taxels.
        view: Axes of the view as rows (3, 3).
        order: Indices of the taxels to draw, in this order.
        color: One color, or a color for each drawn taxel.
        share: Diameter of a disc, in taxel spacings.
        flatten: Whether discs are tangent to the skin and appear as ellipses; otherwise they are circles.
    """
    size = share * skin.spacings[order]
    normals = skin.normals[order] @ view.T
    heights = size * np.maximum(np.abs(normals[:, 2]), 0.2) if flatten else size
    angles = np.degrees(np.arctan2(normals[:, 1], normals[:, 0])) - 90.0
    discs = EllipseCollection(
        size, heights, angles, units="xy", offsets=flat[order, :2], offset_transform=ax.transData,
        facecolors=color, linewidths=0, rasterized=True,
    )  # fmt: skip
    ax.add_collection(discs)


def _box() -> dict[str, Any]:
    """Return the style of the box behind text that is drawn over the skin."""
    return {"fc": style.theme().background, "ec": "none", "pad": 1.0, "alpha": 0.8}


def _arrow(ax: Any, force: np.ndarray, middle: np.ndarray, half: float, net: np.ndarray) -> None:
    """Draw the net force on a body as an arrow, with its magnitude beyond the tail or else beside it.

    The arrow ends at (0, 0), the mean position of the touched taxels weighted by their readings.

    Args:
        ax: Axes to draw in.
        force: (3,) net force along the axes of the view [N].
        middle: Center (2,) of the panel [m].
        half: Half-width of the panel [m].
        net: (3,) net force in the world [N].
    """
    tail = -ARROW * half * force[:2] / np.linalg.norm(force)
    look = {
        "arrowstyle": "-|>",
        "mutation_scale": 14,
        "lw": 2.0,
        "color": style.theme().net,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    ax.annotate("", xy=(0, 0), xytext=tail, arrowprops=look)
    text = f"net {np.linalg.norm(net):.3g} N"
    size = FONT_SIZE * np.array([0.35 * len(text), 0.7])  # upper bounds of half its width and half its height
    beyond = tail / max(float(np.linalg.norm(tail)), 1e-12)
    beside = np.array([-beyond[1], beyond[0]])
    beside *= 1.0 if beside @ (middle - tail) >= 0.0 else -1.0
    offsets = [(size @ np.abs(way) + GAP) * way for way in (beyond, beside)]
    ends = np.abs(tail - middle) / half * 36.0 * PANEL + offsets[0] * np.sign(tail - middle) + size
    ax.annotate(
        text, tail, offsets[0] if (ends < 36.0 * PANEL).all() else offsets[1], textcoords="offset points",
        ha="center", va="center", fontsize=FONT_SIZE, color=style.theme().net, bbox=_box(),
    )  # fmt: skip


def _bar(ax: Any, middle: np.ndarray, half: float) -> None:
    """Draw a scale bar with a round length."""
    decade = 10.0 ** np.floor(np.log10(half))
    length = max(step * decade for step in (0.5, 1.0, 0.2) if step * decade <= 0.7 * half)
    left, low = middle - 0.95 * half
    ax.plot([left, left + length], [low, low], color=style.theme().ink, lw=2, solid_capstyle="butt")
    ax.annotate(
        f"{1e3 * length:g} mm", (left, low), (0, 3), textcoords="offset points", fontsize=8, bbox=_box()
    )
