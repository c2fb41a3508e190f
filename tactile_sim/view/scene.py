"""Draw the scene in the browser: background, lights, and bodies with their shapes, taxels and feelers."""

from __future__ import annotations

from itertools import count
from typing import Any, Literal

import numpy as np
import trimesh
from viser import FrameHandle, MeshHandle, SceneApi, SceneNodeDragEvent, ViserServer

from tactile_sim.figures.colors import DARK_BODY
from tactile_sim.view.camera import MAX_OBJECT_SIZE
from tactile_sim.view.content import Shape, ViewFrame, ViewScene
from tactile_sim.view.markers import FeelerLines
from tactile_sim.view.probe import MIN_MOTION, Pointer
from tactile_sim.view.skin_layer import SkinLayer

STAGE = 0.2
"""Factor that darkens the color of large shapes and sheets."""
OBJECT, PALE = 0.4, 0.35
"""Darkening of shapes on bodies without skin, except large shapes and sheets.

The factor is ``OBJECT * (1 - PALE * brightness)``. Bright shapes are darkened more, because readings behind
them would have little contrast.
"""
SATURATION = 0.45
"""Share of the colorfulness that darkened shapes keep, because only readings are colorful."""
FLOOR = 0.12
"""Smallest brightness of darkened shapes on bodies without skin."""
DARKEST_GROUND = 0.33
"""Smallest brightness of large shapes and sheets, so that a black table does not look like a hole."""
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def dark_color(rgb: np.ndarray, has_skin: bool, is_ground: bool) -> tuple[float, float, float]:
    """Darken the color of a shape so that taxels in contact stand out.

    Args:
        rgb: Original color of the shape (3,), 0 to 1.
        has_skin: Whether the body has a skin. Such bodies are drawn gray.
        is_ground: Whether the shape is large or a sheet.
    """
    brightness = float(rgb @ _LUMINANCE)
    if has_skin:
        # Shapes on the same body remain distinguishable by their brightness.
        color = np.array(DARK_BODY) / 255.0 * (0.75 + 0.35 * brightness)
    else:
        rgb = brightness + SATURATION * (rgb - brightness)
        color = FLOOR + rgb * (STAGE if is_ground else OBJECT * (1.0 - PALE * brightness))
        if is_ground:
            color = color + max(0.0, DARKEST_GROUND - float(color @ _LUMINANCE))
    red, green, blue = np.clip(color, 0.0, 1.0).tolist()
    return red, green, blue


TOP_COLOR, BOTTOM_COLOR = (70, 78, 92), (26, 29, 36)
"""Background colors, which are darker than all readings."""
AMBIENT_INTENSITY = 2.8
"""Intensity of the light from all directions, which makes colors visible on all sides."""
OUTLINE_COLOR, OUTLINE_INTENSITY = (200, 220, 255), 1.2
"""Color and intensity of each light behind the scene. Its cold color does not occur in the color scale."""
OUTLINE_HEIGHT = 0.1
"""Height of these lights, relative to their horizontal distance. Low lights hardly light the ground."""


def add_stage(api: SceneApi) -> None:
    """Add the background and the light from all directions."""
    shade = np.linspace(TOP_COLOR, BOTTOM_COLOR, 128).round().astype(np.uint8)
    # viser's environment map is an image that must be loaded first; plain lights work immediately.
    api.configure_environment_map(None)
    api.add_light_hemisphere(
        "/sky", sky_color=(255, 255, 255), ground_color=(150, 145, 140), intensity=AMBIENT_INTENSITY
    )
    api.set_background_image(shade[:, None].repeat(2, axis=1), format="png")


def add_outline_lights(api: SceneApi, camera: np.ndarray, focus: np.ndarray) -> None:
    """Add two lights behind the scene, on the left and on the right as seen from the first camera.

    Args:
        api: Scene of the server.
        camera: Position of the camera (3,), world frame [m].
        focus: Point that the camera looks at (3,), world frame [m].
    """
    x, y = (focus - camera)[:2]
    distance = np.hypot(x, y)
    away = np.array([x, y]) / distance if distance > 0.0 else np.array([0.0, 1.0])  # it may look down
    for name, side in (("left", -1.0), ("right", 1.0)):
        horizontal = away + side * np.array([away[1], -away[0]])
        height = OUTLINE_HEIGHT * np.linalg.norm(horizontal)
        # The light shines from this position toward the origin.
        api.add_light_directional(
            f"/outline_{name}",
            color=OUTLINE_COLOR,
            intensity=OUTLINE_INTENSITY,
            position=(*horizontal.tolist(), float(height)),
        )


TRANSPARENT = 0.15
"""Opacity of transparent shapes."""
SHARP = np.radians(35.0)
"""Angle between two faces above which their common edge is drawn sharp [rad]."""
TABLE_SIZE = 0.5
"""Size of a sheet that is a table, not a part of an object [m]."""
THIN = 0.015
"""Ratio of thickness to longest side below which a shape counts as a sheet."""
DRAG_KEY: Literal["cmd/ctrl"] = "cmd/ctrl"
"""Modifier key with which a drag acts on the body instead of the camera, as in MuJoCo's simulate."""


class BrowserScene:
    """Draws the bodies in a scene. Only changes are sent to browsers.

    Attributes:
        frames: viser's node for each body with shapes, skin or feelers, keyed by body index.
        skin: Layer that draws the taxels.
        feelers: Layer that draws the feelers.
    """

    def __init__(self, server: ViserServer, scene: ViewScene, pointer: Pointer):
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
        """Draw the bodies and shapes of a scene. Those that are already drawn stay."""
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
        self._listen(mesh, shape.body, self._pointer)
        return mesh

    @staticmethod
    def _listen(mesh: MeshHandle, body: int, pointer: Pointer) -> None:
        mesh.on_click(
            lambda event: pointer.on_click(body, np.array(event.ray_origin), np.array(event.ray_direction))
        )

        async def on_drag(event: SceneNodeDragEvent) -> None:  # async callbacks run in order
            start, end = np.array(event.start_position), np.array(event.end_position)
            pointer.on_drag(body, event.client_id, event.phase, start, end)

        mesh.on_drag("left", modifier=DRAG_KEY)(on_drag)

    def draw(self, frame: ViewFrame, logarithmic: bool) -> None:
        """Draw the poses and readings that a view frame contains."""
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
        """Darken shapes so that taxels in contact stand out, or restore their original colors."""
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
