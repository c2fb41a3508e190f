"""Build a robot in Python, without any files, and cover it with skin: a gripper closes on a ball."""

import mujoco

from tactile_sim import Simulation

ROBOT = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <body name="left" pos="-0.04 0 0.1">
      <joint name="left_slide" type="slide" axis="1 0 0" damping="20"/>
      <geom type="box" size="0.005 0.02 0.02" mass="0.1"/>
    </body>
    <body name="right" pos="0.04 0 0.1">
      <joint name="right_slide" type="slide" axis="-1 0 0" damping="20"/>
      <geom type="box" size="0.005 0.02 0.02" mass="0.1"/>
    </body>
    <body name="ball" pos="0 0 0.1">
      <joint type="free"/>
      <geom type="sphere" size="0.02" mass="0.05" friction="1 0.01 0.001"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="left_motor" joint="left_slide"/>
    <motor name="right_motor" joint="right_slide"/>
  </actuator>
</mujoco>
"""

robot = mujoco.MjSpec.from_string(ROBOT)
for jaw, side in (("left", 0.006), ("right", -0.006)):  # pads that are added to the robot in Python
    robot.body(jaw).add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.001, 0.02, 0.02], pos=[side, 0, 0])
simulation = Simulation(robot, {"skin": {"scales": {"left": 0.004, "right": 0.004}}})
simulation.command_joints(effort={"left_slide": 5.0, "right_slide": 5.0})
simulation.step(500)

snapshot = simulation.observe()
for pad, wrench in zip(simulation.skin.pads, snapshot.wrenches, strict=True):
    print(f"{pad.name}: {abs(wrench[0]):.2f} N along x")
