"""Read robots from URDF and xacro files: rewrite them for MuJoCo, and limit collisions between links."""

from __future__ import annotations

import logging
import os
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.common.errors import SceneError, suggest
from tactile_sim.common.files import of_address, package_folder
from tactile_sim.common.names import Names
from tactile_sim.common.text import counted
from tactile_sim.scenes.drives import SCALAR
from tactile_sim.scenes.faults import refusal, without_qhull_report
from tactile_sim.scenes.meshes import mujoco_mesh
from tactile_sim.scenes.urdf_repairs import repair_elements, repair_inertias

_LOG = logging.getLogger("tactile_sim.scenes")
DEEP = 0.005
"""Depth above which an overlap in the initial pose is logged as a warning [m]."""


def limit_self_collision(
    spec: mujoco.MjSpec, model: mujoco.MjModel, mode: str, path: Path, one_robot: bool = False
) -> None:
    """Exclude collisions between bodies of the same robot.

    A robot is a child of the world with all its descendants. Pairs of geoms in ``<contact>`` of an MJCF are
    not affected.
    """
    if mode in ("all", "auto"):
        return
    if mode == "off":
        pairs = set(combinations((np.flatnonzero(model.body_geomnum[1:]) + 1).tolist(), 2))
    else:
        pairs = _overlapping(model, path)
    root = model.body_rootid
    pairs = {(first, second) for first, second in pairs if one_robot or root[first] == root[second]}
    names, elements = Names(model).bodies, {body.id: body for body in spec.bodies}
    for pair in sorted(pairs):
        for body in set(pair) - {0}:
            elements[body].name = names[body]
        spec.add_exclude(bodyname1=names[pair[0]], bodyname2=names[pair[1]])
    if pairs and mode == "apart":
        first = " and ".join(repr(names[body]) for body in min(pairs))
        _LOG.info(
            "%s: %d pairs of links overlap in the initial pose and do not collide, such as %s",
            path, len(pairs), first,
        )  # fmt: skip


def overlap_warnings(model: mujoco.MjModel, names: Names, path: Path) -> Iterator[str]:
    """Yield a warning if links of a robot overlap deeply in the initial pose, and one for other bodies."""
    depths = depths_of_overlaps(model, model.qpos0, path)
    deep = {pair: depth for pair, depth in depths.items() if depth > DEEP}
    own = {pair for pair in deep if pair[0] and model.body_rootid[pair[0]] == model.body_rootid[pair[1]]}
    option = "scene_options: {self_collision: apart} excludes this contact if they are links of a robot"
    for pairs, remedy in ((own, option), (deep.keys() - own, "move one of them")):
        if not pairs:
            continue
        first, second = pair = max(pairs, key=deep.__getitem__)
        more = f" (and {counted(len(pairs) - 1, 'more pair')})" if len(pairs) > 1 else ""
        yield (
            f"bodies {names.bodies[first]!r} and {names.bodies[second]!r} overlap by"
            f" {deep[pair] * 1e3:.1f} mm in the initial pose and push each other apart{more}; {remedy}"
        )


def depths_of_overlaps(model: mujoco.MjModel, pose: np.ndarray, path: Path) -> dict[tuple[int, int], float]:
    """Return the depth of the deepest contact [m] of each pair of bodies that overlap, by body ids.

    Args:
        model: The compiled scene.
        pose: Joint positions (nq,).
        path: File of the scene, for errors.

    Raises:
        SceneError: MuJoCo cannot compute the contacts.
    """
    data, depths = mujoco.MjData(model), dict[tuple[int, int], float]()
    data.qpos[:] = pose
    try:
        mujoco.mj_fwdPosition(model, data)
    except mujoco.FatalError as error:
        raise refusal(path, error) from None
    between_geoms = (data.contact.geom >= 0).all(axis=1)  # rather than with a flex
    found = between_geoms & (data.contact.dist < 0.0)
    bodies = np.sort(model.geom_bodyid[data.contact.geom[found]], axis=1)
    moving = (model.body_weldid[bodies] != 0).any(axis=1)
    for (first, second), depth in zip(
        bodies[moving].tolist(), -data.contact.dist[found][moving], strict=True
    ):
        depths[first, second] = max(depths.get((first, second), 0.0), float(depth))
    return depths


