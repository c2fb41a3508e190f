"""Pictures of a simulation, drawn by MuJoCo without a window."""

from __future__ import annotations

import ctypes.util
import importlib
import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from tactile_sim.errors import TactileSimError

MAX_GEOMS = 5000
_AMBIENT, _DIFFUSE = 0.45, 0.55  # light from everywhere and from the camera
_WAYS = {"egl": "EGL", "osmesa": "OSMesa"}  # of making a context without a display, and their libraries


class RenderingError(TactileSimError):
    """No picture can be drawn on this machine."""


@dataclass(frozen=True)
class View:
    """Where a pinhole camera stands and what it sees."""

    position: np.ndarray
    """(3,) in the world [m]."""
    forward: np.ndarray
    """(3,) unit vector along which it looks."""
    up: np.ndarray
    """(3,) unit vector that points up in the picture."""
    bounds: tuple[float, float, float, float]
    """Left, right, bottom and top edge of the picture, counted to the right and up, at distance 1."""
    near: float
    """Nothing nearer is drawn [m]."""
    far: float
    """Nothing farther is drawn [m]."""


class Renderer:
    """Draws one model. What it needs of OpenGL is made with the first picture, and for larger ones anew."""

    def __init__(self, model: mujoco.MjModel):
        self._model = model
        model.vis.headlight.ambient[:] = _AMBIENT
        model.vis.headlight.diffuse[:] = _DIFFUSE
        model.vis.headlight.specular[:] = 0.0
        self._data = mujoco.MjData(model)
        self._scene = mujoco.MjvScene(model, MAX_GEOMS)
        self._option = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        self._size = (0, 0)
        self._gl: Any = None
        self._context: Any = None
        self._release: Callable[[], object] = lambda: None

    def image(self, data: mujoco.MjData, view: View, width: int, height: int) -> np.ndarray:
        """The picture of the state of ``data``: uint8 (height, width, 3), red, green, blue, from the top.

        Raises:
            RenderingError: this machine has no OpenGL that draws without a window.
        """
        self._make_room(width, height)
        self._gl.make_current()
        self._take(data)
        mujoco.mjv_updateScene(
            self._model,
            self._data,
            self._option,
            None,
            self._camera,
            mujoco.mjtCatBit.mjCAT_ALL,
            self._scene,
        )
        for eye in self._scene.camera:  # two eyes at one place are one camera
            _point(eye, view)
        for light in self._scene.lights[: self._scene.nlight]:
            if light.headlight:
                light.pos, light.dir = view.position, view.forward
        rectangle = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(rectangle, self._scene, self._context)
        out = np.empty((height, width, 3), np.uint8)
        mujoco.mjr_readPixels(out, None, rectangle, self._context)
        return out[::-1]

    def close(self) -> None:
        """Gives back what OpenGL holds; the next picture makes it anew."""
        self._release()
        self._size = (0, 0)

    def _take(self, data: mujoco.MjData) -> None:
        """Poses of the state as it is now: those in ``data`` may be of the step before."""
        self._data.qpos[:] = data.qpos
        self._data.mocap_pos[:] = data.mocap_pos
        self._data.mocap_quat[:] = data.mocap_quat
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)

    def _make_room(self, width: int, height: int) -> None:
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
        except mujoco.FatalError as error:  # glfw without a display, for example
            raise _cannot_draw(str(error)) from None
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        release = weakref.finalize(self, _free, self._gl, self._context)
        release.atexit = False  # MuJoCo's binding of OpenGL has gone by then
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
    """An OpenGL context: of the kind that ``MUJOCO_GL`` names, else the first that can be made."""
    wanted = os.environ.get("MUJOCO_GL", "").lower()
    problems = []
    for way in (wanted,) if wanted in (*_WAYS, "glfw") else _WAYS:
        # The binding of one that is not there would keep the next from being loaded.
        if way != wanted and ctypes.util.find_library(_WAYS[way]) is None:
            problems.append(f"{way}: no lib{_WAYS[way]}")
            continue
        try:
            return importlib.import_module(f"mujoco.{way}").GLContext(width, height)
        except Exception as error:  # each binding has errors of its own
            problems.append(f"{way}: {' '.join(str(error).split()) or type(error).__name__}")
    raise _cannot_draw("; ".join(problems))


def _cannot_draw(problem: str) -> RenderingError:
    return RenderingError(
        f"camera images need OpenGL, and none draws without a window here ({problem}): install libegl1 or"
        " libosmesa6, MUJOCO_GL=egl or osmesa chooses one"
    )
