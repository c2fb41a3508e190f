"""Draw the scene in the browser: bodies with their shapes, taxels and feelers."""

from __future__ import annotations

from itertools import count
from typing import Any, Literal, Protocol

import numpy as np
import trimesh
from viser import FrameHandle, MeshHandle, SceneNodeDragEvent, ViserServer

from tactile_sim.view.content import Shape, ViewFrame, ViewScene
from tactile_sim.view.scene.colors import dark_color
from tactile_sim.view.scene.feeler_lines import FeelerLines
from tactile_sim.view.scene.skin_layer import SkinLayer
from tactile_sim.view.scene.viewpoint import MAX_OBJECT_SIZE

TRANSPARENT = 0.15
"""Opacity of transparent shapes."""
SHARP = np.radians(35.0)
"""Angle between two faces above which their common edge is drawn sharp [rad]."""
TABLE_SIZE = 0.5
"""Size of a sheet that is a table, not a part of an object [m]."""
THIN = 0.015
"""Ratio of thickness to longest side below which a shape counts as a sheet."""
MIN_MOTION = 1e-6
"""Smallest change of a position [m] or quaternion component that is sent to browsers."""
DRAG_KEY: Literal["cmd/ctrl"] = "cmd/ctrl"
"""Modifier key with which a drag acts on the body instead of the camera, as in MuJoCo's simulate."""


class PointerHandler(Protocol):
    """Receives clicks on bodies and drags of bodies."""

    def on_click(self, body: int, client: int, origin: np.ndarray, direction: np.ndarray) -> None:
        """Handle a click.

        Args:
            body: Index into ``ViewScene.bodies``.
            client: Id of the browser.
            origin: Origin of the view ray (3,), world frame [m].
            direction: Direction of the view ray (3,), world frame.
        """

    def on_drag(self, body: int, client: int, phase: str, start: np.ndarray, end: np.ndarray) -> None:
        """Handle a drag.

        Args:
            body: Index into ``ViewScene.bodies``.
            client: Id of the browser.
            phase: ``start``, ``update`` or ``end``.
            start: Point at which the body was grabbed (3,), world frame [m].
            end: Current point under the pointer (3,), world frame [m].
        """


