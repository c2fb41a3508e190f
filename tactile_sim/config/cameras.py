"""Declare the keys ``cameras.NAME.*`` and match them with the bodies and cameras of a scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from tactile_sim.config.topics import check_topics
from tactile_sim.errors import ConfigError, ErrorList, suggest
from tactile_sim.frames import to_wxyz
from tactile_sim.registry import engine_plugin
from tactile_sim.scenes.camera import (
    TURN,
    Camera,
    bounds_of_camera,
    bounds_of_fovy,
    clipping_planes,
    pinhole_matrix,
)
from tactile_sim.schema import SLOWEST, Flag, Integers, Number, Numbers, Text, checks, parameter

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings
    from tactile_sim.names import Names

DEFAULT_SIZE, LARGEST_SIZE = (640, 480), 4096
_OF_BODY = ("position", "orientation", "fovy")
"""Keys that require the key ``body``."""


@dataclass(frozen=True)
class CameraSettings:
    """``cameras.NAME``: a camera whose images are published."""

    camera: str | None = parameter(
        Text(filled=True),
        "camera of the scene, or of the TriFinger platform: `camera60`, `camera180`, `camera300`",
        None,
    )
    body: str | None = parameter(Text(filled=True), "without `camera`: body that carries the camera", None)
    position: tuple[float, ...] = parameter(
        Numbers(Number(most=1e6, unit="m"), (3,)), "position of the camera on its body [m]", (0.0, 0.0, 0.0)
    )
    orientation: tuple[float, ...] = parameter(
        Numbers(lengths=(4,)),
        "orientation of the optical frame (x right, y down, z forward) on the body, quaternion x y z w",
        (0.0, 0.0, 0.0, 1.0),
    )
    fovy: float = parameter(Number(above=0, most=179), "with `body`: vertical field of view [degrees]", 45.0)
    size: tuple[int, ...] | None = parameter(
        Integers(1),
        "width and height of the images [pixels]; default: resolution of the scene's camera, or 640 x 480",
        None,
    )
    rate: float | None = parameter(
        Number(above=0, unit="Hz", smallest=SLOWEST),
        "rate of the images [Hz of simulation time], at most one per step; default `rates.images`",
        None,
    )
    depth: bool = parameter(Flag(), "whether depth images are published, too", False)


CAMERA = checks(CameraSettings)
"""For each key of a camera, the function that checks its value."""


def fault_of_camera(entry: Mapping[str, Any]) -> str | None:
    """Return an error message if a camera's keys are incomplete or inconsistent, or else None."""
    if ("camera" in entry) == ("body" in entry):
        return "must have either a camera of the scene, such as camera: front, or a body, such as body: palm"
    if extra := next((key for key in _OF_BODY if key in entry and "camera" in entry), None):
        return f"{extra}: belongs to a body; the camera of the scene has its own"
    if not any(entry.get("orientation", (1,))):
        return "orientation: a quaternion must not be zero; no rotation is [0, 0, 0, 1]"
    size = entry.get("size", DEFAULT_SIZE)
    if len(size) != 2 or max(size) > LARGEST_SIZE:
        return f"size: must be a width and a height of at most {LARGEST_SIZE} pixels, got {list(size)}"
    return None


def resolve_cameras(settings: Settings, model: mujoco.MjModel, names: Names) -> dict[str, Camera]:
    """Return the cameras of a configuration by name.

    Args:
        settings: Configuration with the table ``cameras``.
        model: Compiled scene.
        names: Names of the scene's elements.

    Raises:
        ConfigError: A body or camera is unknown or cannot be used, or two cameras would share a topic.
        ConfigErrors: There are several such errors.
    """
    found, errors = {}, ErrorList()
    for name in settings.cameras:
        with errors.collect():
            found[name] = _camera(name, settings, model, names)
    with errors.collect():
        check_topics(settings.cameras, f"{settings.source}: cameras", "cameras", "rename one")
    errors.check()
    return found


def _camera(name: str, settings: Settings, model: mujoco.MjModel, names: Names) -> Camera:
    keys, where = CameraSettings(**settings.cameras[name]), f"{settings.source}: cameras.{name}"
    if keys.body is not None:
        if keys.body not in names.bodies:
            raise ConfigError(f"{where}.body: no body {keys.body!r}{suggest(keys.body, names.bodies)}")
        width, height = keys.size or DEFAULT_SIZE
        bounds = bounds_of_fovy(keys.fovy, width, height)
        body, position = names.bodies.index(keys.body), np.array(keys.position)
        quaternion = to_wxyz(np.array(keys.orientation) / np.linalg.norm(keys.orientation))
    else:
        assert keys.camera is not None
        own: Mapping[str, Camera] = engine_plugin(settings.engine).cameras(settings.engine_settings)
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, keys.camera)
        if number < 0 and keys.camera in own:
            calibrated = own[keys.camera]
            if keys.size not in (None, (calibrated.width, calibrated.height)):
                size = f"[{calibrated.width}, {calibrated.height}]"
                raise ConfigError(f"{where}.size: is {size} by the calibration; leave the key out")
            return dataclasses.replace(calibrated, name=name, rate=keys.rate, depth=keys.depth)
        if number < 0:
            known = [model.camera(k).name for k in range(model.ncam)] + list(own)
            raise ConfigError(
                f"{where}.camera: the scene has no camera {keys.camera!r}{suggest(keys.camera, known)};"
                " or give body, position and orientation"
            )
        _check_camera(model, number, f"{where}.camera")
        resolution = tuple(model.cam_resolution[number].tolist())
        width, height = keys.size or (resolution if min(resolution) > 1 else DEFAULT_SIZE)
        bounds = bounds_of_camera(model, number, width, height)
        body, position = int(model.cam_bodyid[number]), model.cam_pos[number].copy()
        quaternion = np.empty(4)
        mujoco.mju_mulQuat(quaternion, model.cam_quat[number], TURN)
    matrix = pinhole_matrix(bounds, width, height)
    planes = clipping_planes(model)
    return Camera(
        name, body, position, quaternion, width, height, matrix, *planes, np.zeros(5), keys.rate, keys.depth
    )


def _check_camera(model: mujoco.MjModel, camera: int, where: str) -> None:
    """Check that a camera of a scene is fixed to its body and has a perspective projection."""
    mode = mujoco.mjtCamLight(model.cam_mode[camera])
    if mode != mujoco.mjtCamLight.mjCAMLIGHT_FIXED:
        word = mode.name.removeprefix("mjCAMLIGHT_").lower()
        raise ConfigError(
            f"{where}: must be fixed to its body, got mode {word!r} of {model.camera(camera).name!r};"
            " set mode: fixed, or give body, position and orientation"
        )
    if model.cam_projection[camera] != mujoco.mjtProjection.mjPROJ_PERSPECTIVE:
        raise ConfigError(
            f"{where}: must have a perspective projection, got {model.camera(camera).name!r} with another"
        )
