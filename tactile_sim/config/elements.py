"""Match the keys of cameras and built-in motion with the elements of a scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

import mujoco
import numpy as np

from tactile_sim.common.errors import ConfigError, ErrorList, located, suggest
from tactile_sim.common.frames import to_wxyz
from tactile_sim.common.names import Names
from tactile_sim.config.settings import DEFAULT_SIZE, CameraSettings, HardwarePad, HardwareSettings, Settings
from tactile_sim.config.skin import check_topics
from tactile_sim.engines.registry import engine_plugin
from tactile_sim.scenes.camera import (
    TURN,
    Camera,
    bounds_of_camera,
    bounds_of_fovy,
    clipping_planes,
    pinhole_matrix,
)


def resolve_cameras(settings: Settings, model: mujoco.MjModel, names: Names) -> dict[str, Camera]:
    """Return the cameras of a configuration by name."""
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


def check_keyframes(settings: Settings, names: Names) -> None:
    """Check that the keyframes of the built-in motion exist."""
    errors = ErrorList()
    for keyframe in settings.motion.keyframes:
        with errors.collect(), located(f"{settings.source}: motion.keyframes"):
            names.keyframe_id(keyframe)
    errors.check()


def check_joints(settings: Settings, joints: Collection[str]) -> None:
    """Check that the joints of all grippers exist."""
    errors = ErrorList()
    for name, keys in settings.grippers.items():
        for joint in keys.get("joints", ()):
            if joint not in joints:
                where = f"{settings.source}: grippers.{name}.joints"
                errors.add(ConfigError(f"{where}: no joint {joint!r}", near=(joint, joints)))
    errors.check()


def check_pad_names(hardware: HardwareSettings, pads: Collection[str], source: str) -> None:
    """Check the names of the pads that receive data from a sensor."""
    ErrorList(
        ConfigError(f"{source}: hardware.pads: the skin has no pad {name!r}{suggest(name, pads)}")
        for name in hardware.pads
        if name not in pads
    ).check()


def resolve_hardware(
    hardware: HardwareSettings, taxels: dict[str, int], source: str
) -> dict[str, HardwarePad]:
    """Check the settings of the pads that receive data from a sensor, and return them keyed by pad name."""
    if hardware.driver == "xela" and not hardware.address.startswith(("ws://", "wss://")):
        raise ConfigError(
            f"{source}: hardware.address: must begin with ws:// or wss://, got {hardware.address!r}"
        )
    where = f"{source}: hardware.pads"
    if not hardware.pads:
        raise ConfigError(
            f"{where}: is missing; name the pads and their sensors, for example left: {{sensor: 1}}"
        )
    check_pad_names(hardware, taxels, source)
    required, other = ("sensor", "topic") if hardware.driver == "xela" else ("topic", "sensor")
    pads = {}
    for name, given in hardware.pads.items():
        pad = HardwarePad(**given)
        if getattr(pad, required) is None:
            raise ConfigError(f"{where}.{name}.{required}: is required with driver {hardware.driver!r}")
        if getattr(pad, other) is not None or (pad.raw and hardware.driver != "xela"):
            key_name = other if getattr(pad, other) is not None else "raw"
            raise ConfigError(
                f"{where}.{name}.{key_name}: is not used with driver {hardware.driver!r}; remove it"
            )
        if not pad.scale:
            raise ConfigError(f"{where}.{name}.scale: must not be 0, since all readings would be 0")
        axes = pad.axes.split()
        if sorted(axis.removeprefix("-") for axis in axes) != ["x", "y", "z"]:
            raise ConfigError(
                f"{where}.{name}.axes: must have x, y and z once each, such as '-x y z', got {pad.axes!r}"
            )
        if pad.order and sorted(pad.order) != list(range(taxels[name])):
            raise ConfigError(
                f"{where}.{name}.order: must have each index from 0 to {taxels[name] - 1} once,"
                f" as the pad has {taxels[name]} taxels, got {list(pad.order)}"
            )
        pads[name] = pad
    inputs = [getattr(pad, required) for pad in pads.values()]
    if twice := [value for value in inputs if inputs.count(value) > 1]:
        raise ConfigError(f"{where}: two pads have {required} {twice[0]!r}; each pad needs its own")
    return pads
