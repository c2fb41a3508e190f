"""Render part of the scene, with the readings shown by the colour and size of the sensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from tactile_sim.errors import ConfigError
from tactile_sim.plots import axes
from tactile_sim.plots.readings import WORLD, Frame, Parts


def visualize_contacts_subtree(
    touch: Any,
    root_id: int | None = None,
    root_name: str | None = None,
    show_contact_points: bool = False,
    focus_body: str | None = None,
    camera_offset: np.ndarray | None = None,
) -> tuple[Figure, Axes3D]:
    """Render a body and its descendants; see `BodyPlots.visualize_contacts_subtree`."""
    offset = np.zeros(3) if camera_offset is None else np.asarray(camera_offset, float)
    if offset.shape != (3,):
        raise ConfigError(f"camera_offset: must have shape (3,) [m], got {offset.shape}")
    parts = Parts(touch)
    root = parts.body(root_id, root_name)
    name = parts.names.bodies[root]
    which = parts.of(parts.subtree(root), f"the subtree of {name!r}")
    frame = WORLD
    if focus_body is not None:
        focus = parts.body_frame(parts.body(None, focus_body))
        frame = Frame(focus.name, focus.position, np.eye(3))
    readings = parts.readings(which, frame)
    contacts = parts.contact_points(which if show_contact_points else [], frame)
    low, high = readings.positions.min(axis=0), readings.positions.max(axis=0)
    if focus_body is not None:
        high = np.maximum(np.abs(low), np.abs(high))
        low = -high

    fig, ax = axes.canvas("", f"world, about {frame.name}" if focus_body is not None else frame.name)
    ax.set_axis_off()
    middle, size = (low + high) / 2, np.maximum(high - low, 0.2 * max((high - low).max(), 1e-3))
    axes.box(ax, middle + offset, size, readings.positions + offset, fill=0.9)
    axes.sensors(ax, readings, 1.6, solid=True)
    axes.draw_discs(ax, readings, 1.1)
    axes.colour_bar(fig, readings)
    axes.contact_points(ax, contacts)
    return fig, ax