def _overlapping(model: mujoco.MjModel, path: Path) -> set[tuple[int, int]]:
    """Return the ids of all pairs of bodies that overlap in the initial pose.

    If that is beyond the range of joints, their servos go to the nearer end, so bodies that overlap there are
    included.
    """
    limited = np.flatnonzero(model.jnt_limited.astype(bool) & np.isin(model.jnt_type, SCALAR))
    addresses = model.jnt_qposadr[limited]
    within = model.qpos0.copy()
    within[addresses] = np.clip(within[addresses], *model.jnt_range[limited].T)
    return {pair for pose in (model.qpos0, within) for pair in depths_of_overlaps(model, pose, path)}


NAMESPACE = "http://www.ros.org/wiki/xacro"


def is_xacro(robot: ElementTree.Element) -> bool:
    """Return whether a URDF contains xacro elements."""
    return any(element.tag.startswith(f"{{{NAMESPACE}}}") for element in robot.iter())


def expand_xacro(path: Path, arguments: Mapping[str, str], find_package: Callable[[str], Path | None]) -> str:
    """Expand a xacro file to a URDF."""
    try:
        import xacro
        from xacro import substitution_args
    except ImportError:
        expanded = f"{path.name.split('.')[0]}{'_expanded' * (path.suffixes == ['.urdf'])}.urdf"
        raise SceneError(
            f"{path}: is a xacro file, and the package xacro is not installed; pip install xacro, "
            f"or expand the file: xacro {path.name} > {expanded}"
        ) from None

    def folder(package: str) -> str:
        found = find_package(package)
        if found is None:
            raise SceneError(f"no package {package!r}; add its parent folder to package_paths")
        return str(found)

    try:
        with _finding(substitution_args, folder):
            return xacro.process_file(str(path), mappings=dict(arguments)).toxml()
    except Exception as error:  # xacro raises errors of many kinds
        reason = " ".join(str(error).split()) or type(error).__name__
        raise SceneError(f"{path}: xacro: {reason}") from None


@contextmanager
def _finding(module: object, find: Callable[[str], str]) -> Iterator[None]:
    """Let xacro find packages with ``find`` while the block runs; by default, it searches the ament index."""
    original = module._eval_find  # type: ignore[attr-defined]
    module._eval_find = find  # type: ignore[attr-defined]
    try:
        yield
    finally:
        module._eval_find = original  # type: ignore[attr-defined]


_TRUE, _FALSE = ("true", "1"), ("false", "0")


class Plane(NamedTuple):
    """An infinite plane that collides."""

    link: str
    position: np.ndarray
    """A point (3,) of the plane in the frame of the link [m]."""
    rotation: Rotation
    """Rotation from the plane, whose normal is +z, to the link."""


def take_planes(robot: ElementTree.Element) -> list[Plane]:
    """Remove each ``<collision>`` with a ``<plane normal="x y z"/>`` from a URDF."""
    planes = []
    for link in robot.findall("link"):
        for collision in link.findall("collision"):
            plane, origin = collision.find("geometry/plane"), collision.find("origin")
            if plane is None:
                continue
            normal = _numbers(plane, "normal", "0 0 1")
            if not normal.any():
                raise ValueError(
                    f"link {link.get('name')!r}: plane normal must not be 0, got {plane.get('normal')!r};"
                    " write it as in '0 0 1'"
                )
            tilt = Rotation.align_vectors([normal], [[0.0, 0.0, 1.0]])[0]
            rotation = Rotation.from_euler("xyz", _numbers(origin, "rpy", "0 0 0")) * tilt
            planes.append(Plane(link.get("name", ""), _numbers(origin, "xyz", "0 0 0"), rotation))
            link.remove(collision)
    return planes


def add_planes(spec: mujoco.MjSpec, planes: list[Plane]) -> None:
    """Add planes to a robot."""
    for plane in planes:
        body = ancestor = spec.body(plane.link)
        while ancestor is not None:
            if ancestor.joints:
                raise ValueError(
                    f"link {plane.link!r}: a plane must be fixed in the world, got a link that moves"
                )
            ancestor = ancestor.parent
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_PLANE,
            size=[0.0, 0.0, 0.05],
            pos=plane.position,
            quat=plane.rotation.as_quat(scalar_first=True),
        )


def ignored_switches(robot: ElementTree.Element) -> list[str]:
    """Return one line for each gravity switch in ``<gazebo reference="LINK">`` that has no effect.

    Its value is neither true nor false, or it turns gravity off for a link that does not exist.
    """
    links, lines = [link.get("name", "") for link in robot.findall("link")], []
    for extension in robot.iterfind("gazebo"):
        name = extension.get("reference", "")
        for tag in ("turnGravityOff", "gravity"):
            if extension.find(tag) is not None and _value(extension, tag) not in _TRUE + _FALSE:
                lines.append(
                    f"gazebo {name!r}: {tag} must be true or false, got {_value(extension, tag)!r}; ignored"
                )
        if name and name not in links and _turns_gravity_off(extension):
            near = suggest(name, links)
            lines.append(f"gazebo {name!r}: turns gravity off for an unknown link{near}; ignored")
    return lines


