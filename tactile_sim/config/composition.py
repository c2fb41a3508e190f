"""Compose scenes from the robots, objects and floor in a configuration."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim import share
from tactile_sim.addresses import of_address
from tactile_sim.errors import ConfigError, ErrorList, SceneError
from tactile_sim.mujoco_log import without_prefix_warning
from tactile_sim.scenes.decomposition import convex_parts
from tactile_sim.scenes.faults import reason_of, refusal, without_qhull_report
from tactile_sim.scenes.loading import find_scene, is_urdf, load_robot
from tactile_sim.scenes.meshes import mujoco_mesh, read_mesh
from tactile_sim.scenes.robots import set_contact_options
from tactile_sim.scenes.sizes import huge_mesh
from tactile_sim.scenes.urdf import UrdfOptions

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings

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
    """Add the robots, objects and ground in a configuration to a scene.

    Returns:
        The control mode (``position``, ``velocity`` or ``effort``) of each robot joint, keyed by joint name.

    Raises:
        SceneError: A file is missing or invalid.
        ConfigError: A name already exists in the scene.
        ConfigErrors: There are several such errors.
    """
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
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
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
    """Compile each object alone, to find out whether one of them is the reason why the scene is rejected.

    Raises:
        SceneError: An object is invalid. The message names its key, which the error of the scene does not.
        ConfigErrors: Several objects are invalid.
    """
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
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
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
    """Add the convex hull of an object's mesh, or its convex parts, as geoms.

    Returns:
        Each geom and its fraction of the object's mass.
    """
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
        raise SceneError(f"{where}no such file: {path}{share.similar_file(path)}")
    return path
