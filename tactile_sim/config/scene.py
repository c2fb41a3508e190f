"""Build the scene of a configuration: load it, and add robots, objects, sensors and servos."""

from __future__ import annotations

import dataclasses
import logging
import os
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.common.errors import ConfigError, EngineError, ErrorList, SceneError, TactileSimError
from tactile_sim.common.files import of_address, similar_file
from tactile_sim.common.names import Names
from tactile_sim.config.settings import Settings
from tactile_sim.engines.registry import engine_plugin
from tactile_sim.scenes.contact_sensors import ALL_BITS
from tactile_sim.scenes.faults import ERRORS, reason_of, refusal, without_prefix_warning, without_qhull_report
from tactile_sim.scenes.loading import compiled, find_scene, huge_mesh, is_urdf, load_robot
from tactile_sim.scenes.meshes import convex_parts, mujoco_mesh, read_mesh
from tactile_sim.scenes.urdf import (
    UrdfOptions,
    control_blocks,
    described_urdf,
    limit_self_collision,
    overlap_warnings,
    set_contact_options,
)

_GEOM = mujoco.mjtGeom
_SHAPES = {
    "box": _GEOM.mjGEOM_BOX,
    "sphere": _GEOM.mjGEOM_SPHERE,
    "cylinder": _GEOM.mjGEOM_CYLINDER,
    "capsule": _GEOM.mjGEOM_CAPSULE,
    "ellipsoid": _GEOM.mjGEOM_ELLIPSOID,
}
GROUND = "ground"
"""Name of the geom of the floor."""


def urdf_options(settings: Settings) -> UrdfOptions:
    """Return a configuration's options for reading URDF files."""
    options = settings.scene_options
    base = settings.base or Path()
    paths = tuple(str(base / os.path.expanduser(path)) for path in settings.package_paths)
    return UrdfOptions(
        settings.strict_urdf, options.floating_base, options.self_collision, paths, settings.xacro
    )


def empty_scene() -> mujoco.MjSpec:
    """Return a scene without bodies, with an integrator and friction cones that suit contacts."""
    spec = mujoco.MjSpec()
    set_contact_options(spec)
    return spec


def add_parts(spec: mujoco.MjSpec, settings: Settings) -> dict[str, str]:
    """Add robots, objects and ground to a scene, and return the control mode of each robot joint by name."""
    if settings.scene_options.balance_inertia:
        spec.compiler.balanceinertia = True
    modes: dict[str, str] = {}
    errors = ErrorList()
    for name in settings.robots:
        with errors.collect():
            modes |= _add_robot(spec, name, settings)
    with errors.collect():
        _add_objects(spec, settings)
    errors.check()
    return modes


def _add_objects(spec: mujoco.MjSpec, settings: Settings) -> None:
    """Add the configured objects and the ground. The scene's default classes do not apply to them."""
    if not (settings.objects or settings.ground):
        return
    added, errors = mujoco.MjSpec(), ErrorList()
    for name in settings.objects:
        with errors.collect():
            if spec.body(name) is not None:
                raise ConfigError(
                    f"{settings.source}: objects.{name}: the scene has a body of that name already;"
                    " choose another"
                )
            _add_object(added, name, settings)
    errors.check()
    if settings.ground:
        if spec.geom(GROUND) is not None:
            raise ConfigError(
                f"{settings.source}: ground: the scene has a geom {GROUND!r}; leave the key out"
            )
        added.worldbody.add_geom(name=GROUND, type=_GEOM.mjGEOM_PLANE, size=[0.0, 0.0, 0.05])
        if not spec.lights:
            added.worldbody.add_light(pos=[0.0, 0.0, 3.0], type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL)
    with without_prefix_warning():
        spec.attach(added, prefix="", frame=spec.worldbody.add_frame())


def quaternion(orientation: tuple[float, ...]) -> np.ndarray:
    """Convert roll, pitch and yaw [rad] or a quaternion x, y, z, w to MuJoCo's quaternion w, x, y, z."""
    four = len(orientation) == 4
    rotation = Rotation.from_quat(orientation) if four else Rotation.from_euler("xyz", orientation)
    return np.roll(rotation.as_quat(), 1)


def _add_robot(spec: mujoco.MjSpec, name: str, settings: Settings) -> dict[str, str]:
    """Add a configured robot to a scene, and return the control modes of its joints, keyed by joint name."""
    robot, where = settings.robots[name], f"robots.{name}"
    options = urdf_options(settings)
    file = find_scene(robot["file"], settings.base, settings.source, options.package_paths, f"{where}.file")
    if "floating_base" in robot:
        options = dataclasses.replace(options, floating_base=robot["floating_base"])
        if robot["floating_base"] and not is_urdf(file):
            raise ConfigError(
                f"{settings.source}: {where}.floating_base: requires a URDF, got {file}; "
                "give the root body of the MJCF a <freejoint/>"
            )
    loaded = load_robot(file, options, part=True)
    child = loaded.spec
    prefix = robot.get("prefix", "")
    _check_names(spec, child, prefix, f"{settings.source}: {where}")
    frame = spec.worldbody.add_frame(
        pos=robot.get("position", np.zeros(3)), quat=quaternion(robot.get("orientation", (0.0, 0.0, 0.0)))
    )
    try:
        with without_prefix_warning():
            spec.attach(child, prefix=prefix, frame=frame)
    except ERRORS as error:
        raise refusal(file, error) from None
    return {prefix + joint: mode for joint, mode in loaded.modes.items()}


