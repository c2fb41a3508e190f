"""Figure: the layout of the pads of a skin, with ids and axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import EllipseCollection
from matplotlib.figure import Figure

from tactile_sim.analysis.style import INK, LINES
from tactile_sim.skin import Pad, Skin

MOST_IDS = 300
"""Maximum number of taxels of a pad with drawn ids."""
COLUMNS = 3
SIZE = 4.0
"""Edge of the panel of a pad [inches]."""


def pad_layout(skin: Skin) -> Figure:
    """Plot a panel for each pad: its taxels from outside, along its mean axes."""
    count = max(len(skin.pads), 1)
    columns = min(count, COLUMNS)
    rows = -(-count // columns)
    figure = Figure(figsize=(SIZE * columns, SIZE * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels[len(skin.pads) :]:
        panel.set_axis_off()
    for panel, pad in zip(panels, skin.pads, strict=False):
        _draw(panel, skin, pad)
    return figure


def _draw(panel: Any, skin: Skin, pad: Pad) -> None:
    taxels = slice(pad.start, pad.stop)
    axes, positions = skin.axes[taxels], skin.positions[taxels]
    # The view direction is the mean normal; where normals cancel, that of the first taxel.
    normal = axes[:, 2].mean(axis=0)
    normal = normal / np.linalg.norm(normal) if np.linalg.norm(normal) > 0.1 else axes[0, 2]
    x = axes[0, 0] - (axes[0, 0] @ normal) * normal
    x = x / np.linalg.norm(x) if np.linalg.norm(x) > 0.1 else np.cross(axes[0, 1], normal)
    frame = np.stack([x, np.cross(normal, x)], axis=1)
    points, tangents = 1e3 * positions @ frame, axes[:, 0] @ frame
    size = np.full(len(points), 800 * pad.spacing)
    panel.add_collection(
        EllipseCollection(
            size, size, 0 * size, units="xy", offsets=points, offset_transform=panel.transData,
            facecolors="none", edgecolors=LINES[0], linewidths=0.8,
        )
    )  # fmt: skip
    length = 300 * pad.spacing
    panel.quiver(
        *points.T, *(length * tangents).T, color=LINES[1], angles="xy", scale_units="xy", scale=1, width=0.003
    )
    if len(points) <= MOST_IDS:
        for (u, v), name in zip(points, skin.ids[taxels].tolist(), strict=True):
            panel.annotate(str(name), (u, v), color=INK, fontsize=7, ha="center", va="top")
    edge = 1e3 * pad.spacing
    low, high = points.min(axis=0) - edge, points.max(axis=0) + edge
    panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    panel.set(title=f"{pad.name}: {len(points)} taxels", xlabel="x [mm]", ylabel="y [mm]")
