"""Plot the taxel layout of each pad, with ids and axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure

from tactile_sim.figures.colors import LIGHT
from tactile_sim.skin import Pad, Skin
from tactile_sim.skin.pads.layout import default_tangents

MOST_IDS = 300
"""Ids are drawn in panels with at most this number of taxels."""
FACING = -0.1
"""Limit on the cosine between a taxel's normal and a pad's mean normal.

Taxels above the limit are drawn in the front view, all others in the view from behind.
"""
COLUMNS = 3
SIZE = 4.0
"""Width and height of each panel [inches]."""


def pad_layout(skin: Skin) -> Figure:
    """Plot the taxels of each pad as seen from outside, with their ids and first tangents.

    Taxels on the back of a pad are drawn in a separate panel, as seen from behind.
    """
    views = [view for pad in skin.pads for view in _views(skin, pad)]
    count = max(len(views), 1)
    columns = min(count, COLUMNS)
    rows = -(-count // columns)
    figure = Figure(figsize=(SIZE * columns, SIZE * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels[len(views) :]:
        panel.set_axis_off()
    for panel, view in zip(panels, views, strict=False):
        _draw(panel, skin, *view)
    return figure


def _views(skin: Skin, pad: Pad) -> Iterator[tuple[Pad, np.ndarray, np.ndarray]]:
    """Yield the front view of a pad, and the view from behind if it shows any taxels."""
    taxels = np.arange(pad.start, pad.stop)
    axes = skin.axes[taxels]
    # The view direction is the mean normal, or the normal of the first taxel if normals cancel.
    normal = axes[:, 2].mean(axis=0)
    normal = normal / np.linalg.norm(normal) if np.linalg.norm(normal) > 0.1 else axes[0, 2]
    facing = axes[:, 2] @ normal > FACING
    x = axes[facing, 0].mean(axis=0)
    if np.linalg.norm(x) < 0.99:  # tangents differ
        x = default_tangents(normal[None])[0]
    x = x - (x @ normal) * normal
    x = x / np.linalg.norm(x)
    yield pad, taxels[facing], np.stack([x, np.cross(normal, x), normal])
    if not facing.all():
        yield pad, taxels[~facing], np.stack([-x, np.cross(normal, x), -normal])


def _draw(panel: Any, skin: Skin, pad: Pad, taxels: np.ndarray, view: np.ndarray) -> None:
    frame = view[:2].T
    points, tangents = 1e3 * skin.positions[taxels] @ frame, skin.axes[taxels, 0] @ frame
    size = np.full(len(points), 800 * pad.spacing)
    panel.add_collection(
        EllipseCollection(
            size, size, 0 * size, units="xy", offsets=points, offset_transform=panel.transData,
            facecolors="none", edgecolors=LIGHT.lines[0], linewidths=0.8,
        )
    )  # fmt: skip
    length = 300 * pad.spacing
    panel.quiver(
        *points.T,
        *(length * tangents).T,
        color=LIGHT.lines[1],
        angles="xy",
        scale_units="xy",
        scale=1,
        width=0.003,
    )
    if len(points) <= MOST_IDS:
        for (u, v), name in zip(points, skin.ids[taxels].tolist(), strict=True):
            panel.annotate(
                str(name), (u, v), (0, -2), textcoords="offset points", color=LIGHT.ink, fontsize=7,
                ha="center", va="top",
            )  # fmt: skip
    edge = 1e3 * pad.spacing
    low, high = points.min(axis=0) - edge, points.max(axis=0) + edge
    panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    count = pad.stop - pad.start
    part = f"{len(points)} of " if len(points) < count else ""
    title = f"{pad.name}: {part}{count} taxels"
    panel.set(title=title, xlabel=_label(view[0]), ylabel=_label(view[1]))


def _label(direction: np.ndarray) -> str:
    """Return the label for a plot axis that points along a unit vector (3,) in the body frame."""
    axis = int(np.abs(direction).argmax())
    if abs(direction[axis]) > 0.999:
        return f"{'−' if direction[axis] < 0 else ''}{'xyz'[axis]} of the body [mm]"
    return f"along ({', '.join(f'{part:.2f}' for part in direction + 0.0)}) of the body [mm]"
