"""Generate a URDF from a model for use with RViz's RobotModel, MoveIt and Foxglove."""

from __future__ import annotations

import hashlib
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.common.frames import to_xyzw
from tactile_sim.common.names import Names
from tactile_sim.geometry.shapes import capsule_mesh, geom_colors, geom_mesh
from tactile_sim.scenes.drives import followed_equalities
from tactile_sim.scenes.meshes import cached

EFFORT, VELOCITY = 1000.0, 100.0
"""Effort [N m or N] and velocity [rad/s or m/s] limits of joints that have none; URDF requires both."""
REACH = 1000.0
"""Half the range written for a slide joint without limits [m]."""
_GEOM, _JOINT = mujoco.mjtGeom, mujoco.mjtJoint
_TYPES = {_JOINT.mjJNT_HINGE: "revolute", _JOINT.mjJNT_SLIDE: "prismatic", _JOINT.mjJNT_BALL: "floating"}
_HIDDEN_GROUP = 3
"""First geom group that MuJoCo's viewer hides by default; higher groups are hidden, too."""


def generated_urdf(model: mujoco.MjModel, names: Names, world: str = "world") -> str:
    """Return a URDF with the bodies of a model as links, and with its joints, inertias and visible geoms.

    Links have the names and frames of the bodies. An additional link ``BODY/JOINT`` is inserted before the
    body for a joint that does not pass through the body's origin, and for every joint of a body except the
    last. Free and ball joints become floating joints. Meshes are stored as files in the cache.
    """
    robot = ElementTree.Element("robot", name="scene")
    links = [world, *names.bodies[1:]]
    colors = geom_colors(model)
    for body, link in enumerate(links):
        element = ElementTree.SubElement(robot, "link", name=link)
        if body and model.body_mass[body] > 0.0:
            _add_inertial(element, model, body)
        first = model.body_geomadr[body]
        for geom in range(first, first + model.body_geomnum[body]):
            _add_visual(element, model, geom, colors[geom])
        if body:
            _add_joints(robot, model, names, body, links)
    return ElementTree.tostring(robot, encoding="unicode")


def _add_joints(
    robot: ElementTree.Element, model: mujoco.MjModel, names: Names, body: int, links: list[str]
) -> None:
    """Add the joints between a body and its parent, and additional links between these joints."""
    parent, first = links[model.body_parentid[body]], model.body_jntadr[body]
    joints = range(first, first + model.body_jntnum[body])
    position, rotation = model.body_pos[body], model.body_quat[body]
    if not joints or _JOINT(model.jnt_type[first]) == _JOINT.mjJNT_FREE:
        kind = "floating" if joints else "fixed"
        name = names.joints[first] if joints else f"{links[body]}/fixed"
        _add_joint(robot, name, kind, parent, links[body], position, rotation)
        return
    for joint in joints:
        anchor = model.jnt_pos[joint]
        last = joint == joints[-1] and not anchor.any()
        child = links[body] if last else f"{links[body]}/{names.joints[joint]}"
        if not last:
            ElementTree.SubElement(robot, "link", name=child)
        kind = _TYPES[_JOINT(model.jnt_type[joint])]
        if kind == "revolute" and not model.jnt_limited[joint]:
            kind = "continuous"
        position = position + Rotation.from_quat(to_xyzw(rotation)).apply(anchor)
        element = _add_joint(robot, names.joints[joint], kind, parent, child, position, rotation)
        if kind != "floating":
            ElementTree.SubElement(element, "axis", xyz=_text(model.jnt_axis[joint]))
            _add_limit(element, model, joint, kind)
            _add_mimic(element, model, names, joint)
        # From here on, poses are in the joint's frame, which has the axes of the body.
        parent, position, rotation = child, -anchor, np.array([1.0, 0.0, 0.0, 0.0])
    if parent != links[body]:
        _add_joint(robot, f"{links[body]}/fixed", "fixed", parent, links[body], position, rotation)


def _add_joint(
    robot: ElementTree.Element,
    name: str,
    kind: str,
    parent: str,
    child: str,
    position: np.ndarray,
    rotation: np.ndarray,
) -> ElementTree.Element:
    element = ElementTree.SubElement(robot, "joint", name=name, type=kind)
    ElementTree.SubElement(element, "parent", link=parent)
    ElementTree.SubElement(element, "child", link=child)
    _add_origin(element, position, rotation)
    return element


