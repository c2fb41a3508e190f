"""What a touch object holds of some bodies or geoms, as arrays in one frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.errors import SceneError, suggest
from tactile_sim.names import Names
from tactile_sim.skin import TOUCH_FUNCTIONS

GLOBAL = "_global"
"""A touch function whose name ends so tells vectors in the world frame, any other in its part's."""
NEIGHBOURS = 9
"""So many points, itself among them, tell how the surface lies around one."""


class Frame(NamedTuple):
    """A pose in the world, and whose it is."""

    name: str
    position: np.ndarray
    """(3,) [m]."""
    rotation: np.ndarray
    """(3, 3)."""

    def bring(self, points: np.ndarray, source: Frame) -> np.ndarray:
        """Points (n, 3) [m] of another frame in this one."""
        return (points @ source.rotation.T + source.position - self.position) @ self.rotation

    def turn(self, vectors: np.ndarray, source: Frame) -> np.ndarray:
        """Vectors (n, 3) of another frame in this one."""
        return vectors @ source.rotation.T @ self.rotation


WORLD = Frame("world", np.zeros(3), np.eye(3))


@dataclass(frozen=True)
class Sensors:
    """n sensors in one frame."""

    positions: np.ndarray
    """(n, 3) [m]."""
    normals: np.ndarray
    """(n, 3) how the surface roughly lies there, outward, unit."""
    spacing: np.ndarray
    """(n,) about how far their neighbours are [m]; 0 for a sensor that is alone on its part."""


@dataclass(frozen=True)
class Sensed(Sensors):
    """n sensors and what they feel, in one frame."""

    outputs: np.ndarray
    """(n, channels); three channels are a vector."""
    quantity: str
    """What the outputs are, with the unit."""

    @property
    def magnitude(self) -> np.ndarray:
        """(n,) the output where it is a scalar, else its length."""
        return self.outputs[:, 0] if self.outputs.shape[1] == 1 else np.linalg.norm(self.outputs, axis=1)

    @property
    def felt(self) -> np.ndarray:
        """(k,) indices of the sensors that feel something, the least first."""
        strength = np.abs(self.magnitude)
        order = np.argsort(strength, kind="stable")
        return order[strength[order] > 0]


