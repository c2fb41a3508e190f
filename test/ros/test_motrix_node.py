"""The node with motrixsim: the shipped cube at rest, and one controller process on both engines."""

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

# The first reading calls for the first command: somebody must hear it.
while not commands.get_subscription_count():
    time.sleep(0.01)
node.create_subscription(ContactSensor, "contact_sensors/press", press, 10)
try:
    rclpy.spin(node)
except (KeyboardInterrupt, ExternalShutdownException):
    pass
"""


def test_the_shipped_cube_rests_in_motrixsim_and_its_taxels_bear_its_weight(ros):
    pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")
    frames = ros.listen(TactileFrame, "tactile/frame")
    contacts = ros.listen(ContactWrenchArray, "contacts")
    process = ros.start("run", "touch_cube", "--ros-args", "-p", "engine:=motrix", "-p", "start_paused:=true")
    wait_for(lambda: frames and contacts, "the first state")
    for steps, end in ((1500, 3000), (250, 3502)):
        assert ros.step(steps, frames, contacts) == end * 10**6
        weight = np.asarray(frames[-1].data).reshape(-1, 3).sum(axis=0)
        np.testing.assert_allclose(np.linalg.norm(weight), 9.81, rtol=0.1)
        told = contacts[-1].contacts
        force = np.asarray(told.wrench.force).reshape(-1, 3)
        np.testing.assert_allclose(force.sum(axis=0), [0, 0, 9.81], atol=0.981)
        np.testing.assert_allclose(np.asarray(told.position).reshape(-1, 3)[:, 2], 0, atol=2e-3)
        # One step on in ROS's time, for the state before has been sent.
        assert ros.call(Reset, "/tactile_sim/reset", keyframe="rest").success
    assert ros.output(process).count("engine 'motrix': ignored in the scene: option ") == 1


def test_one_controller_process_presses_with_the_same_force_on_either_engine(ros, engine_name):
    (ros.folder / "scene.xml").write_text(SCENE)
    felt = ros.listen(ContactSensor, "contact_sensors/press")
    contacts = ros.listen(ContactWrenchArray, "contacts")
    ros.run(
        scene=str(ros.folder / "scene.xml"), engine=engine_name, contact_sensors=SENSORS, contacts="all",
        lockstep=True, rates={"sensors": 500.0},
    )  # fmt: skip
    wait_for(lambda: felt and contacts, "the node")
    ros.processes.append(subprocess.Popen([sys.executable, "-c", CONTROLLER], env=ros.environment))

    def settled() -> bool:
        last = [message.slots.wrench.force for message in felt[-20:] if message.found]
        return len(last) == 20 and np.allclose(last, [0, 0, -WANTED], atol=0.01 * WANTED)

    wait_for(settled, "the force")
    # The floor bears the press and the object.
    up = np.zeros(3)
    for contact in range(len(contacts[-1].contacts)):
        told = contacts[-1].contacts
        if "floor" in (told.geom1[contact], told.geom2[contact]):
            up += np.asarray(told.wrench.force).reshape(-1, 3)[contact]
    np.testing.assert_allclose(np.abs(up), [0, 0, WANTED + 0.5 * 9.81], atol=0.1 * WANTED)
