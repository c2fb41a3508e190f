"""The finger robots as MuJoCo specs: links, joints and tips under the names of their URDFs."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import mujoco

from tactile_sim.trifinger.finger_types_data import get_number_of_fingers
from tactile_sim.trifinger.robot.contact import pair_links, set_link_contact
from tactile_sim.trifinger.robot.convex_parts import split_links
from tactile_sim.trifinger.robot.files import (
    link_colors,
    place,
    read_robot,
    remove_visuals_like_collisions,
    urdf_file,
)
from tactile_sim.trifinger.workspace import arena

FINGERS = {1: ("",), 3: ("_0", "_120", "_240")}
"""The ends of the names of links and joints, by the number of fingers."""
JOINTS = ("finger_base_to_upper_joint", "finger_upper_to_middle_joint", "finger_middle_to_lower_joint")
LINKS = ("finger_upper_link", "finger_middle_link", "finger_lower_link")
TIP = "finger_tip_link"
TIP_SENSOR = "_normal_force"
"""After a tip's name, that of the sensor of the sum of all normal forces on it."""
TIP_REACH = 0.1
"""[m] around a tip's centre, more than it is large."""
TIME_STEP = 0.001
"""[s] for which the robots' gains are made."""
STOP = (0.002, 1.0)
"""Solref of joint stops, the stiffest that steps of 1 ms allow."""
IMPRATIO = 100.0
"""How much firmer friction is than contact: a cube that two newtons hold sinks by 10 µm in a second."""
OVERLAPPING = ("finger_base_link", "finger_upper_holder_link", "center_link")
"""Fixed links that the upper link reaches into; to MuJoCo what belongs to the world is no parent."""


def joint_names(finger_type: str) -> list[str]:
    """Names of the joints, finger by finger from the base outwards; ValueError for an unknown type."""
    return _of_fingers(finger_type, JOINTS)


def link_names(finger_type: str) -> list[str]:
    """Names of the links that the joints move, in the same order."""
    return _of_fingers(finger_type, LINKS)


def tip_link_names(finger_type: str) -> list[str]:
    """Names of the fingers' tips."""
    return _of_fingers(finger_type, (TIP,))


def load_spec(
    finger_type: str,
    *,
    stage: bool = True,
    base_position: Sequence[float] = (0.0, 0.0, 0.0),
    time_step: float = TIME_STEP,
) -> mujoco.MjSpec:
    """A robot that can still be added to: links are bodies, joints hinges, all under their URDF's names.

    Args:
        finger_type: ``trifingerpro``, ...; see ``finger_types_data``.
        stage: whether its table and border are there too.
        base_position: (3,) of the robot's base in the world [m].
        time_step: [s].

    Raises:
        ValueError: there is no such type.
        SceneError: the robot's files are not installed.
    """
    robot = read_robot(urdf_file(finger_type))
    x, y, z = base_position
    place(robot, (x, y, z))
    colors = link_colors(robot)
    remove_visuals_like_collisions(robot)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode"))
    spec.modelname = finger_type
    split_links(spec, [spec.body(name) for name in tip_link_names(finger_type)])
    _name_geoms(spec, colors)
    for name in tip_link_names(finger_type):
        _add_tip_sensor(spec, name)
    for finger in FINGERS[get_number_of_fingers(finger_type)]:
        for name in OVERLAPPING:
            if spec.body(name + finger):
                spec.add_exclude(bodyname1=name + finger, bodyname2=LINKS[0] + finger)
    pair_links(spec)
    _set_solver(spec, time_step)
    if stage:
        arena.add_stage(spec, finger_type)
    return spec


def _of_fingers(finger_type: str, names: Sequence[str]) -> list[str]:
    return [name + finger for finger in FINGERS[get_number_of_fingers(finger_type)] for name in names]


def _set_solver(spec: mujoco.MjSpec, time_step: float) -> None:
    """Set options with which fingers hold what they lift, and stop at the limits of their joints."""
    option = spec.option
    option.timestep = time_step
    option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = IMPRATIO
    for joint in spec.joints:
        joint.solref_limit = STOP


def _add_tip_sensor(spec: mujoco.MjSpec, tip: str) -> None:
    """Add a sensor of the sum of the normal forces on a tip."""
    spec.body(tip).add_site(name=tip, size=(TIP_REACH, 0, 0), rgba=(0, 0, 0, 0))
    spec.add_sensor(
        name=tip + TIP_SENSOR,
        type=mujoco.mjtSensor.mjSENS_TOUCH,
        objtype=mujoco.mjtObj.mjOBJ_SITE,
        objname=tip,
    )


def _name_geoms(spec: mujoco.MjSpec, colors: dict[str, list[float]]) -> None:
    """Set names, colours and contact parameters of the robot's geoms.

    A colliding geom has the name of its link, or ``<link>_part0``, ... if there are several; the others are
    ``<link>_visual0``, ...
    """
    for body in spec.bodies:
        colliding = [geom for geom in body.geoms if geom.contype]
        visuals = [geom for geom in body.geoms if not geom.contype]
        for number, geom in enumerate(colliding):
            geom.name = f"{body.name}_part{number}" if len(colliding) > 1 else body.name
            geom.rgba = colors.get(body.name, geom.rgba)
            set_link_contact(geom)
        for number, geom in enumerate(visuals):
            geom.name = f"{body.name}_visual{number}"
            geom.rgba = colors.get(body.name, geom.rgba)
            geom.mass = 0.0
            geom.group = 0
