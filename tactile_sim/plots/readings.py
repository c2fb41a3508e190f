"""Collect sensors and readings from a touch object as arrays, with all vectors in one frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.arguments import whole
from tactile_sim.errors import SceneError, suggest
from tactile_sim.names import Names
from tactile_sim.skin import TOUCH_FUNCTIONS

GLOBAL = "_global"
"""Name suffix of touch functions whose vectors are in the world frame instead of the body or geom frame."""
NEIGHBOURS = 9
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


@dataclass(frozen=True)
class Sensors:
    """Positions and normals of n sensors, all in one frame."""

    positions: np.ndarray
    """Positions of the sensors (n, 3) [m]."""
    normals: np.ndarray
    """Outward unit normals of the surface at the sensors, estimated from their positions (n, 3)."""
    spacing: np.ndarray
    """Approximate distance from each sensor to its nearest neighbour (n,) [m]; 0 for a single sensor."""


@dataclass(frozen=True)
class Readings(Sensors):
    """Positions, normals and readings of n sensors, all in one frame."""

    outputs: np.ndarray
    """Reading of each sensor (n, channels). With three channels, it is a vector."""
    quantity: str
    """Name and unit of the measured quantity, such as ``normal force [N]``."""

    @property
    def magnitude(self) -> np.ndarray:
        """Reading of each sensor if it is a scalar, or the length of its vector (n,)."""
        return self.outputs[:, 0] if self.outputs.shape[1] == 1 else np.linalg.norm(self.outputs, axis=1)

    @property
    def nonzero(self) -> np.ndarray:
        """Indices (k,) of the sensors with nonzero readings, in ascending order of absolute value."""
        strength = np.abs(self.magnitude)
        order = np.argsort(strength, kind="stable")
        return order[strength[order] > 0]


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

    A normal is perpendicular to the plane that fits a point's neighbours best, and points away from the
    centroid of all points. With fewer than `NEIGHBOURS` points, it is the direction from the centroid.

    Args:
        positions: (n, 3) points on the surface [m].

    Returns:
        normals: (n, 3) outward unit normals.
        spacings: (n,) distances [m]. With `NEIGHBOURS` or more points, all have the median distance.
    """
    outward = positions - positions.mean(axis=0)
    if len(positions) < NEIGHBOURS:
        normals = outward / np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-12)
        apart = cKDTree(positions).query(positions, 2)[0][:, 1] if len(positions) > 1 else np.zeros(1)
        return normals, apart
    distances, near = cKDTree(positions).query(positions, NEIGHBOURS)
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
