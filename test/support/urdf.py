"""A URDF with two links and a joint, to which tests add faults and features."""

from __future__ import annotations

from pathlib import Path

import mujoco

from tactile_sim.scenes.urdf import UrdfOptions, read_robot

INERTIA = '<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/>'
INERTIAL = f'<inertial><mass value="{{mass}}"/>{INERTIA}</inertial>'
SOUND = INERTIAL.format(mass=1, xx=0.01, yy=0.01, zz=0.01)
BALL = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
TWO_LINKS = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<link name="base">{base}</link><link name="tip">{tip}</link>
<joint name="j" type="{kind}"><parent link="base"/><child link="tip"/><origin xyz="{offset} 0 0"/></joint>
{more}</robot>"""


def load(
    folder: Path, *, base=SOUND + BALL, tip=SOUND + BALL, kind="continuous", offset=1, more="", **options
) -> mujoco.MjModel:
    """Write a URDF with two links, read it with these options and return the compiled model."""
    text = TWO_LINKS.format(base=base, tip=tip, kind=kind, offset=offset, more=more)
    file = folder / "r.urdf"
    file.write_text(text)
    return read_robot(file, text, UrdfOptions(**options)).spec.compile()
