"""The node with MotrixSim: the shipped cube at rest, and the same controller on both engines."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from support.ros import wait_for  # noqa: E402
from tactile_sim.msg import ContactSensor, ContactWrenchArray, TactileFrame  # noqa: E402
from tactile_sim.srv import Reset  # noqa: E402

SCENE = """
<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
  <body name="object" pos="0 0 .05"><freejoint/>
    <geom name="object" type="box" size=".05 .05 .05" mass=".5"/></body>
  <body name="press" pos="0 0 .16"><joint name="rail" type="slide" axis="0 0 1" damping="20"/>
    <geom name="press" type="sphere" size=".05" mass="1"/></body></worldbody></mujoco>"""
SENSORS = {"press": {"geom1": "press", "geom2": "object", "data": ["force"], "reduce": "netforce"}}
WANTED = 8.0

CONTROLLER = f"""
import time
import rclpy
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import JointState
from tactile_sim.msg import ContactSensor

rclpy.init()
node = rclpy.create_node("controller")
commands = node.create_publisher(JointState, "joint_commands", 10)
effort = 9.81

def press(message):
    global effort
    force = -message.slots[0].wrench.force.z if message.slots else 0.0
    effort -= 0.02 * ({WANTED} - force)
    commands.publish(JointState(name=["rail"], effort=[effort]))

# The first reading triggers the first command, which needs a subscriber.
while not commands.get_subscription_count():
    time.sleep(0.01)
node.create_subscription(ContactSensor, "contact_sensors/press", press, 10)
try:
    rclpy.spin(node)
except (KeyboardInterrupt, ExternalShutdownException):
    pass
"""


def test_taxels_of_shipped_cube_sum_to_weight_in_motrix(ros):
    pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")
    frames = ros.listen(TactileFrame, "tactile/frame")
    contacts = ros.listen(ContactWrenchArray, "contacts")
    process = ros.start("run", "touch_cube", "--ros-args", "-p", "engine:=motrix", "-p", "start_paused:=true")
    wait_for(lambda: frames and contacts, "the first state")
    for steps, end in ((1500, 3000), (250, 3502)):
        assert ros.step(steps, frames, contacts) == end * 10**6
        weight = np.asarray(frames[-1].data).reshape(-1, 3).sum(axis=0)
        np.testing.assert_allclose(np.linalg.norm(weight), 9.81, rtol=0.1)
        published = contacts[-1].contacts
        force = np.asarray(published.wrench.force).reshape(-1, 3)
        np.testing.assert_allclose(force.sum(axis=0), [0, 0, 9.81], atol=0.981)
        np.testing.assert_allclose(np.asarray(published.position).reshape(-1, 3)[:, 2], 0, atol=2e-3)
        # The new state has the stamp of the next step, because the previous state was published.
        assert ros.call(Reset, "/tactile_sim/reset", keyframe="rest").success
    lines = [line for line in ros.output(process).splitlines() if "engine 'motrix'" in line]
    assert sum("option" in line for line in lines) == 1


def test_controller_reaches_same_force_on_each_engine(ros, engine_name):
    (ros.folder / "scene.xml").write_text(SCENE)
    readings = ros.listen(ContactSensor, "contact_sensors/press")
    contacts = ros.listen(ContactWrenchArray, "contacts")
    ros.run(
        scene=str(ros.folder / "scene.xml"), engine=engine_name, contact_sensors=SENSORS, contacts="all",
        lockstep=True, rates={"sensors": 500.0},
    )  # fmt: skip
    wait_for(lambda: readings and contacts, "the node")
    ros.processes.append(subprocess.Popen([sys.executable, "-c", CONTROLLER], env=ros.environment))

    def settled() -> bool:
        last = [message.slots.wrench.force for message in readings[-20:] if message.found]
        return len(last) == 20 and np.allclose(last, [0, 0, -WANTED], atol=0.01 * WANTED)

    wait_for(settled, "the force")
    # The floor carries the press and the object.
    up = np.zeros(3)
    for contact in range(len(contacts[-1].contacts)):
        published = contacts[-1].contacts
        if "floor" in (published.geom1[contact], published.geom2[contact]):
            up += np.asarray(published.wrench.force).reshape(-1, 3)[contact]
    np.testing.assert_allclose(np.abs(up), [0, 0, WANTED + 0.5 * 9.81], atol=0.1 * WANTED)