class BrowserScene:
    """Draws the bodies in a scene. Only changes are sent to browsers.

    Attributes:
        frames: viser's node for each body with shapes, skin or feelers, keyed by body index.
        skin: Layer that draws the taxels.
        feelers: Layer that draws the feelers.
    """

    def __init__(self, server: ViserServer, scene: ViewScene, pointer: PointerHandler | None):
        self._api, self._scene = server.scene, scene
        self._pointer = pointer
        self._is_dark, self._is_transparent = True, False
        self.frames: dict[int, FrameHandle] = {}
        self._meshes: dict[int, MeshHandle] = {}
        """Mesh of each shape, keyed by the index of the shape."""
        self._numbers = count()
        """Numbers for the names of the meshes."""
        self.set_bodies(scene)
        self.skin = SkinLayer(self._api, scene, self.frames)
        self.feelers = FeelerLines(self._api, scene, self.frames)

    def set_bodies(self, scene: ViewScene) -> None:
        """Draw the bodies and shapes of a scene. Those that are already drawn stay.

        Args:
            scene: Constant content of the view. Its skin and feelers must be those of the previous scene.
        """
        names = _node_names(scene.bodies)
        drawn = {handle.name: handle for handle in self.frames.values()}
        meshes = {_identity(self._scene, k): mesh for k, mesh in self._meshes.items()} if drawn else {}
        used = {shape.body for shape in scene.shapes}
        used |= {*_ints(scene.skin_bodies), *_ints(scene.feeler_bodies)}
        kept = {_identity(scene, k) for k in range(len(scene.shapes))}
        for identity in meshes.keys() - kept:
            meshes[identity].remove()
        for name in drawn.keys() - {names[body] for body in used}:
            drawn[name].remove()
        self._scene, self._names = scene, names
        self._poses = np.full((len(scene.bodies), 7), np.inf)
        self.frames = {
            body: drawn.get(names[body]) or self._api.add_frame(names[body], show_axes=False)
            for body in sorted(used)
        }
        self._meshes = {
            k: meshes.get(_identity(scene, k)) or self._add_mesh(shape)
            for k, shape in enumerate(scene.shapes)
        }
        self.set_dark(self._is_dark)
        self.set_transparent(self._is_transparent)

    def _add_mesh(self, shape: Shape) -> MeshHandle:
        smooth = trimesh.graph.smooth_shade(trimesh.Trimesh(shape.vertices, shape.faces), angle=SHARP)
        red, green, blue = (float(part) for part in shape.color[:3])
        mesh = self._api.add_mesh_simple(
            f"{self._names[shape.body]}/shape_{next(self._numbers)}",
            np.asarray(smooth.vertices),
            np.asarray(smooth.faces),
            color=(red, green, blue),
            opacity=_opacity(shape),
            cast_shadow=not _is_ground(shape),  # a ground would cast its shadow on itself
        )
        if self._pointer is not None:
            self._listen(mesh, shape.body, self._pointer)
        return mesh

    @staticmethod
    def _listen(mesh: MeshHandle, body: int, pointer: PointerHandler) -> None:
        mesh.on_click(
            lambda event: pointer.on_click(
                body, event.client_id, np.array(event.ray_origin), np.array(event.ray_direction)
            )
        )

        async def on_drag(event: SceneNodeDragEvent) -> None:  # async callbacks run in order
            start, end = np.array(event.start_position), np.array(event.end_position)
            pointer.on_drag(body, event.client_id, event.phase, start, end)

        mesh.on_drag("left", modifier=DRAG_KEY)(on_drag)

    def draw(self, frame: ViewFrame, logarithmic: bool) -> None:
        """Draw the poses and readings that a view frame contains.

        Args:
            frame: Frame to draw.
            logarithmic: Whether the colour scale of the readings is logarithmic instead of linear.
        """
        self._draw_poses(frame)
        self.skin.draw(frame.readings, frame.valid, frame.taxel_scale, logarithmic)
        self.feelers.draw(frame.free_lengths)

    def _draw_poses(self, frame: ViewFrame) -> None:
        poses = np.concatenate([frame.body_positions, frame.body_quaternions], axis=1)
        moved = (np.abs(poses - self._poses) > MIN_MOTION).any(axis=1) & np.isfinite(poses).all(axis=1)
        self._poses[moved] = poses[moved]
        for body, handle in self.frames.items():
            if moved[body]:
                handle.position = poses[body, :3]
                handle.wxyz = poses[body, 3:]

    def set_transparent(self, transparent: bool) -> None:
        """Make all shapes transparent, which shows hidden taxels, or restore their opacity."""
        self._is_transparent = transparent
        for k, mesh in self._meshes.items():
            opacity = _opacity(self._scene.shapes[k])
            mesh.opacity = TRANSPARENT * (opacity or 1.0) if transparent else opacity

    def set_dark(self, dark: bool) -> None:
        """Darken shapes so that taxels in contact stand out, or restore their original colours."""
        self._is_dark = dark
        with_skin = set(_ints(self._scene.skin_bodies))
        for k, mesh in self._meshes.items():
            shape = self._scene.shapes[k]
            rgb = np.asarray(shape.color[:3], float)
            color = dark_color(rgb, shape.body in with_skin, _is_ground(shape)) if dark else rgb
            red, green, blue = (round(255.0 * float(part)) for part in color)
            mesh.color = red, green, blue


def _opacity(shape: Shape) -> float | None:
    """Return viser's opacity of a shape, None if it is opaque."""
    alpha = float(shape.color[3])
    return alpha if alpha < 1.0 else None


def _identity(scene: ViewScene, k: int) -> tuple[Any, ...]:
    """Return a key that is equal for equal shapes on bodies of the same index and name."""
    shape = scene.shapes[k]
    arrays = (shape.vertices, shape.faces, shape.color)
    return shape.body, scene.bodies[shape.body], shape.name, *(np.asarray(part).tobytes() for part in arrays)


def _is_ground(shape: Shape) -> bool:
    """Return whether a shape is a sheet of the world, a table, or too large to be an object."""
    sides = np.ptp(shape.vertices, axis=0)
    is_sheet = sides.min() < THIN * sides.max() and (shape.body == 0 or sides.max() > TABLE_SIZE)
    return bool(is_sheet or sides.max() > MAX_OBJECT_SIZE)


def _ints(values: np.ndarray) -> list[int]:
    return np.asarray(values, int).tolist()


def _node_names(bodies: tuple[str, ...]) -> list[str]:
    """Return unique node names. Slashes are replaced because they would create child nodes."""
    plain = [body.replace("/", "_") or "_" for body in bodies]
    return [f"/{name}" if plain.count(name) == 1 else f"/{name}_{k}" for k, name in enumerate(plain)]
