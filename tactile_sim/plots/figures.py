"""Figures with axes in metres: where sensors are, and what they feel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from tactile_sim.errors import ConfigError, SceneError, suggest
from tactile_sim.plots import drawing
from tactile_sim.plots.sensed import WORLD, Frame, Parts

FOCUSES = ("world", "first")


def plot_sensors_geom(
    touch: Any, geom_id: int | None = None, geom_name: str | None = None
) -> tuple[Figure, Axes3D]:
    """The sensors of a geom of a DiscreteTouch, in the geom's frame.

    The geom by its id, else by its name. Raises SceneError where it does not exist or has no sensors.
    """
    parts = Parts(touch)
    geom = parts.geom(geom_id, geom_name)
    return _sensors(parts, [geom], parts.frame(geom), limit=parts.limit(geom))


def plot_force_geom(
    touch: Any, geom_id: int | None = None, geom_name: str | None = None
) -> tuple[Figure, Axes3D]:
    """What the sensors of a geom of a DiscreteTouch feel, in its frame; else as `plot_sensors_geom`."""
    parts = Parts(touch)
    geom = parts.geom(geom_id, geom_name)
    frame = parts.frame(geom)
    return _forces(parts, [geom], frame, frame.name, parts.limit(geom))


def plot_sensors_body(
    touch: Any, body_id: int | None = None, body_name: str | None = None, title: str = ""
) -> tuple[Figure, Axes3D]:
    """The sensors of a body, in its frame.

    The body by its id, else by its name; without a title the body's name stands there. Raises SceneError
    where the body does not exist or has no sensors.
    """
    parts = Parts(touch)
    body = parts.body(body_id, body_name)
    frame = parts.body_frame(body)
    found = parts.of([body], f"body {frame.name!r}")
    return _sensors(parts, found, frame, title, _body_limit(parts, body))


def plot_force_body(
    touch: Any, body_id: int | None = None, body_name: str | None = None, title: str = ""
) -> tuple[Figure, Axes3D]:
    """What the sensors of a body feel, in its frame. Arguments and errors as in `plot_sensors_body`."""
    parts = Parts(touch)
    body = parts.body(body_id, body_name)
    frame = parts.body_frame(body)
    found = parts.of([body], f"body {frame.name!r}")
    return _forces(parts, found, frame, title or frame.name, _body_limit(parts, body))


def plot_force_bodies(
    touch: Any,
    body_ids: Sequence[int] = (),
    body_names: Sequence[str] = (),
    title: str = "",
    focus: str = "world",
    show_contact_points: bool = True,
) -> tuple[Figure, Axes3D]:
    """What the sensors of several bodies feel, with the bodies where they are now.

    The bodies by their ids, else by their names. ``focus``: "world" or "first", the frame of the first of
    them. ``show_contact_points``: also where contacts act on their surfaces. Raises SceneError where a body
    does not exist or none of them has sensors, and ConfigError for another focus.
    """
    parts = Parts(touch)
    if focus not in FOCUSES:
        raise ConfigError(f"focus: there is no {focus!r}{suggest(str(focus), FOCUSES)}")
    if len(body_ids):
        bodies = [parts.body(body, None) for body in body_ids]
    else:
        bodies = [parts.body(None, name) for name in body_names]
    if not bodies:
        raise SceneError("which bodies? Give body_ids or body_names, at least one")
    frame = WORLD if focus == "world" else parts.body_frame(bodies[0])
    named = ", ".join(parts.names.bodies[body] for body in bodies)
    found = parts.of(bodies, f"none of {named}")
    return _forces(parts, found, frame, title or _shortened(named), show_contacts=show_contact_points)


def plot_force_body_subtree(
    touch: Any,
    body_id: int | None = None,
    body_name: str | None = None,
    title: str = "",
    show_contact_points: bool = False,
) -> tuple[Figure, Axes3D]:
    """What the sensors of a body and of all that hang on it feel, in the body's frame.

    Arguments and errors as in `plot_force_bodies`; the root itself need not have sensors.
    """
    parts = Parts(touch)
    root = parts.body(body_id, body_name)
    frame = parts.body_frame(root)
    found = parts.of(parts.subtree(root), f"the subtree of {frame.name!r}")
    return _forces(parts, found, frame, title or f"{frame.name} and below", show_contacts=show_contact_points)


def _sensors(
    parts: Parts, which: Sequence[int], frame: Frame, title: str = "", limit: float = np.inf
) -> tuple[Figure, Axes3D]:
    sensors = parts.sensors(which, frame)
    fig, ax = drawing.canvas(title or f"{frame.name}: {len(sensors.positions)} sensors", frame.name)
    drawing.fit(ax, sensors.positions, limit)
    drawing.sensors(ax, sensors, 0.7, solid=True)
    return fig, ax


def _forces(
    parts: Parts,
    which: Sequence[int],
    frame: Frame,
    title: str,
    limit: float = np.inf,
    show_contacts: bool = False,
) -> tuple[Figure, Axes3D]:
    sensed = parts.sensed(which, frame)
    contacts = parts.contact_points(which if show_contacts else [], frame)
    fig, ax = drawing.canvas(title, frame.name)
    if sensed.outputs.shape[1] == 3:
        tails = drawing.tails(sensed)
        drawing.fit(ax, np.concatenate([sensed.positions, tails]), limit)
        drawing.sensors(ax, sensed, 0.5, solid=False)
        drawing.felt_arrows(ax, tails, sensed)
    else:
        drawing.fit(ax, sensed.positions, limit)
        drawing.sensors(ax, sensed, 0.5, solid=False)
        drawing.felt_discs(ax, sensed, 0.6)
    drawing.colour_bar(fig, sensed)
    drawing.contact_points(ax, contacts)
    return fig, ax


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _body_limit(parts: Parts, body: int) -> float:
    # The limits of a DiscreteTouch are those of its geoms.
    return np.inf if parts.are_geoms else parts.limit(body)
