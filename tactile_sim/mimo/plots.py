"""Plot the sensor positions and readings of a touch object.

Each function accepts a `tactile_sim.mimo.touch` object, or any object with the same attributes, and returns
the figure and the axes. Use ``matplotlib.pyplot.show()`` or ``fig.savefig(path)`` to show or save the figure.
Readings are from the last ``get_touch_obs()``, and poses from the current state of the simulation.

Ids take precedence over names. A part that does not exist or has no sensors raises SceneError, and so do
missing readings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D
from scipy.spatial import cKDTree

from tactile_sim.common.errors import ConfigError, SceneError, suggest
from tactile_sim.common.names import Names
from tactile_sim.common.schema import known, whole
from tactile_sim.mimo import axes
from tactile_sim.mimo.axes import Readings, Sensors
from tactile_sim.skin import TOUCH_FUNCTIONS

FOCUSES = ("world", "first")
GLOBAL = "_global"
"""Name suffix of touch functions whose vectors are in the world frame instead of the body or geom frame."""
NEIGHBORS = 9
"""Number of nearest points, including the sensor itself, from which its surface normal is estimated."""


class Frame(NamedTuple):
    """A coordinate frame: its name and its pose in the world."""

    name: str
    position: np.ndarray
    """Position of the origin (3,), world frame [m]."""
    rotation: np.ndarray
    """Rotation matrix (3, 3) from this frame to the world."""

    def transform(self, points: np.ndarray, source: Frame) -> np.ndarray:
        """Transform points (n, 3) [m] from another frame into this one."""
        return (points @ source.rotation.T + source.position - self.position) @ self.rotation

    def rotate(self, vectors: np.ndarray, source: Frame) -> np.ndarray:
        """Rotate vectors (n, 3) from another frame into this one."""
        return vectors @ source.rotation.T @ self.rotation


WORLD = Frame("world", np.zeros(3), np.eye(3))


def plot_sensors_geom(
    touch: Any, geom_id: int | None = None, geom_name: str | None = None
) -> tuple[Figure, Axes3D]:
    """Plot the sensor positions of a geom, in the geom's frame."""
    parts = Parts(touch)
    geom = parts.geom(geom_id, geom_name)
    return _sensors(parts, [geom], parts.frame(geom), limit=parts.limit(geom))


def plot_force_geom(
    touch: Any, geom_id: int | None = None, geom_name: str | None = None
) -> tuple[Figure, Axes3D]:
    """Plot the readings of a geom, in the geom's frame."""
    parts = Parts(touch)
    geom = parts.geom(geom_id, geom_name)
    frame = parts.frame(geom)
    return _forces(parts, [geom], frame, frame.name, parts.limit(geom))


def plot_sensors_body(
    touch: Any, body_id: int | None = None, body_name: str | None = None, title: str = ""
) -> tuple[Figure, Axes3D]:
    """Plot the sensor positions of a body, in the body's frame.

    ``title`` is the title of the figure; the body's name by default.
    """
    parts = Parts(touch)
    body = parts.body(body_id, body_name)
    frame = parts.body_frame(body)
    found = parts.of([body], f"body {frame.name!r}")
    return _sensors(parts, found, frame, title, _body_limit(parts, body))


def plot_force_body(
    touch: Any, body_id: int | None = None, body_name: str | None = None, title: str = ""
) -> tuple[Figure, Axes3D]:
    """Plot the readings of a body, in the body's frame.

    ``title`` is the title of the figure; the body's name by default.
    """
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
    """Plot the readings of several bodies in their current poses.

    - ``title``: Title of the figure; the bodies' names by default.
    - ``focus``: Frame of the plot: "world", or "first" for the frame of the first body.
    - ``show_contact_points``: Whether to draw the contact points on the bodies' surfaces.
    """
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
    """Plot the readings of a body and its descendants, in the body's frame.

    - ``title``: Title of the figure; by default the body's name followed by "and below".
    - ``show_contact_points``: Whether to draw the contact points on the bodies' surfaces.
    """
    parts = Parts(touch)
    root = parts.body(body_id, body_name)
    frame = parts.body_frame(root)
    found = parts.of(parts.subtree(root), f"the subtree of {frame.name!r}")
    return _forces(parts, found, frame, title or f"{frame.name} and below", show_contacts=show_contact_points)


