"""Find and read the URDFs and meshes in the package robot-properties-fingers without importing it."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tactile_sim.errors import SceneError
from tactile_sim.trifinger.finger_types_data import get_finger_urdf

PACKAGE = "robot_properties_fingers"
LEAST_INERTIA = 1e-10
"""Moment of inertia [kg m²] that replaces 0 for links with mass, because MuJoCo rejects 0."""


def robot_folder() -> Path:
    """Return the folder of the installed package robot-properties-fingers.

    Raises:
        SceneError: The package is not installed.
    """
    # Importing the package would import a dynamics library that is not needed.
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise SceneError(
            "URDFs and meshes of the TriFinger are not installed; run: pip install --no-deps"
            " robot-properties-fingers"
        )
    return Path(found.submodule_search_locations[0])


def mesh_file(name: str) -> Path:
    """Return the path of a mesh in the folder ``meshes`` of robot-properties-fingers.

    Errors are as in `robot_folder`.
    """
    return robot_folder() / "meshes" / name


def urdf_file(finger_type: str) -> Path:
    """Return the path of a finger type's URDF.

    Args:
        finger_type: Finger type of the robot.

    Raises:
        InvalidValueError: The finger type is unknown.
        SceneError: The package is not installed.
    """
    return robot_folder() / "urdf" / get_finger_urdf(finger_type)


def read_robot(urdf: Path) -> ElementTree.Element:
    """Read a URDF and adapt it to MuJoCo.

    Mesh paths become absolute, every link remains a separate body, and moments of inertia of 0 are replaced.
    A lower link's collision shapes that are at its tip (the pad of fingerone) are moved to the tip link, so
    that the tip can have a skin.

    Args:
        urdf: The URDF file.

    Returns:
        The adapted URDF.

    Raises:
        SceneError: The robot's package is not installed.
    """
    robot = ElementTree.parse(urdf).getroot()
    extension = ElementTree.SubElement(robot, "mujoco")
    options = {"strippath": "false", "fusestatic": "false", "discardvisual": "false"}
    ElementTree.SubElement(extension, "compiler", options)
    folder = robot_folder()
    for mesh in robot.iter("mesh"):
        mesh.set("filename", mesh.attrib["filename"].replace(f"package://{PACKAGE}", str(folder)))
    for link in robot.iter("link"):
        _replace_zero_inertia(link)
    _give_pads_to_tips(robot)
    return robot


def place(robot: ElementTree.Element, position: tuple[float, float, float]) -> None:
    """Place the base of a robot at a position (3,) in the world [m].

    Args:
        robot: The URDF.
        position: Position of the base [m].
    """
    ElementTree.SubElement(robot, "link", name="world")
    joint = ElementTree.SubElement(robot, "joint", name="world_to_base", type="fixed")
    ElementTree.SubElement(joint, "parent", link="world")
    ElementTree.SubElement(joint, "child", link="base_link")
    ElementTree.SubElement(joint, "origin", xyz=" ".join(map(repr, map(float, position))))


def link_colors(robot: ElementTree.Element) -> dict[str, list[float]]:
    """Return the RGBA colours of the links, by link name.

    A link has the colour of its first visual with a material. Links without such a visual are omitted.
    """
    materials = {
        material.attrib["name"]: [float(part) for part in color.attrib["rgba"].split()]
        for material in robot.findall("material")
        if (color := material.find("color")) is not None
    }
    colors = {}
    for link in robot.findall("link"):
        material = link.find("visual/material")
        if material is not None:
            colors[link.attrib["name"]] = materials[material.attrib["name"]]
    return colors


def remove_visuals_like_collisions(robot: ElementTree.Element) -> None:
    """Remove visuals that have the same mesh and origin as a collision shape of their link."""
    for link in robot.findall("link"):
        shapes = [_mesh_and_origin(shape) for shape in link.findall("collision")]
        for visual in link.findall("visual"):
            if _mesh_and_origin(visual) in shapes:
                link.remove(visual)


def _mesh_and_origin(shape: ElementTree.Element) -> tuple[str | None, dict[str, str]]:
    mesh, origin = shape.find("geometry/mesh"), shape.find("origin")
    return None if mesh is None else mesh.attrib["filename"], {} if origin is None else dict(origin.attrib)


def _replace_zero_inertia(link: ElementTree.Element) -> None:
    mass, inertia = link.find("inertial/mass"), link.find("inertial/inertia")
    if mass is None or inertia is None or float(mass.attrib["value"]) == 0:
        return
    for moment in ("ixx", "iyy", "izz"):
        if float(inertia.attrib[moment]) == 0:
            inertia.set(moment, repr(LEAST_INERTIA))


def _give_pads_to_tips(robot: ElementTree.Element) -> None:
    """Move collision shapes at a tip's origin from the lower link to the tip link."""
    links = {link.attrib["name"]: link for link in robot.findall("link")}
    for joint in robot.findall("joint"):
        if "lower_to_tip" not in joint.attrib["name"]:
            continue
        lower, tip = (links[joint.find(end).attrib["link"]] for end in ("parent", "child"))  # type: ignore[union-attr]
        tip_origin = joint.find("origin").attrib["xyz"]  # type: ignore[union-attr]
        for shape in lower.findall("collision"):
            origin = shape.find("origin")
            if origin is not None and origin.attrib["xyz"] == tip_origin:
                lower.remove(shape)
                origin.set("xyz", "0 0 0")
                tip.append(shape)