def weightless_links(robot: ElementTree.Element) -> set[str]:
    """Return the names of the links for which ``<gazebo reference="LINK">`` turns gravity off.

    Such an element contains ``<turnGravityOff>true</turnGravityOff>`` or ``<gravity>false</gravity>``.
    """
    return {
        extension.get("reference", "")
        for extension in robot.iterfind("gazebo")
        if _turns_gravity_off(extension)
    }


def _turns_gravity_off(extension: ElementTree.Element) -> bool:
    return _value(extension, "turnGravityOff") in _TRUE or _value(extension, "gravity") in _FALSE


def _value(extension: ElementTree.Element, tag: str) -> str:
    element = extension.find(tag)
    return "" if element is None else (element.get("value") or element.text or "").strip().lower()


def _numbers(element: ElementTree.Element | None, key: str, default: str) -> np.ndarray:
    given = "" if element is None else element.get(key, "").strip()
    return np.array((given or default).split(), float)


MOST_REPAIRS = 20
"""Maximum number of repairs of a file that are logged as warnings; the others are logged as information."""
_LEVELS = 6
"""Number of parent folders of a URDF to search for a package that is not installed."""


@dataclass(frozen=True)
class UrdfOptions:
    """Options for reading URDF files; an MJCF uses only `self_collision`."""

    strict: bool = False
    """True to reject malformed and physically impossible elements instead of repairing them."""
    floating_base: bool = False
    """True to add a free joint to the root link."""
    self_collision: str = "auto"
    """Which links of a robot can collide with one another: ``all``, ``off`` (none) or ``apart`` (all pairs
    that do not overlap in the initial pose). ``auto`` is ``apart`` for a URDF and ``all`` for an MJCF."""
    package_paths: tuple[str, ...] = ()
    """Folders that are searched first for packages."""
    xacro_arguments: Mapping[str, str] = field(default_factory=dict)
    """Values of ``<xacro:arg>``, keyed by name."""


