"""Create editable specs from robots in URDF files, and set free bases and contact options."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import mujoco

from tactile_sim.errors import SceneError
from tactile_sim.scenes.drives import SCALAR
from tactile_sim.scenes.faults import without_line, without_qhull_report
from tactile_sim.scenes.gazebo_elements import add_planes, take_planes, weightless_links
from tactile_sim.scenes.self_collision import limit_self_collision
from tactile_sim.scenes.urdf import UrdfOptions, urdf_for_mujoco

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
    """Read a robot from a URDF.

    Args:
        path: The URDF file.
        text: Content of the file.
        options: Options for reading the file.

    Raises:
        SceneError: The URDF is invalid.
        ValueError: MuJoCo rejects the URDF.
    """
    urdf = urdf_for_mujoco(path, text, options)
    root = ElementTree.fromstring(urdf)
    planes = take_planes(root)
    urdf = ElementTree.tostring(root, encoding="unicode") if planes else urdf
    try:
        spec = mujoco.MjSpec.from_string(urdf)
    except ValueError as error:
        raise ValueError(without_line(str(error), urdf)) from None
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
    """Set a scene's integrator and friction options so that grasped objects do not creep.

    Args:
        spec: The scene.
        given: Names of options to leave unchanged.
    """
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
    """Add a free joint to the root body of a robot.

    Raises:
        SceneError: The robot does not have exactly one root body.
    """
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
