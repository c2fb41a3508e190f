"""Read elements that Gazebo and PyBullet add to URDF: planes, and links without gravity."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import NamedTuple

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.errors import suggest

_TRUE, _FALSE = ("true", "1"), ("false", "0")


class Plane(NamedTuple):
    """An infinite plane that collides."""

    link: str
    position: np.ndarray
    """A point (3,) of the plane in the frame of the link [m]."""
    rotation: Rotation
    """Rotation from the plane, whose normal is +z, to the link."""


def take_planes(robot: ElementTree.Element) -> list[Plane]:
    """Remove each ``<collision>`` with a ``<plane normal="x y z"/>`` from a URDF.

    Args:
        robot: The URDF, whose numbers are valid.

    Raises:
        ValueError: A normal is 0.
    """
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
    """Add planes to a robot.

    Raises:
        ValueError: A link with a plane moves.
    """
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
