"""Plot sensor positions and readings on axes in metres.

The classes of `tactile_sim.touch.plot_methods` offer these functions as methods and document the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D

from tactile_sim.arguments import known
from tactile_sim.errors import ConfigError, SceneError
from tactile_sim.plots import axes
from tactile_sim.plots.readings import WORLD, Frame, Parts

FOCUSES = ("world", "first")


def plot_sensors_geom(
    touch: Any, geom_id: int | None = None, geom_name: str | None = None
) -> tuple[Figure, Axes3D]:
    """Plot the sensor positions of a geom; see `GeomPlots.plot_sensors_geom`."""
    parts = Parts(touch)
    geom = parts.geom(geom_id, geom_name)
    return _sensors(parts, [geom], parts.frame(geom), limit=parts.limit(geom))


def plot_force_geom(
    touch: Any, geom_id: int | None = None, geom_name: str | None = None
) -> tuple[Figure, Axes3D]:
    """Plot the readings of a geom; see `GeomPlots.plot_force_geom`."""
    parts = Parts(touch)
    geom = parts.geom(geom_id, geom_name)
    frame = parts.frame(geom)
    return _forces(parts, [geom], frame, frame.name, parts.limit(geom))


def plot_sensors_body(
    touch: Any, body_id: int | None = None, body_name: str | None = None, title: str = ""
) -> tuple[Figure, Axes3D]:
    """Plot the sensor positions of a body; see `BodyPlots.plot_sensors_body`."""
    parts = Parts(touch)
    body = parts.body(body_id, body_name)
    frame = parts.body_frame(body)
    found = parts.of([body], f"body {frame.name!r}")
    return _sensors(parts, found, frame, title, _body_limit(parts, body))


def plot_force_body(
    touch: Any, body_id: int | None = None, body_name: str | None = None, title: str = ""
) -> tuple[Figure, Axes3D]:
    """Plot the readings of a body; see `BodyPlots.plot_force_body`."""
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
    """Plot the readings of several bodies; see `BodyPlots.plot_force_bodies`."""
    parts = Parts(touch)
    known("focus: unknown value", focus, FOCUSES, ConfigError)
    for name, given in (("body_ids", body_ids), ("body_names", body_names)):
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
            raise ConfigError(f"{name}: must be a list, got {given!r}")
    if len(body_ids):
        bodies = [parts.body(body, None) for body in body_ids]
    else:
        bodies = [parts.body(None, name) for name in body_names]
    if not bodies:
        raise SceneError("body_ids: at least one body required; pass body_ids or body_names")
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
    """Plot the readings of a body and its descendants; see `BodyPlots.plot_force_body_subtree`."""
    parts = Parts(touch)
    root = parts.body(body_id, body_name)
    frame = parts.body_frame(root)
    found = parts.of(parts.subtree(root), f"the subtree of {frame.name!r}")
    return _forces(parts, found, frame, title or f"{frame.name} and below", show_contacts=show_contact_points)


def _sensors(
    parts: Parts, which: Sequence[int], frame: Frame, title: str = "", limit: float = np.inf
) -> tuple[Figure, Axes3D]:
    sensors = parts.sensors(which, frame)
    fig, ax = axes.canvas(title or f"{frame.name}: {len(sensors.positions)} sensors", frame.name)
    axes.fit(ax, sensors.positions, limit)
    axes.sensors(ax, sensors, 0.7, solid=True)
    return fig, ax


def _forces(
    parts: Parts,
    which: Sequence[int],
    frame: Frame,
    title: str,
    limit: float = np.inf,
    show_contacts: bool = False,
) -> tuple[Figure, Axes3D]:
    readings = parts.readings(which, frame)
    contacts = parts.contact_points(which if show_contacts else [], frame)
    fig, ax = axes.canvas(title, frame.name)
    if readings.outputs.shape[1] == 3:
        tails = axes.tails(readings)
        axes.fit(ax, np.concatenate([readings.positions, tails]), limit)
        axes.sensors(ax, readings, 0.5, solid=False)
        axes.draw_arrows(ax, tails, readings)
    else:
        axes.fit(ax, readings.positions, limit)
        axes.sensors(ax, readings, 0.5, solid=False)
        axes.draw_discs(ax, readings, 0.6)
    axes.colour_bar(fig, readings)
    axes.contact_points(ax, contacts)
    return fig, ax


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _body_limit(parts: Parts, body: int) -> float:
    # The plotting limits of a DiscreteTouch are per geom.
    return np.inf if parts.are_geoms else parts.limit(body)
