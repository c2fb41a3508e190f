#!/usr/bin/env python3
"""Step the simulation until the controller manager sends commands.

In lock-step, the clock stays at 0 until the first command, but a controller manager with use_sim_time sends
no command until the clock runs.
"""

import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState
from tactile_sim.srv import Step

rclpy.init()
node = Node("start_clock")
commands = []
node.create_subscription(JointState, "joint_commands", commands.append, 10)
client = node.create_client(Step, "tactile_sim/step")
client.wait_for_service()
while rclpy.ok() and not commands:
    rclpy.spin_until_future_complete(node, client.call_async(Step.Request(steps=1)))
    rclpy.spin_once(node, timeout_sec=0.1)
