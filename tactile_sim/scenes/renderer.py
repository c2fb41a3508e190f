"""Render images offscreen with MuJoCo."""

from __future__ import annotations

import ctypes.util
import importlib
import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import mujoco
import numpy as np

from tactile_sim.common.errors import TactileSimError

MAX_GEOMS = 5000
MAX_SHADOWS, MAX_SAMPLES = 1024, 4
"""Largest width of shadow maps [pixels], and most samples per pixel.

Without a GPU, images with MuJoCo's default shadow maps of 4096 pixels take four times as long.
"""
_WITHOUT_DEPTH = [
    int(flag)
    for flag in (
        mujoco.mjtRndFlag.mjRND_SKYBOX,
        mujoco.mjtRndFlag.mjRND_HAZE,
        mujoco.mjtRndFlag.mjRND_SHADOW,
        mujoco.mjtRndFlag.mjRND_REFLECTION,
    )
]
"""Effects that are not needed for depth."""
_BACKENDS = {"egl": "EGL", "osmesa": "OSMesa"}  # backends that need no display, and their libraries


class RenderingError(TactileSimError):
    """Error for a machine that cannot render images."""


@dataclass(frozen=True)
class View:
    """Pose and frustum of a pinhole camera."""

    position: np.ndarray
    """(3,) position of the camera in the world [m]."""
    forward: np.ndarray
    """(3,) unit vector in the viewing direction, in the world frame."""
    up: np.ndarray
    """(3,) unit vector that points up in the image, in the world frame."""
    bounds: tuple[float, float, float, float]
    """Left, right, bottom and top bounds of the image on the plane at unit distance from the camera.

    Positive values are to the right of the optical axis or above it.
    """
    near: float
    """Distance from the camera to the near clipping plane [m]."""
    far: float
    """Distance from the camera to the far clipping plane [m]."""


class State(Protocol):
    """State from which a scene is drawn, such as an engine or MjData."""

    qpos: np.ndarray
    mocap_pos: np.ndarray
    mocap_quat: np.ndarray


