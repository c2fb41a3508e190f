"""Plot the map of a whole skin at the time of the largest total reading."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from tactile_sim.analysis import style
from tactile_sim.analysis.layouts import Layout, place
from tactile_sim.analysis.poses import Poses
from tactile_sim.analysis.touch import Touch
from tactile_sim.drawing.skin_map import RestPose, SkinMap

WIDTH = 10.0
"""Width of the figure [inches]."""


def skin_map(touch: Touch, pads: Sequence[int], layouts: Sequence[Layout], poses: Poses) -> Figure:
    """Plot the readings at the peak on a `SkinMap`.

    Args:
        touch: History of the skin; its peak must exist.
        pads: Indices of the p pads to show in ``touch.bodies``.
        layouts: Layouts of these pads (p).
        poses: Poses of the pads' bodies that the map shows.
    """
    assert touch.peak is not None
    placed = place(layouts, poses)
    names = [touch.bodies[pad] for pad in pads]
    pose = RestPose(
        names,
        np.array([len(layout.positions) for layout in layouts]),
        poses.parents([layout.frame for layout in layouts]),
        placed.positions,
        placed.normals,
        np.array([layout.spacing for layout in layouts]),
    )
    readings = touch.peak.magnitudes[np.concatenate([touch.taxels_of([pad]) for pad in pads])]
    norm, chart = style.scale(readings), SkinMap(pose)
    image = chart.image(readings, norm.vmax or 1.0)
    fig = Figure(figsize=(WIDTH, WIDTH * chart.height / chart.width + 0.95), layout="constrained")
    ax = fig.subplots()
    ax.imshow(image, interpolation="antialiased")
    ax.set_axis_off()
    ax.set_title(
        f"Skin at the peak: {touch.peak.stamp / 1e9:.3f} s, "
        f"{np.count_nonzero(readings)} of {len(readings)} taxels",
        fontsize=11,
    )
    label = f"{style.words(touch.quantity)} per taxel [{touch.unit}]"
    style.color_bar(fig, norm, label, ax=ax, location="bottom", shrink=0.5, pad=0.02, aspect=40)
    return fig
