"""A URDF with an arm, and commands for its joints."""

from __future__ import annotations

import numpy as np

from tactile_sim.control.commander import JointCommand
from tactile_sim.simulation import Simulation

ARM = """<robot name="arm"><link name="base"/>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-0.1" upper="0.1" effort="20" velocity="1"/></joint>
  <link name="arm"><inertial><mass value="0.2"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="wrist" type="revolute"><parent link="arm"/><child link="tip"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="2" velocity="5"/></joint>
  <link name="tip"><inertial><mass value="0.05"/>
    <inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
GAINS = {"*": {"kp": 200.0, "kd": 10.0}}


def go(simulation: Simulation, seconds: float = 2.0, **targets) -> np.ndarray:
    """Command all joints, simulate, and return the maximum absolute effort of each joint [N or N m]."""
    if targets:
        names = simulation.commander.joint_names
        arrays = (np.array(targets.get(field, []), float) for field in ("position", "velocity", "effort"))
        simulation.accept_targets(simulation.commander.check(JointCommand(names, *arrays)))
    efforts = np.zeros(len(simulation.commander.joint_names))
    for _ in range(round(seconds / simulation.engine.timestep)):
        efforts = np.maximum(efforts, np.abs(simulation.observe().joint_states[2]))
        simulation.step()
    assert simulation.fault() is None
    return efforts