def visualize_contacts_subtree(
    touch: Any,
    root_id: int | None = None,
    root_name: str | None = None,
    show_contact_points: bool = False,
    focus_body: str | None = None,
    camera_offset: np.ndarray | None = None,
) -> tuple[Figure, Axes3D]:
    """Render a body and its descendants; color and size of the sensors show the readings.

    Readings on surfaces that face away from the camera are visible through the bodies.

    - ``show_contact_points``: Whether to draw the contact points.
    - ``focus_body``: Name of a body whose origin is the center of the image and the origin of the axes, which
      are parallel to the world's. By default, positions are in the world frame.
    - ``camera_offset``: Shift (3,) of the camera along the world axes [m].
    """
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
    axes.color_bar(fig, readings)
    axes.contact_points(ax, contacts)
    return fig, ax


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
    axes.color_bar(fig, readings)
    axes.contact_points(ax, contacts)
    return fig, ax


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _body_limit(parts: Parts, body: int) -> float:
    # The plotting limits of a DiscreteTouch are per geom.
    return np.inf if parts.are_geoms else parts.limit(body)


class Parts:
    """Access to the geoms or bodies of a touch object that have sensors.

    These are called parts: geoms of a DiscreteTouch, or bodies of a TrimeshTouch.
    """

    def __init__(self, touch: Any) -> None:
        self.touch = touch
        self.names = Names(touch.m_model)
        self.are_geoms = hasattr(touch, "sensing_geoms")

    # -- selection: SceneError if a part does not exist or has no sensors ---------------------------------

    def geom(self, number: int | None, name: str | None) -> int:
        """Return the id of a geom that is specified by id or name and has sensors.

        Raises:
            SceneError: The geom does not exist or has no sensors.
        """
        if not self.are_geoms:
            raise SceneError(
                f"geom: sensors of a {type(self.touch).__name__} are on bodies; plot the body instead"
            )
        geom = _find("geom", number, name, self.names.geoms, self.names.geom_id)
        if geom not in self.touch.sensor_positions:
            sensing = [self.names.geoms[other] for other in self.touch.sensor_positions]
            raise SceneError(f"geom {self.names.geoms[geom]!r} has no sensors{suggest('', sensing)}")
        return geom

    def body(self, number: int | None, name: str | None) -> int:
        """Return the id of a body that is specified by id or name; it need not have sensors.

        Raises:
            SceneError: The body does not exist.
        """
        return _find("body", number, name, self.names.bodies, self.names.body_id)

    def subtree(self, root: int) -> list[int]:
        """Return the ids of a body and all its descendants."""
        inside = np.zeros(self.touch.m_model.nbody, bool)
        for body, parent in enumerate(self.touch.m_model.body_parentid):
            inside[body] = body == root or inside[parent]
        return np.flatnonzero(inside).tolist()

    def of(self, bodies: Iterable[int], whose: str) -> list[int]:
        """Return the ids of the parts with sensors that belong to the specified bodies, grouped by body.

        Args:
            bodies: Ids of the bodies.
            whose: Description of the bodies for error messages.

        Raises:
            SceneError: The bodies have no sensors.
        """
        parts = sorted(self.touch.sensor_positions)
        body_of = {
            part: int(self.touch.m_model.geom_bodyid[part]) if self.are_geoms else part for part in parts
        }
        found = [part for body in bodies for part in parts if body_of[part] == body]
        if not found:
            sensing = {self.names.bodies[body] for body in body_of.values()}
            raise SceneError(f"{whose} has no sensors{suggest('', sensing)}")
        return found

    # -- poses and readings ------------------------------------------------------------------------------

    def body_frame(self, body: int) -> Frame:
        """Return the frame of a body, with its current pose."""
        data = self.touch.m_data
        return _frame(self.names.bodies[body], data.xpos[body], data.xmat[body])

    def frame(self, part: int) -> Frame:
        """Return the frame of a part, with its current pose."""
        if not self.are_geoms:
            return self.body_frame(part)
        data = self.touch.m_data
        return _frame(self.names.geoms[part], data.geom_xpos[part], data.geom_xmat[part])

    def sensors(self, parts: Sequence[int], frame: Frame) -> Sensors:
        """Return the sensors of the specified parts, transformed to ``frame``."""
        clouds = []
        for part in parts:
            positions = frame.transform(
                np.asarray(self.touch.sensor_positions[part], float), self.frame(part)
            )
            clouds.append((positions, *_surface(positions)))
        return Sensors(*(np.concatenate(arrays) for arrays in zip(*clouds, strict=True)))

    def readings(self, parts: Sequence[int], frame: Frame) -> Readings:
        """Return the sensors of the specified parts with their readings, transformed to ``frame``.

        Raises:
            SceneError: There are no readings yet.
        """
        touch, outputs = self.touch, []
        for part in parts:
            if part not in touch.sensor_outputs:
                raise SceneError("no readings yet; call get_touch_obs() first")
            output = np.asarray(touch.sensor_outputs[part], float)
            if output.shape[1] == 3:
                source = WORLD if touch.touch_type.endswith(GLOBAL) else self.frame(part)
                output = frame.rotate(output, source)
            outputs.append(output)
        sensors = vars(self.sensors(parts, frame))
        return Readings(**sensors, outputs=np.concatenate(outputs), quantity=quantity(touch.touch_type))

    def contact_points(self, parts: Sequence[int], frame: Frame) -> np.ndarray:
        """Return the current contact points on the specified parts (k, 3) [m], transformed to ``frame``."""
        if not parts:
            return np.empty((0, 3))
        points = [
            frame.transform(self.touch.get_contact_position_relative(contact, part)[None], self.frame(part))
            for contact, part, _ in self.touch.get_contacts()
            if part in parts
        ]
        return np.concatenate([np.empty((0, 3)), *points])

    def limit(self, part: int) -> float:
        """Return the largest absolute coordinate that plots of this part show [m]; infinite by default."""
        return float(getattr(self.touch, "plotting_limits", {}).get(part, np.inf))