def _check_names(spec: mujoco.MjSpec, child: mujoco.MjSpec, prefix: str, where: str) -> None:
    """Check that the names of a robot's elements, with the prefix, do not exist in the scene yet."""
    for kind in ("bodies", "joints", "geoms", "actuators"):
        taken = {element.name for element in getattr(spec, kind) if element.name} - {"world"}
        for element in getattr(child, kind):
            if prefix + element.name in taken:
                raise ConfigError(
                    f"{where}.prefix: the scene already has the name {prefix + element.name!r}; "
                    "give each robot a prefix, such as left_"
                )


def _add_object(spec: mujoco.MjSpec, name: str, settings: Settings) -> None:
    entry = settings.objects[name]
    body = spec.worldbody.add_body(
        name=name,
        pos=entry.get("position", np.zeros(3)),
        quat=quaternion(entry.get("orientation", (0.0, 0.0, 0.0))),
    )
    if not entry.get("fixed", False):
        body.add_freejoint()
    geoms = _mesh_geoms(spec, body, name, settings) if "file" in entry else [(_shape_geom(body, entry), 1.0)]
    friction = entry.get("friction")
    for geom, fraction in geoms:
        if "mass" in entry:
            geom.mass = entry["mass"] * fraction
        if friction is not None:
            geom.friction[0] = friction


def check_objects(settings: Settings) -> None:
    """Compile each object alone, to find out whether one of them is the reason why the scene is rejected."""
    errors = ErrorList()
    for name in settings.objects:
        with errors.collect():
            _check_object(name, settings)
    errors.check()


def _check_object(name: str, settings: Settings) -> None:
    entry, spec = settings.objects[name], empty_scene()
    _add_object(spec, name, settings)
    where = f"{settings.source}: objects.{name}"
    file = _mesh_path(entry["file"], settings, where) if "file" in entry else None
    try:
        with without_qhull_report():
            reason = huge_mesh(spec.compile())
    except ERRORS as error:
        reason = reason_of(error)
        if "mjMINVAL" in reason:
            raise SceneError(_too_light(entry, file, where)) from None
    if reason:
        raise SceneError(f"{where}.file: {file}: {reason}" if file else f"{where}: {reason}")


def _too_light(entry: dict[str, Any], file: Path | None, where: str) -> str:
    """Return the error for an object whose mass or inertia is too small for MuJoCo.

    The inertia is roughly the mass times the square of the size, so the smaller of the two factors is named.
    """
    size = read_mesh(file, where).scale * entry.get("scale", 1.0) if file else max(entry["size"])
    mass = entry.get("mass", 1000.0 * size**3)
    limit = f"mass [kg] and inertia [kg m²] must be above {mujoco.mjMINVAL:g}"
    if "mass" in entry and mass < size**2:
        return f"{where}.mass: {limit}, got {mass:g} kg; make it heavier"
    key = "size" if file is None else "scale"
    return f"{where}.{key}: {limit}, got a size of {size:g} m and {mass:g} kg; make it larger"


def _shape_geom(body: Any, entry: dict[str, Any]) -> Any:
    """Add a primitive shape as a geom, and convert its configured extents to MuJoCo's sizes."""
    sizes = list(entry["size"])
    if entry["shape"] in ("box", "ellipsoid"):
        sizes = [0.5 * size for size in sizes]
    elif len(sizes) == 2:
        sizes[1] *= 0.5
    return body.add_geom(type=_SHAPES[entry["shape"]], size=[*sizes, *[0.0] * (3 - len(sizes))])


def _mesh_geoms(spec: mujoco.MjSpec, body: Any, name: str, settings: Settings) -> list[tuple[Any, float]]:
    """Add an object's mesh as geoms, and return each with its fraction of the object's mass."""
    entry, where = settings.objects[name], f"{settings.source}: objects.{name}"
    path = _mesh_path(entry["file"], settings, f"{where}.file: ")
    if entry.get("decompose", False):
        files = convex_parts(path, f"{where}.decompose")
        volumes = [read_mesh(file, where).volume for file in files]
    else:
        files, volumes = [mujoco_mesh(path, f"{where}.file")], [1.0]
    geoms = []
    for k, (file, volume) in enumerate(zip(files, volumes, strict=True)):
        mesh = f"{name}/{k}" if len(files) > 1 else name
        spec.add_mesh(name=mesh, file=str(file.absolute()), scale=[entry.get("scale", 1.0)] * 3)
        geoms.append((body.add_geom(type=_GEOM.mjGEOM_MESH, meshname=mesh), volume / sum(volumes)))
    return geoms


def _mesh_path(name: str, settings: Settings, where: str) -> Path:
    path = of_address(name, where, urdf_options(settings).package_paths)
    if not path.is_absolute():
        if settings.base is None:
            raise SceneError(f"{where}{name!r} has no base folder; write an absolute path")
        path = settings.base / path
    if os.path.isdir(path):
        raise SceneError(f"{where}{path} is a folder; name the mesh file in it")
    if not os.path.exists(path):
        raise SceneError(f"{where}no such file: {path}{similar_file(path)}")
    return path


_LOG = logging.getLogger("tactile_sim.config")


def configured_scene(
    settings: Settings, made: mujoco.MjSpec | mujoco.MjModel | None = None
) -> tuple[mujoco.MjSpec | None, mujoco.MjModel]:
    """Return a configuration's scene as a spec and as a compiled model.

    The spec is None if ``made`` is a compiled model. Deep overlaps in the initial pose are logged.
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
    for warning in overlap_warnings(model, Names(model), path):
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
    """Return the name prefix and the content of each URDF file in the scene."""
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
