"""Create MuJoCo specs of the robots. Links, joints and tips have the same names as in the URDFs."""

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
"""Suffixes of link and joint names, by the number of fingers."""
JOINTS = ("finger_base_to_upper_joint", "finger_upper_to_middle_joint", "finger_middle_to_lower_joint")
LINKS = ("finger_upper_link", "finger_middle_link", "finger_lower_link")
TIP = "finger_tip_link"
TIP_SENSOR = "_normal_force"
"""Name suffix of the sensor that sums the normal forces on a tip."""
TIP_REACH = 0.1
"""Radius of the site of a tip's force sensor [m]. The site encloses the entire tip."""
TIME_STEP = 0.001
"""Default time step [s], for which the gains are tuned."""
STOP = (0.002, 1.0)
"""Solref of joint limits. These are the stiffest values that MuJoCo allows at a time step of 1 ms."""
IMPRATIO = 100.0
"""Ratio of frictional to normal impedance. At this ratio, a cube held with 2 N slips by 4 µm per second."""
OVERLAPPING = ("finger_base_link", "finger_upper_holder_link", "center_link")
"""Fixed links that overlap the upper link. MuJoCo's parent-child filter does not prevent these collisions."""


def joint_names(finger_type: str) -> list[str]:
    """Return the names of the joints, finger by finger from base to tip.

    Args:
        finger_type: Finger type of the robot; see `finger_types_data`.

    Raises:
        InvalidValueError: The finger type is unknown.
    """
    return _of_fingers(finger_type, JOINTS)


def link_names(finger_type: str) -> list[str]:
    """Return the names of the moving links in the order of the joints; errors as in `joint_names`."""
    return _of_fingers(finger_type, LINKS)


def tip_link_names(finger_type: str) -> list[str]:
    """Return the names of the tip links; errors as in `joint_names`."""
    return _of_fingers(finger_type, (TIP,))


def load_spec(
    finger_type: str,
    *,
    stage: bool = True,
    base_position: Sequence[float] = (0.0, 0.0, 0.0),
    time_step: float = TIME_STEP,
) -> mujoco.MjSpec:
    """Create an editable spec of a robot.

    Args:
        finger_type: Finger type of the robot; see `finger_types_data`.
        stage: Whether to add the floor, the table and the border.
        base_position: (3,) position of the robot's base in the world [m].
        time_step: Time step [s].

    Raises:
        InvalidValueError: The finger type is unknown.
        SceneError: The robot's files are not installed.
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
    light = spec.visual.headlight  # the light of camera images
    light.ambient[:], light.diffuse[:], light.specular[:] = 0.45, 0.55, 0.0
    if stage:
        arena.add_stage(spec, finger_type)
    return spec


def _of_fingers(finger_type: str, names: Sequence[str]) -> list[str]:
    return [name + finger for finger in FINGERS[get_number_of_fingers(finger_type)] for name in names]


def _set_solver(spec: mujoco.MjSpec, time_step: float) -> None:
    """Set solver options so that fingers hold lifted objects and stop at joint limits."""
    option = spec.option
    option.timestep = time_step
    option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    option.impratio = IMPRATIO
    for joint in spec.joints:
        joint.solref_limit = STOP


def _add_tip_sensor(spec: mujoco.MjSpec, tip: str) -> None:
    """Add a sensor that measures the sum of the normal forces on a tip [N]."""
    spec.body(tip).add_site(name=tip, size=(TIP_REACH, 0, 0), rgba=(0, 0, 0, 0))
    spec.add_sensor(
        name=tip + TIP_SENSOR,
        type=mujoco.mjtSensor.mjSENS_TOUCH,
        objtype=mujoco.mjtObj.mjOBJ_SITE,
        objname=tip,
    )


def _name_geoms(spec: mujoco.MjSpec, colors: dict[str, list[float]]) -> None:
    """Set names, colours and contact parameters of the robot's geoms.

    A colliding geom is named after its link, or ``<link>_part0``, ... if there are several. Other geoms are
    named ``<link>_visual0``, ...
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