class Renderer:
    """Offscreen renderer for one model.

    The OpenGL context is created for the first image, and again whenever a larger image is requested.
    """

    def __init__(self, model: mujoco.MjModel):
        self._model, quality = model, model.vis.quality
        quality.shadowsize = min(quality.shadowsize, MAX_SHADOWS)
        quality.offsamples = min(quality.offsamples, MAX_SAMPLES)
        self._has_sky = bool((model.tex_type == mujoco.mjtTexture.mjTEXTURE_SKYBOX).any())
        self._data = mujoco.MjData(model)
        self._scene = mujoco.MjvScene(model, MAX_GEOMS)
        self._option = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        self._size = (0, 0)
        self._gl: Any = None
        self._context: Any = None
        self._release: Callable[[], object] = lambda: None

    def set_state(self, state: State) -> None:
        """Compute the poses of a state, which `image` draws from then on."""
        # Poses in MjData may belong to the previous step.
        self._data.qpos[:] = state.qpos
        self._data.mocap_pos[:] = state.mocap_pos
        self._data.mocap_quat[:] = state.mocap_quat
        for compute in (
            mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_camlight, mujoco.mj_flex, mujoco.mj_tendon
        ):  # fmt: skip
            compute(self._model, self._data)

    def body_pose(self, body: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the position (3,) [m] and the rotation (3, 3) of a body in the world."""
        return self._data.xpos[body], self._data.xmat[body].reshape(3, 3)

    def image(
        self, view: View, width: int, height: int, with_depth: bool = False
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Render the state of the last `set_state`.

        Args:
            view: Pose and frustum of the camera.
            width: Width of the image [pixels].
            height: Height of the image [pixels].
            with_depth: Whether to return the depth.

        Returns:
            color: uint8 (height, width, 3), RGB, first row at the top.
            depth: float32 (height, width) distance along the optical axis [m], infinite where there is
                nothing; or None.
        """
        self._ensure_size(width, height)
        self._gl.make_current()
        mujoco.mjv_updateScene(
            self._model,
            self._data,
            self._option,
            None,
            self._camera,
            mujoco.mjtCatBit.mjCAT_ALL,
            self._scene,
        )
        for eye in self._scene.camera:  # equal cameras of both eyes give a monocular image
            _point(eye, view)
        for light in self._scene.lights[: self._scene.nlight]:
            if light.headlight:
                light.pos, light.dir = view.position, view.forward
        rectangle = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(rectangle, self._scene, self._context)
        color = np.empty((height, width, 3), np.uint8)
        mujoco.mjr_readPixels(color, None, rectangle, self._context)
        return color[::-1], self._depth(view, rectangle)[::-1] if with_depth else None

    def _depth(self, view: View, rectangle: mujoco.MjrRect) -> np.ndarray:
        """Return the depth of the scene that was rendered last, from the bottom to the top."""
        if self._has_sky:  # which is drawn as a box, in front of things that are farther away
            before = self._scene.flags.copy()
            self._scene.flags[_WITHOUT_DEPTH] = 0
            mujoco.mjr_render(rectangle, self._scene, self._context)
            self._scene.flags[:] = before
        buffer = np.empty((rectangle.height, rectangle.width), np.float32)
        mujoco.mjr_readPixels(None, buffer, rectangle, self._context)
        span = view.far - view.near  # the buffer is 1 at the near and 0 at the far clipping plane
        distance = view.near * view.far / span / (buffer.astype(float) + view.near / span)
        return np.where(buffer > 0.0, distance, np.inf).astype(np.float32)

    def close(self) -> None:
        """Release the OpenGL context. Rendering another image creates a new one."""
        self._release()
        self._size = (0, 0)

    def _ensure_size(self, width: int, height: int) -> None:
        if width <= self._size[0] and height <= self._size[1]:
            return
        size = (max(width, self._size[0]), max(height, self._size[1]))
        self.close()
        self._gl = _context(*size)
        self._gl.make_current()
        shown = self._model.vis.global_
        shown.offwidth, shown.offheight = size
        try:
            self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        except mujoco.FatalError as error:  # for example glfw without a display
            raise _cannot_draw(str(error)) from None
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        release = weakref.finalize(self, _free, self._gl, self._context)
        release.atexit = False  # MuJoCo's OpenGL binding no longer exists at exit
        self._release = release
        self._size = size


def _free(gl: Any, context: Any) -> None:
    gl.make_current()
    context.free()
    gl.free()


def _point(eye: Any, view: View) -> None:
    left, right, bottom, top = view.bounds
    eye.pos, eye.forward, eye.up = view.position, view.forward, view.up
    eye.frustum_near, eye.frustum_far = view.near, view.far
    eye.frustum_center = view.near * (left + right) / 2
    eye.frustum_width = view.near * (right - left) / 2
    eye.frustum_bottom, eye.frustum_top = view.near * bottom, view.near * top


def _context(width: int, height: int) -> Any:
    """Create an OpenGL context with the backend that the environment variable ``MUJOCO_GL`` selects.

    By default, the first backend that works is used.
    """
    wanted = os.environ.get("MUJOCO_GL", "").lower()
    problems = []
    for backend in (wanted,) if wanted in (*_BACKENDS, "glfw") else _BACKENDS:
        # Loading the binding of a missing library would prevent loading the next one.
        if backend != wanted and ctypes.util.find_library(_BACKENDS[backend]) is None:
            problems.append(f"{backend}: no lib{_BACKENDS[backend]}")
            continue
        try:
            return importlib.import_module(f"mujoco.{backend}").GLContext(width, height)
        except Exception as error:  # each binding raises its own errors
            problems.append(f"{backend}: {' '.join(str(error).split()) or type(error).__name__}")
    raise _cannot_draw("; ".join(problems))


def _cannot_draw(problem: str) -> RenderingError:
    return RenderingError(
        f"camera images: no OpenGL for offscreen rendering, got {problem}; install libegl1 or libosmesa6, and"
        " select one with MUJOCO_GL=egl or MUJOCO_GL=osmesa"
    )
