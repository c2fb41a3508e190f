"""Render the scene in a bag with a MuJoCo model that is built from scene_markers and posed by transforms."""

from __future__ import annotations

import warnings
from typing import Any

import mujoco
import numpy as np

from tactile_sim.bag.messages import CUBE, CYLINDER, SPHERE, TRIANGLES
from tactile_sim.common.errors import BagError
from tactile_sim.common.frames import to_wxyz
from tactile_sim.figures.colors import FRICTION, NORMAL_FORCE
from tactile_sim.figures.messages import Poses

NEAR = 2.0
"""Distance from the center of the skin's bounding box within which shapes are included, in box radii."""


class Spheres:
    """Bounding spheres of m scene markers."""

    def __init__(self, markers: Any) -> None:
        self.frames = list(markers.header.frame_id)
        self._own = np.asarray(markers.pose.position, np.float64)
        self.radii = np.array([_reach(markers, number) for number in range(len(self.frames))])
        """Radius of each sphere (m,) [m]."""

    def centers(self, poses: Poses) -> np.ndarray:
        """Return the centers (m, 3) of the spheres in the world [m], from the poses of their frames."""
        positions, rotations = poses.of(self.frames)
        return positions + np.einsum("mij,mj->mi", rotations, self._own)


def _reach(markers: Any, number: int) -> float:
    """Return the radius of a marker's bounding sphere around the marker's position [m]."""
    if int(markers.type[number]) != TRIANGLES:
        return float(np.linalg.norm(markers.scale[number])) / 2
    points = np.asarray(markers.points[number], np.float64) * markers.scale[number]
    return float(np.linalg.norm(points, axis=1).max(initial=0.0))