def urdf_for_mujoco(path: Path, text: str, options: UrdfOptions | None = None) -> str:
    """Rewrite a URDF for MuJoCo.

    By default, all links are kept as bodies and visuals are removed. Meshes get absolute paths and formats
    that MuJoCo can read. Malformed or physically impossible elements are repaired and each repair is logged.
    """
    options = options or UrdfOptions()
    robot = _expanded(path, text, options)
    for kind in ("link", "joint"):
        names = [element.get("name") for element in robot.findall(kind)]
        if len(set(names)) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise SceneError(f"{path}: {kind} {twice!r} is defined twice; rename one")
    extension = robot.find("mujoco")
    if extension is None:
        extension = ElementTree.SubElement(robot, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = ElementTree.SubElement(extension, "compiler")
    meshes = path.parent / compiler.attrib.pop("meshdir", "")
    # Otherwise, MuJoCo would strip folders from paths and fuse welded links into one body.
    compiler.set("strippath", "false")
    compiler.attrib.setdefault("fusestatic", "false")
    if compiler.attrib.setdefault("discardvisual", "true") == "true":
        for link in robot.iter("link"):
            for visual in link.findall("visual"):
                link.remove(visual)
    try:
        _check_tree(robot)
        repairs = repair_elements(robot) + repair_inertias(robot, options.floating_base)
        repairs += ignored_switches(robot)
    except ValueError as error:
        raise SceneError(f"{path}: {error}") from None
    if repairs and options.strict:
        more = f" (and {len(repairs) - 1} more)" if len(repairs) > 1 else ""
        raise SceneError(f"{path}: {repairs[0].partition('; ')[0]}{more}; strict_urdf: false repairs it")
    for number, repair in enumerate(repairs):
        _LOG.log(logging.WARNING if number < MOST_REPAIRS else logging.INFO, "%s: %s", path, repair)
    if len(repairs) > MOST_REPAIRS:
        _LOG.warning("%s: and %d more repairs", path, len(repairs) - MOST_REPAIRS)
    for mesh in robot.iter("mesh"):
        if "filename" in mesh.attrib:
            name = mesh.attrib["filename"]
            found_mesh = _mesh_file(name, path, meshes, options.package_paths)
            mesh.set("filename", str(mujoco_mesh(found_mesh, f"{path}: mesh {name}")))
    try:
        return ElementTree.tostring(robot, encoding="unicode")
    except RecursionError:
        raise SceneError(f"{path}: its elements are nested too deeply") from None


def _check_tree(robot: ElementTree.Element) -> None:
    """Check that joints connect existing links and that there is a root link."""
    links = {link.get("name", "") for link in robot.findall("link")}
    children = set()
    for joint in robot.findall("joint"):
        where = f"joint {joint.get('name')!r}"
        parent, child = (joint.find(role) for role in ("parent", "child"))
        if parent is None or child is None:
            continue  # MuJoCo reports it
        ends = {"parent": parent.get("link", ""), "child": child.get("link", "")}
        for role, name in ends.items():
            if name not in links:
                raise ValueError(f"{where}: {role} must be a link, got {name!r}{suggest(name, links)}")
        if ends["parent"] == ends["child"]:
            raise ValueError(f"{where}: parent and child must differ, got {ends['child']!r}")
        children.add(ends["child"])
    if links and children >= links:
        raise ValueError("one link must be the root, but each is the child of a joint; remove one of these")


def described_urdf(path: Path, text: str, options: UrdfOptions) -> str:
    """Return a URDF for other programs, with xacro expanded and relative paths replaced by addresses.

    Arguments and errors are the same as for `urdf_for_mujoco`.
    """
    robot = _expanded(path, text, options)
    for element in robot.iter():
        name = element.get("filename", "")
        if element.tag in ("mesh", "texture") and name and "://" not in name:
            element.set("filename", Path(os.path.realpath(path.parent / name)).as_uri())
    return ElementTree.tostring(robot, encoding="unicode")


def control_blocks(urdf: str, prefix: str = "") -> str:
    """Return the ``<ros2_control>`` elements of a URDF."""
    blocks = ElementTree.fromstring(urdf).findall("ros2_control")
    for block in blocks:
        for element in (block, *(part for part in block if part.tag in ("joint", "sensor", "gpio"))):
            element.set("name", prefix + element.get("name", ""))
        for mimic in block.iterfind("joint/param[@name='mimic']"):
            mimic.text = prefix + (mimic.text or "").strip()
    return "".join(ElementTree.tostring(block, encoding="unicode") for block in blocks)


def _expanded(path: Path, text: str, options: UrdfOptions) -> ElementTree.Element:
    """Parse a URDF or xacro file and return the root element, with xacro expanded."""
    robot = _parsed(path, text)
    if not is_xacro(robot):
        return robot
    expanded = expand_xacro(
        path, options.xacro_arguments, lambda package: package_folder(package, options.package_paths)
    )
    return _parsed(path, expanded)


def _parsed(path: Path, text: str) -> ElementTree.Element:
    try:
        # XML allows neither whitespace before its declaration nor the final null that C programs may write.
        return ElementTree.fromstring(text.lstrip().rstrip("\0 \t\r\n"))
    except ElementTree.ParseError as error:
        raise SceneError(f"{path}: broken XML: {error}") from None


def _mesh_file(name: str, urdf: Path, meshes: Path, package_paths: tuple[str, ...]) -> Path:
    """Return the absolute path of a mesh that a URDF references."""
    package = found = None
    if name.startswith("package://"):
        package, _, inside = name.removeprefix("package://").lstrip("/").partition("/")
        inside = unquote(inside)
        folder = package_folder(package, package_paths)
        candidates = [folder / inside] if folder else []
        candidates += _around(urdf, package, inside)
        found = next(filter(os.path.isfile, candidates), candidates[0] if folder else None)
    elif name.startswith("file://"):
        found = of_address(name, f"{urdf}: mesh ")
    else:
        found = meshes / name
    for path in (found, urdf.parent / name, meshes / Path(name).name):
        if path is not None and os.path.isfile(path):
            return path.absolute()
    if found is None:
        raise SceneError(
            f"{urdf}: mesh {name}: no package {package!r} in package_paths, AMENT_PREFIX_PATH or"
            " ROS_PACKAGE_PATH; source its workspace, or add its parent folder to package_paths"
        )
    raise SceneError(f"{urdf}: mesh {name}: no such file: {found}")


def _around(urdf: Path, package: str, inside: str) -> Iterator[Path]:
    """Yield paths that a package's file may have in the source checkout that contains the URDF."""
    for parent in urdf.resolve().parents[:_LEVELS]:
        if parent.name == package:
            yield parent / inside
        yield parent / package / inside
        yield parent / inside  # the package's folder has another name


_MODES = ("position", "velocity", "effort")
_CONTACT_OPTIONS = {
    "integrator": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "cone": mujoco.mjtCone.mjCONE_ELLIPTIC,
    "impratio": 10.0,
}
_COUPLING = ([0.01, 1.0], [0.9999, 0.9999, 0.001, 0.5, 2.0])
"""solref and solimp of the equality that MuJoCo creates from a ``<mimic>``.

MuJoCo's defaults are so soft that chains of short links bend by 20 degrees under their weight. The time
constant stays well above the time step, so that an offset does not jerk the joint at the start.
"""
_THIN = re.compile(r"mesh volume is too small: (\S+)")


@dataclass(frozen=True)
class Robot:
    """A robot read from a URDF."""

    spec: mujoco.MjSpec
    """The robot as an editable spec, which compiles without errors."""
    modes: dict[str, str]
    """Control mode of each hinge and slide joint: ``position``, ``velocity`` or ``effort``."""
    given_options: frozenset[str]
    """Names of the physics options that the URDF sets itself, in ``<mujoco><option>``."""


def read_robot(path: Path, text: str, options: UrdfOptions) -> Robot:
    """Read a robot from a URDF."""
    urdf = urdf_for_mujoco(path, text, options)
    root = ElementTree.fromstring(urdf)
    planes = take_planes(root)
    urdf = ElementTree.tostring(root, encoding="unicode") if planes else urdf
    try:
        spec = mujoco.MjSpec.from_string(urdf)
    except ValueError as error:
        raise refusal(path, error, urdf) from None
    weightless = weightless_links(root)
    for body in spec.bodies:
        body.gravcomp = float(body.name in weightless)
    for equality in spec.equalities:
        equality.solref, equality.solimp = _COUPLING
    if options.floating_base:
        free_base(spec, path)
    add_planes(spec, planes)
    with without_qhull_report():
        model = _compile(spec)
    mode = "apart" if options.self_collision == "auto" else options.self_collision
    limit_self_collision(spec, model, mode, path, one_robot=True)
    declared = declared_modes(root)
    given = {name for option in root.iterfind("mujoco/option") for name in option.keys()}
    modes = {
        joint.name: declared.get(joint.name, "position") for joint in spec.joints if joint.type in SCALAR
    }
    return Robot(spec, modes, frozenset(given))


def set_contact_options(spec: mujoco.MjSpec, given: Collection[str] = ()) -> None:
    """Set a scene's integrator and friction options so that grasped objects do not creep."""
    for name, value in _CONTACT_OPTIONS.items():
        if name not in given:
            setattr(spec.option, name, value)


def declared_modes(robot: ElementTree.Element) -> dict[str, str]:
    """Return the control modes that a URDF declares in ``<ros2_control>`` and ``<transmission>``, by joint.

    If a joint has several command interfaces, position takes precedence over velocity, and velocity over
    effort.
    """
    interfaces: dict[str, list[str]] = {}
    for joint in robot.iterfind("ros2_control/joint"):
        names = [interface.get("name", "") for interface in joint.iterfind("command_interface")]
        interfaces.setdefault(joint.get("name", ""), []).extend(names)
    for joint in robot.iterfind("transmission/joint"):
        names = [(interface.text or "").strip() for interface in joint.iterfind("hardwareInterface")]
        interfaces.setdefault(joint.get("name", ""), []).extend(map(_mode_of_interface, names))
    return {
        joint: next(mode for mode in _MODES if mode in names)
        for joint, names in interfaces.items()
        if set(names) & set(_MODES)
    }


def _mode_of_interface(name: str) -> str:
    """Return the mode for a hardware interface such as ``hardware_interface/EffortJointInterface``."""
    found = re.search(r"(Position|Velocity|Effort)JointInterface$", name)
    return found[1].lower() if found else ""


def free_base(spec: mujoco.MjSpec, path: Path) -> None:
    """Add a free joint to the root body of a robot."""
    roots = spec.worldbody.bodies
    if len(roots) != 1 or roots[0].joints:
        found = ", ".join(repr(body.name) for body in roots) or "none"
        raise SceneError(
            f"{path}: floating_base: requires one root link without a joint to the world, got {found};"
            " remove the link 'world' and its joint, or leave the key out"
        )
    roots[0].add_freejoint()


def _compile(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """Compile the robot. Meshes without volume are changed in ``spec`` to have the inertia of a shell."""
    while True:
        try:
            return spec.compile()
        except ValueError as error:
            thin = _THIN.search(str(error))
            mesh = spec.mesh(thin[1]) if thin else None
            if mesh is None or mesh.inertia == mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL:
                raise
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
