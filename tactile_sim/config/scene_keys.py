"""Declare the keys that build a scene: robots, objects and options for robots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tactile_sim.config.keys import key
from tactile_sim.schema import Choice, Flag, Number, Numbers, Text, checks, parameter

SHAPES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3}
"""Number of sizes that each shape of an object requires."""

_POSITION = Numbers(Number(most=1e6, unit="m", usual=(0.0, 1e3)), (3,))
_ORIENTATION = Numbers(lengths=(3, 4))
_ORIENTATION_DOC = "roll, pitch and yaw [rad], or a quaternion x, y, z, w"


@dataclass(frozen=True)
class SceneOptions:
    """``scene_options.*``: changes to the robots of a scene."""

    floating_base: bool = key(
        False, Flag(), "whether the root link of a URDF moves freely; otherwise it is fixed"
    )
    self_collision: str = key(
        "auto",
        Choice(("auto", "all", "apart", "off")),
        "which links of a robot collide with one another: all, those that do not overlap in the initial "
        "pose, or none; `auto` is `apart` for a URDF, and `all` for an MJCF, which can exclude pairs itself",
    )
    balance_inertia: bool = key(
        False,
        Flag(),
        "whether MuJoCo also balances the inertias of an MJCF; those of a URDF are repaired",
    )


@dataclass(frozen=True)
class RobotSettings:
    """``robots.NAME``: a robot of the scene."""

    file: str = parameter(
        Text(filled=True), "URDF, xacro or MJCF file: path, `package://` or `file://` address", None
    )
    position: tuple[float, ...] = parameter(_POSITION, "position of the robot's root [m]", (0.0, 0.0, 0.0))
    orientation: tuple[float, ...] = parameter(_ORIENTATION, _ORIENTATION_DOC, (0.0, 0.0, 0.0))
    prefix: str = parameter(Text(), "prefix of the names of all elements of the robot", "")
    floating_base: bool | None = parameter(Flag(), "as `scene_options.floating_base`, for this robot", None)


@dataclass(frozen=True)
class ObjectSettings:
    """``objects.NAME``: an object of the scene."""

    shape: str | None = parameter(Choice(tuple(SHAPES)), "shape of the object; omitted with `file`", None)
    size: tuple[float, ...] | None = parameter(
        Numbers(Number(above=0, most=1e4, unit="m", usual=(1e-4, 100.0)), (1, 2, 3)),
        "full extents [m]: box and ellipsoid x, y, z; sphere radius; cylinder and capsule radius and length",
        None,
    )
    file: str | None = parameter(
        Text(filled=True),
        "mesh of the object: path, `package://` or `file://` address; omitted with `shape`",
        None,
    )
    scale: float = parameter(Number(above=0, most=1e6, usual=(1e-4, 1e3)), "scale of the mesh", 1.0)
    decompose: bool = parameter(
        Flag(),
        "whether the mesh is decomposed into convex parts for collisions (requires the package coacd); "
        "otherwise its convex hull collides",
        False,
    )
    mass: float | None = parameter(
        Number(above=0, unit="kg", usual=(1e-6, 1e4)),
        "mass [kg]; by default that of the same volume of water",
        None,
    )
    fixed: bool = parameter(Flag(), "whether the object is fixed in the world", False)
    friction: float = parameter(Number(least=0, usual=(1e-3, 10.0)), "coefficient of sliding friction", 1.0)
    position: tuple[float, ...] = parameter(_POSITION, "position of the object's centre [m]", (0.0, 0.0, 0.0))
    orientation: tuple[float, ...] = parameter(_ORIENTATION, _ORIENTATION_DOC, (0.0, 0.0, 0.0))


ROBOT = checks(RobotSettings)
"""For each key of a robot, the function that checks its value."""
OBJECT = checks(ObjectSettings)
"""For each key of an object, the function that checks its value."""


def fault_of_robot(entry: Mapping[str, Any]) -> str | None:
    """Return an error message if a robot's keys are incomplete or inconsistent, or else None."""
    return _fault_of_quaternion(entry) if "file" in entry else "must have a file, such as file: panda.urdf"


def fault_of_object(entry: Mapping[str, Any]) -> str | None:
    """Return an error message if an object's keys are incomplete or inconsistent, or else None."""
    if ("shape" in entry) == ("file" in entry):
        return "must have either a shape, such as shape: box, or a file"
    if "file" in entry and "size" in entry:
        return "size: belongs to a shape; remove it, or set scale"
    for name in ("scale", "decompose"):
        if "shape" in entry and name in entry:
            return f"{name}: belongs to a file; remove it"
    if "shape" in entry:
        wanted, sizes = SHAPES[entry["shape"]], entry.get("size", ())
        if len(sizes) != wanted:
            return f"size: must have {wanted} numbers [m] for a {entry['shape']}, got {len(sizes)}"
    return _fault_of_quaternion(entry)


def _fault_of_quaternion(entry: Mapping[str, Any]) -> str | None:
    orientation = entry.get("orientation", ())
    if len(orientation) == 4 and not any(orientation):
        return "orientation: a quaternion must not be zero; no rotation is [0, 0, 0, 1]"
    return None
