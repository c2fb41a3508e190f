"""The neat picture: a part of the scene as its sensors, and where it is touched how much."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from tactile_sim.errors import ConfigError
from tactile_sim.plots import drawing
from tactile_sim.plots.sensed import WORLD, Frame, Parts


def visualize_contacts_subtree(
    touch: Any,
    root_id: int | None = None,
    root_name: str | None = None,
    show_contact_points: bool = False,
    focus_body: str | None = None,
    camera_offset: np.ndarray | None = None,
) -> tuple[Figure, Axes3D]:
    """A picture of a body and of all that hang on it, with what they feel as colour and size.

    The root by its id, else by its name. What is felt shines through from the far side too.
    ``show_contact_points``: also where contacts act. ``focus_body``: a body by name that is the middle of the
    picture, and its origin that of the axes; without one the bodies are where they are in the world.
    ``camera_offset`` (3,): by how much the camera is moved, along the axes of the world [m].

    Raises SceneError where a body does not exist or the subtree has no sensors, and ConfigError for an
    offset of another shape.
    """
    offset = np.zeros(3) if camera_offset is None else np.asarray(camera_offset, float)
    if offset.shape != (3,):
        raise ConfigError(f"camera_offset: three numbers [m] are needed, not shape {offset.shape}")
    parts = Parts(touch)
    root = parts.body(root_id, root_name)
    name = parts.names.bodies[root]
    which = parts.of(parts.subtree(root), f"the subtree of {name!r}")
    frame = WORLD
    if focus_body is not None:
        focus = parts.body_frame(parts.body(None, focus_body))
        frame = Frame(focus.name, focus.position, np.eye(3))
    sensed = parts.sensed(which, frame)
    contacts = parts.contact_points(which if show_contact_points else [], frame)
    low, high = sensed.positions.min(axis=0), sensed.positions.max(axis=0)
    if focus_body is not None:
        high = np.maximum(np.abs(low), np.abs(high))
        low = -high

    fig, ax = drawing.canvas("", f"world, about {frame.name}" if focus_body is not None else frame.name)
    ax.set_axis_off()
    middle, size = (low + high) / 2, np.maximum(high - low, 0.2 * max((high - low).max(), 1e-3))
    drawing.box(ax, middle + offset, size, sensed.positions + offset, fill=0.9)
    drawing.sensors(ax, sensed, 1.6, solid=True)
    drawing.felt_discs(ax, sensed, 1.1)
    drawing.colour_bar(fig, sensed)
    drawing.contact_points(ax, contacts)
    return fig, ax