def _add_limit(element: ElementTree.Element, model: mujoco.MjModel, joint: int, kind: str) -> None:
    limited, efforts = model.jnt_actfrclimited[joint], model.jnt_actfrcrange[joint]
    effort = float(np.abs(efforts).max()) if limited else EFFORT
    limit = {"effort": f"{effort:.9g}", "velocity": f"{VELOCITY:g}"}
    if kind != "continuous":
        low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-REACH, REACH)
        limit |= {"lower": f"{low:.9g}", "upper": f"{high:.9g}"}
    ElementTree.SubElement(element, "limit", limit)


def _add_mimic(element: ElementTree.Element, model: mujoco.MjModel, names: Names, joint: int) -> None:
    """Add a ``<mimic>`` element if the joint's position is a linear function of another joint's position."""
    for equality, leader in followed_equalities(model).items():
        offset, multiplier, *others = model.eq_data[equality, :5]
        if model.eq_obj1id[equality] == joint and not any(others):
            mimic = {"multiplier": f"{multiplier:.9g}", "offset": f"{offset:.9g}"}
            ElementTree.SubElement(element, "mimic", mimic, joint=names.joints[leader])
            return


def _add_inertial(link: ElementTree.Element, model: mujoco.MjModel, body: int) -> None:
    element = ElementTree.SubElement(link, "inertial")
    _add_origin(element, model.body_ipos[body], model.body_iquat[body])
    ElementTree.SubElement(element, "mass", value=f"{model.body_mass[body]:.9g}")
    moments = dict(zip(("ixx", "iyy", "izz"), model.body_inertia[body].tolist(), strict=True))
    entries = {"ixy": 0.0, "ixz": 0.0, "iyz": 0.0} | moments
    ElementTree.SubElement(element, "inertia", {key: f"{value:.9g}" for key, value in entries.items()})


def _add_visual(link: ElementTree.Element, model: mujoco.MjModel, geom: int, color: np.ndarray) -> None:
    """Add a geom as a visual if it is visible and bounded."""
    if model.geom_group[geom] >= _HIDDEN_GROUP or color[3] <= 0.0:
        return
    for kind, attributes in _shape(model, geom):
        element = ElementTree.SubElement(link, "visual")
        _add_origin(element, model.geom_pos[geom], model.geom_quat[geom])
        ElementTree.SubElement(ElementTree.SubElement(element, "geometry"), kind, attributes)
        material = ElementTree.SubElement(element, "material", name=f"geom{geom}")
        ElementTree.SubElement(material, "color", rgba=_text(color))


def _shape(model: mujoco.MjModel, geom: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the tag and attributes of the URDF element for a geom's shape; skip infinite planes."""
    size = model.geom_size[geom]
    match _GEOM(model.geom_type[geom]):
        case _GEOM.mjGEOM_SPHERE:
            yield "sphere", {"radius": f"{size[0]:.9g}"}
        case _GEOM.mjGEOM_BOX:
            yield "box", {"size": _text(2 * size)}
        case _GEOM.mjGEOM_CYLINDER:
            yield "cylinder", {"radius": f"{size[0]:.9g}", "length": f"{2 * size[1]:.9g}"}
        case _GEOM.mjGEOM_PLANE:
            if size[:2].all():
                yield "box", {"size": _text([2 * size[0], 2 * size[1], 1e-3])}
        case _GEOM.mjGEOM_CAPSULE:
            yield "mesh", {"filename": _mesh_address(*capsule_mesh(size[0], size[1]))}
        case _GEOM.mjGEOM_ELLIPSOID:
            import trimesh  # takes 0.15 s and is needed for few scenes

            ball = trimesh.creation.icosphere(subdivisions=3)
            yield "mesh", {"filename": _mesh_address(ball.vertices * size, ball.faces)}
        case _GEOM.mjGEOM_MESH | _GEOM.mjGEOM_HFIELD:
            yield "mesh", {"filename": _mesh_address(*geom_mesh(model, geom))}


def _mesh_address(vertices: np.ndarray, faces: np.ndarray) -> str:
    """Store a mesh as an STL file in the cache and return its address."""
    digest = hashlib.sha256(np.ascontiguousarray(vertices, "<f4").tobytes())
    digest.update(np.ascontiguousarray(faces, "<i4").tobytes())

    def content() -> bytes:
        import trimesh

        return trimesh.exchange.stl.export_stl(trimesh.Trimesh(vertices, faces, process=False))

    return cached(f"{digest.hexdigest()[:32]}.stl", content).as_uri()


def _add_origin(element: ElementTree.Element, position: np.ndarray, quaternion: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at a pitch of 90 degrees, any of the solutions is valid
        angles = Rotation.from_quat(to_xyzw(quaternion)).as_euler("xyz")
    ElementTree.SubElement(element, "origin", xyz=_text(position), rpy=_text(angles))


def _text(values: Any) -> str:
    return " ".join(f"{value:.9g}" for value in values)