class Parts:
    """The parts of a touch object that have sensors: geoms of a DiscreteTouch, bodies of a TrimeshTouch."""

    def __init__(self, touch: Any) -> None:
        self.touch = touch
        self.names = Names(touch.m_model)
        self.are_geoms = hasattr(touch, "sensing_geoms")

    # -- which: each raises SceneError where there is no such thing, or it has no sensors ------------------

    def geom(self, number: int | None, name: str | None) -> int:
        """Id of a geom with sensors, by id, else by name."""
        if not self.are_geoms:
            raise SceneError(
                f"the sensors of a {type(self.touch).__name__} are on bodies, not on geoms: plot the body"
            )
        geom = _find("geom", number, name, self.names.geoms, self.names.geom_id)
        if geom not in self.touch.sensor_positions:
            sensing = [self.names.geoms[other] for other in self.touch.sensor_positions]
            raise SceneError(f"geom {self.names.geoms[geom]!r} has no sensors{suggest('', sensing)}")
        return geom

    def body(self, number: int | None, name: str | None) -> int:
        """Id of a body, with or without sensors, by id, else by name."""
        return _find("body", number, name, self.names.bodies, self.names.body_id)

    def subtree(self, root: int) -> list[int]:
        """Ids of a body and of all that hang on it."""
        inside = np.zeros(self.touch.m_model.nbody, bool)
        for body, parent in enumerate(self.touch.m_model.body_parentid):
            inside[body] = body == root or inside[parent]
        return np.flatnonzero(inside).tolist()

    def of(self, bodies: Iterable[int], whose: str) -> list[int]:
        """The parts of these bodies, body after body; an error says whose there are none."""
        parts = sorted(self.touch.sensor_positions)
        body_of = {
            part: int(self.touch.m_model.geom_bodyid[part]) if self.are_geoms else part for part in parts
        }
        found = [part for body in bodies for part in parts if body_of[part] == body]
        if not found:
            sensing = {self.names.bodies[body] for body in body_of.values()}
            raise SceneError(f"{whose} has no sensors{suggest('', sensing)}")
        return found

    # -- where, and what they feel ---------------------------------------------------------------------------

    def body_frame(self, body: int) -> Frame:
        """Where a body is now."""
        data = self.touch.m_data
        return _frame(self.names.bodies[body], data.xpos[body], data.xmat[body])

    def frame(self, part: int) -> Frame:
        """The frame of a part's sensors: that body, or that geom, where it is now."""
        if not self.are_geoms:
            return self.body_frame(part)
        data = self.touch.m_data
        return _frame(self.names.geoms[part], data.geom_xpos[part], data.geom_xmat[part])

    def sensors(self, parts: Sequence[int], frame: Frame) -> Sensors:
        """The sensors of these parts."""
        clouds = []
        for part in parts:
            positions = frame.bring(np.asarray(self.touch.sensor_positions[part], float), self.frame(part))
            clouds.append((positions, *_surface(positions)))
        return Sensors(*(np.concatenate(arrays) for arrays in zip(*clouds, strict=True)))

    def sensed(self, parts: Sequence[int], frame: Frame) -> Sensed:
        """The same, and what they feel. Raises SceneError before anything was sensed."""
        touch, outputs = self.touch, []
        for part in parts:
            if part not in touch.sensor_outputs:
                raise SceneError("nothing has been sensed yet: call get_touch_obs() first")
            output = np.asarray(touch.sensor_outputs[part], float)
            if output.shape[1] == 3:
                source = WORLD if touch.touch_type.endswith(GLOBAL) else self.frame(part)
                output = frame.turn(output, source)
            outputs.append(output)
        sensors = vars(self.sensors(parts, frame))
        return Sensed(**sensors, outputs=np.concatenate(outputs), quantity=quantity(touch.touch_type))

    def contact_points(self, parts: Sequence[int], frame: Frame) -> np.ndarray:
        """(k, 3) where contacts act on the surfaces of these parts now [m], in a frame."""
        if not parts:
            return np.empty((0, 3))
        points = [
            frame.bring(self.touch.get_contact_position_relative(contact, part)[None], self.frame(part))
            for contact, part, _ in self.touch.get_contacts()
            if part in parts
        ]
        return np.concatenate([np.empty((0, 3)), *points])

    def limit(self, part: int) -> float:
        """How far the axes of a part's own plot reach at most [m]."""
        return float(getattr(self.touch, "plotting_limits", {}).get(part, np.inf))


def quantity(touch_type: str) -> str:
    """What a touch function tells, with its unit: ``"normal force [N]"``."""
    words = touch_type.removesuffix(GLOBAL).removesuffix("_vector").replace("_", " ")
    known = TOUCH_FUNCTIONS.get(touch_type)
    return f"{words} [{known.unit}]" if known else words


def _surface(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normals (n, 3) and spacing (n,) of points (n, 3) over one surface.

    A normal stands on the plane that fits a point's neighbours best, and points away from the middle of all.
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
        raise SceneError(f"which {word}? Give {word}_id or {word}_name{suggest('', names)}")
    if number is None:
        return look_up(name)
    if not 0 <= number < len(names):
        raise SceneError(f"there is no {word} {number}: the scene has 0 to {len(names) - 1}")
    return int(number)


def _frame(name: str, position: np.ndarray, rotation: np.ndarray) -> Frame:
    if not rotation.any():
        raise SceneError("the scene has no poses yet: call mujoco.mj_forward(model, data) first")
    return Frame(name, position.copy(), rotation.reshape(3, 3).copy())