def quantity(touch_type: str) -> str:
    """Return the name and unit of the quantity that a touch function measures.

    Args:
        touch_type: Name of the touch function, such as ``force_vector_global``.

    Returns:
        The name and the unit, such as ``force [N]``; only the name if the touch function is not built in.
    """
    words = touch_type.removesuffix(GLOBAL).removesuffix("_vector").replace("_", " ")
    known = TOUCH_FUNCTIONS.get(touch_type)
    return f"{words} [{known.unit}]" if known else words


def _surface(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Estimate the normal of the surface at each point, and the distance to the nearest other point.

    A normal is perpendicular to the plane that fits a point's neighbors best, and points away from the
    centroid of all points. With fewer than `NEIGHBORS` points, it is the direction from the centroid.

    Args:
        positions: (n, 3) points on the surface [m].

    Returns:
        normals: (n, 3) outward unit normals.
        spacings: (n,) distances [m]. With `NEIGHBORS` or more points, all have the median distance.
    """
    outward = positions - positions.mean(axis=0)
    if len(positions) < NEIGHBORS:
        normals = outward / np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-12)
        apart = cKDTree(positions).query(positions, 2)[0][:, 1] if len(positions) > 1 else np.zeros(1)
        return normals, apart
    distances, near = cKDTree(positions).query(positions, NEIGHBORS)
    spread = positions[near] - positions[near].mean(axis=1, keepdims=True)
    normals = np.linalg.eigh(np.einsum("nki,nkj->nij", spread, spread))[1][:, :, 0]
    normals *= np.where(np.einsum("ni,ni->n", normals, outward) < 0, -1.0, 1.0)[:, None]
    return normals, np.full(len(positions), np.median(distances[:, 1]))


def _find(word, number, name, names, look_up):  # type: ignore[no-untyped-def]
    if number is None and name is None:
        raise SceneError(f"{word}: missing; pass {word}_id or {word}_name{suggest('', names)}")
    if number is None:
        return look_up(name)
    return whole(f"{word}_id", number, 0, len(names) - 1, SceneError)


def _frame(name: str, position: np.ndarray, rotation: np.ndarray) -> Frame:
    if not rotation.any():
        raise SceneError("no poses yet; call mujoco.mj_forward(model, data) first")
    return Frame(name, position.copy(), rotation.reshape(3, 3).copy())
