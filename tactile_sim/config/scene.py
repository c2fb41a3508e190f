"""Build the scene of a configuration: load it, and add robots, objects, sensors and servos."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from tactile_sim.config.composition import add_parts, check_objects, empty_scene, urdf_options
from tactile_sim.errors import ConfigError, EngineError, SceneError, TactileSimError
from tactile_sim.names import Names
from tactile_sim.registry import engine_plugin
from tactile_sim.scenes.loading import compiled, find_scene, is_urdf, load_robot
from tactile_sim.scenes.self_collision import limit_self_collision, overlap_warnings
from tactile_sim.scenes.sensor_layout import ALL_BITS
from tactile_sim.scenes.urdf import control_blocks, described_urdf

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings

_LOG = logging.getLogger("tactile_sim.config")


def configured_scene(
    settings: Settings, made: mujoco.MjSpec | mujoco.MjModel | None = None
) -> tuple[mujoco.MjSpec | None, mujoco.MjModel]:
    """Return a configuration's scene as a spec and as a compiled model.

    The spec is None if ``made`` is a compiled model. Deep overlaps in the initial pose are logged.

    Args:
        settings: Configuration that names or describes the scene.
        made: Scene built in Python, used instead of the scene file. A spec is copied, not modified.

    Raises:
        SceneError: The scene cannot be loaded or compiled.
        ConfigError: An element in the configuration, such as a contact sensor, does not fit the scene.
        EngineError: The engine cannot use a compiled model.
    """
    if isinstance(made, mujoco.MjModel):
        return None, _check_compiled(made, settings)
    plugin, where = engine_plugin(settings.engine), f"{settings.source}: {settings.engine}"
    if made is not None:
        spec = made.copy()
    else:
        spec = plugin.make_scene(settings.scene, settings.engine_settings, where)
        if spec is not None:
            return compiled(spec, Path(settings.scene), settings.source, settings.contact_sensors)
    path, modes = Path(settings.scene or settings.source), {}
    mode = settings.scene_options.self_collision
    if made is not None and mode in ("apart", "off"):
        limit_self_collision(spec, compiled(spec, path)[1], mode, path)
    if spec is None and settings.scene:
        options = urdf_options(settings)
        path = find_scene(settings.scene, settings.base, settings.source, options.package_paths)
        if options.floating_base and not is_urdf(path):
            raise ConfigError(
                f"{settings.source}: scene_options.floating_base: requires a URDF, got {path}; "
                "give the root body of the MJCF a <freejoint/>"
            )
        robot = load_robot(path, options)
        spec, modes = robot.spec, robot.modes
    elif spec is None:
        spec = empty_scene()
    modes = modes | add_parts(spec, settings)
    try:
        spec, model = compiled(spec, path, settings.source, settings.contact_sensors, settings.control, modes)
    except SceneError:
        check_objects(settings)
        raise
    for warning in overlap_warnings(model, Names(model)):
        _LOG.warning("%s: %s", path, warning)
    return spec, model


def _check_compiled(model: mujoco.MjModel, settings: Settings) -> mujoco.MjModel:
    """Check that a compiled model can be used with the settings without changes, and return it."""
    if engine_plugin(settings.engine).requires_spec:
        raise EngineError(
            f"{settings.source}: engine: {settings.engine!r} cannot use a compiled model; pass its MjSpec"
        )
    for key in ("contact_sensors", "control", "robots", "objects", "ground"):
        if getattr(settings, key):
            raise ConfigError(
                f"{settings.source}: {key}: cannot be added to a compiled model; pass its MjSpec"
            )
    if settings.scene_options.self_collision in ("apart", "off"):
        raise ConfigError(
            f"{settings.source}: scene_options.self_collision: cannot change a compiled model;"
            " pass its MjSpec"
        )
    contact = np.flatnonzero(model.sensor_type == mujoco.mjtSensor.mjSENS_CONTACT)
    partial = contact[(model.sensor_intprm[contact, 0] & ALL_BITS) != ALL_BITS]
    if len(partial):
        raise SceneError(
            f"{settings.scene}: contact sensor {model.sensor(partial[0]).name!r} does not record all data "
            "fields, and none can be added to a compiled model; pass its MjSpec"
        )
    return model


def robot_description(settings: Settings, model: mujoco.MjModel, names: Names) -> str:
    """Return the URDF of a scene, which is read from the scene's URDF file or generated from the model.

    A generated URDF contains the ``<ros2_control>`` elements of the URDF files in the scene.

    Args:
        settings: Configuration. The URDF file is used only if the scene contains nothing else.
        model: Compiled scene.
        names: Names of the scene's elements.
    """
    from tactile_sim.scenes.generated_urdf import generated_urdf  # trimesh is slow to import

    try:
        given = _given_urdfs(settings)
    except TactileSimError:  # a scene built in Python, or a file that was replaced after the start
        given = []
    if given and not settings.robots and not settings.objects:
        return given[0][1]
    urdf = generated_urdf(model, names, settings.world_frame)
    blocks = "".join(control_blocks(text, prefix) for prefix, text in given)
    return f"{urdf.removesuffix('</robot>')}{blocks}</robot>" if blocks else urdf


def _given_urdfs(settings: Settings) -> list[tuple[str, str]]:
    """Return the name prefix and the content of each URDF file in the scene.

    Raises:
        SceneError: A file cannot be read.
    """
    if settings.engine_settings:
        return []
    options, found = urdf_options(settings), []
    files = [("", settings.scene, "scene")] if settings.scene else []
    files += [
        (robot.get("prefix", ""), robot["file"], f"robots.{name}.file")
        for name, robot in settings.robots.items()
    ]
    for prefix, file, where in files:
        path = find_scene(file, settings.base, settings.source, options.package_paths, where)
        if is_urdf(path):
            found.append((prefix, described_urdf(path, path.read_text(encoding="utf-8-sig"), options)))
    return found
