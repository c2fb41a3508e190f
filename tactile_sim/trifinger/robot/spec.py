"""The finger robots as MuJoCo specs: links, joints and tips under the names of their URDFs."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import mujoco

from tactile_sim.trifinger.finger_types_data import get_number_of_fingers
from tactile_sim.trifinger.robot.files import link_colors, place, read_robot, urdf_file
from tactile_sim.trifinger.robot.tips import split_tips
from tactile_sim.trifinger.stage import arena

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
STIFF = (0.004, 1.0)
"""Solref of the links' contacts: time constant [s] and damping ratio, with which a grip holds."""
STOP = (0.002, 1.0)
"""Solref of joint stops, the stiffest that steps of 1 ms allow."""
IMPRATIO = 100.0
"""How much firmer friction is than contact: a cube that two newtons hold sinks by 10 µm in a second."""
FRICTION = 0.5
"""Of a link against anything: what the peer's links have against its table and cube, whose own is 1."""
PRIORITY = 2
"""Of the links' friction above all else's: MuJoCo would take the larger one."""
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
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode"))
    spec.modelname = finger_type
    # Only the robot's own visuals were not wanted.
    spec.compiler.discardvisual = False
    split_tips(spec, [spec.body(name) for name in tip_link_names(finger_type)])
    _dress(spec, link_colors(robot))
    for name in tip_link_names(finger_type):
        _let_feel(spec, name)
    for finger in FINGERS[get_number_of_fingers(finger_type)]:
        for name in OVERLAPPING:
            if spec.body(name + finger):
                spec.add_exclude(bodyname1=name + finger, bodyname2=LINKS[0] + finger)
    _solve_firmly(spec, time_step)
    if stage:
        arena.add_stage(spec, finger_type)
    return spec


def _of_fingers(finger_type: str, names: Sequence[str]) -> list[str]:
    return [name + finger for finger in FINGERS[get_number_of_fingers(finger_type)] for name in names]


def _solve_firmly(spec: mujoco.MjSpec, time_step: float) -> None:
    """Settings with which fingers hold what they lift, and stop where their joints end."""
    option = spec.option
    option.timestep = time_step
    option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = IMPRATIO
    for joint in spec.joints:
        joint.solref_limit = STOP
    for geom in spec.geoms:
        geom.solref = STIFF


def _let_feel(spec: mujoco.MjSpec, tip: str) -> None:
    spec.body(tip).add_site(name=tip, size=(TIP_REACH, 0, 0), rgba=(0, 0, 0, 0))
    spec.add_sensor(
        name=tip + TIP_SENSOR,
        type=mujoco.mjtSensor.mjSENS_TOUCH,
        objtype=mujoco.mjtObj.mjOBJ_SITE,
        objname=tip,
    )


def _dress(spec: mujoco.MjSpec, colors: dict[str, list[float]]) -> None:
    """Colours and friction of the robot's geoms, and their names: the link's, with parts counted from 0."""
    for body in spec.bodies:
        for number, geom in enumerate(body.geoms):
            geom.name = f"{body.name}_part{number}" if len(body.geoms) > 1 else body.name
            geom.friction[0] = FRICTION
            geom.priority = PRIORITY
            geom.rgba = colors.get(body.name, geom.rgba)