def around(
    low: np.ndarray, high: np.ndarray, centers: np.ndarray, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Extend a box to include nearby spheres that are smaller than the box.

    Args:
        low: Lower corner of the box (3,) [m].
        high: Upper corner of the box (3,) [m].
        centers: Centers of m spheres at t times (t, m, 3) [m].
        radii: Radii of the spheres (m,) [m].

    Returns:
        The lower and the upper corner of the extended box, each (3,) [m].
    """
    radius = np.linalg.norm(high - low) / 2
    apart = np.linalg.norm(centers - (low + high) / 2, axis=2)
    near = (apart + radii < NEAR * radius) & (radii < radius)  # (t, m)
    places, own = centers[near], np.broadcast_to(radii, near.shape)[near][:, None]
    return np.min([low, *(places - own)], axis=0), np.max([high, *(places + own)], axis=0)


NO_OPENGL = (
    "--video: requires OpenGL, but MuJoCo cannot initialize it; without a display: "
    "sudo apt install libegl1 libgl1-mesa-dri, then MUJOCO_GL=egl tactile_sim plot ..."
)
AZIMUTH, ELEVATION = 130.0, -22.0
"""Viewing direction of the camera [degrees]."""
ROOM = 1.15
"""Margin factor: size of the image relative to the region to show."""
ARROW_COLORS = np.array([(*NORMAL_FORCE, 255), (*FRICTION, 255)], np.float32) / 255.0
"""RGBA colors of normal forces and friction, as in the view."""
THROUGH = 0.6
"""Opacity of the arrows, which are drawn over the scene so that no object hides them."""
SKY = (0.62, 0.68, 0.75), (0.2, 0.23, 0.28)
MAX_ARROWS = 3000


class SceneRenderer:
    """Renders images of a scene.

    Args:
        markers: Columns (one array per field) of a MarkerArray.
        center: Center (3,) of the region to show [m].
        radius: Radius of the region to show [m].
        width: Width of the images [pixels].
        height: Height of the images [pixels].
    """

    def __init__(self, markers: Any, center: np.ndarray, radius: float, width: int, height: int) -> None:
        self.frames = sorted(set(markers.header.frame_id))
        spec = mujoco.MjSpec()
        spec.visual.headlight.ambient[:] = 0.3
        spec.visual.headlight.diffuse[:] = 0.4
        spec.visual.headlight.specular[:] = 0.1
        spec.visual.quality.shadowsize = 2048
        spec.visual.global_.offwidth, spec.visual.global_.offheight = width, height
        spec.stat.center, spec.stat.extent = center, 2 * radius
        sky = {"builtin": mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, "rgb1": SKY[0], "rgb2": SKY[1]}
        spec.add_texture(type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, width=256, height=1536, **sky)
        bodies = {frame: spec.worldbody.add_body(mocap=True) for frame in self.frames}
        for number, frame in enumerate(markers.header.frame_id):
            _add_geom(spec, bodies[frame], markers, number)
        above = center + radius * np.array([1.5, -1.0, 4.0])
        spec.worldbody.add_light(pos=above, dir=center - above, diffuse=[0.4] * 3, specular=[0.1] * 3)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.camera = mujoco.MjvCamera()
        self.camera.lookat[:] = center
        self.camera.azimuth, self.camera.elevation = AZIMUTH, ELEVATION
        self.camera.distance = ROOM * radius / np.sin(np.radians(self.model.vis.global_.fovy / 2))
        try:
            with warnings.catch_warnings(action="ignore"):  # suppress GLFW's warnings about the same error
                room = self.model.ngeom + MAX_ARROWS
                self._renderer = mujoco.Renderer(self.model, height, width, max_geom=room)
        except (mujoco.FatalError, ImportError, RuntimeError, AttributeError):
            raise BagError(NO_OPENGL) from None
        self._thickness = 0.015 * radius

    def render(self, poses: Poses, arrows: np.ndarray, kinds: np.ndarray) -> np.ndarray:
        """Render an image with force arrows.

        Args:
            poses: Transform tree.
            arrows: Start and end points of the arrows (k, 2, 3) [m].
            kinds: Index of each arrow's color in ARROW_COLORS (k,).

        Returns:
            The image (height, width, 3) uint8.
        """
        positions, rotations = poses.of(self.frames)
        for number, rotation in enumerate(rotations):
            mujoco.mju_mat2Quat(self.data.mocap_quat[number], rotation.ravel())
        self.data.mocap_pos[:] = positions
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        self._renderer.update_scene(self.data, self.camera)
        image = self._renderer.render()
        if not len(arrows):
            return image
        scene = self._renderer.scene
        scene.ngeom = 0
        scene.flags[mujoco.mjtRndFlag.mjRND_SKYBOX] = False
        self._add_arrows(scene, arrows[:MAX_ARROWS], kinds)
        alone = self._renderer.render()
        scene.flags[mujoco.mjtRndFlag.mjRND_SKYBOX] = True
        drawn = alone.any(axis=2)
        image[drawn] = (THROUGH * alone[drawn] + (1 - THROUGH) * image[drawn]).astype(np.uint8)
        return image

    def _add_arrows(self, scene: mujoco.MjvScene, arrows: np.ndarray, kinds: np.ndarray) -> None:
        arrow, nothing = mujoco.mjtGeom.mjGEOM_ARROW, np.zeros(3)
        for (start, end), kind in zip(arrows, kinds, strict=False):
            geom = scene.geoms[scene.ngeom]
            mujoco.mjv_initGeom(geom, arrow, nothing, nothing, np.eye(3).ravel(), ARROW_COLORS[kind])
            mujoco.mjv_connector(geom, arrow, self._thickness, start, end)
            geom.emission = 0.5
            scene.ngeom += 1

    def close(self) -> None:
        """Release the OpenGL context."""
        self._renderer.close()


def _add_geom(spec: Any, body: Any, markers: Any, number: int) -> None:
    """Add one marker as a geom; unsupported marker types are skipped."""
    kind, scale = int(markers.type[number]), markers.scale[number]
    look = {
        "pos": markers.pose.position[number],
        "quat": to_wxyz(markers.pose.orientation[number]),
        "rgba": markers.color[number],
        "contype": 0,
        "conaffinity": 0,
    }
    geom = mujoco.mjtGeom
    if kind == CUBE:
        body.add_geom(type=geom.mjGEOM_BOX, size=scale / 2, **look)
    elif kind == SPHERE:
        body.add_geom(type=geom.mjGEOM_ELLIPSOID, size=scale / 2, **look)
    elif kind == CYLINDER:
        body.add_geom(type=geom.mjGEOM_CYLINDER, size=[scale[0] / 2, scale[2] / 2, 0], **look)
    elif kind == TRIANGLES:
        points = np.asarray(markers.points[number], np.float64) * scale
        vertices, faces = np.unique(points, axis=0, return_inverse=True)
        mesh = spec.add_mesh(name=f"mesh_{number}", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        mesh.uservert, mesh.userface = vertices.ravel(), faces.ravel()
        body.add_geom(type=geom.mjGEOM_MESH, meshname=mesh.name, **look)
