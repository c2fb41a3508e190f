"""Run in lock-step over ROS: physics waits for requests, so results do not depend on this program's speed.

tactile_sim run touch_cube --ros-args -p lockstep:=true &  python examples/lock_step.py
"""

import rclpy
from rclpy.node import Node
from tactile_sim.msg import TactileFrame
from tactile_sim.srv import Step

from tactile_sim.ros import subscribe

rclpy.init()
node = Node("lock_step")
frames = []
subscribe(node, TactileFrame, "tactile/frame", frames.append)
step = node.create_client(Step, "/tactile_sim/step")
step.wait_for_service()
while not frames:  # a new subscriber receives the current state immediately
    rclpy.spin_once(node)
for _ in range(50):
    answer = step.call_async(Step.Request(steps=10))  # 20 ms
    rclpy.spin_until_future_complete(node, answer)
    now = answer.result().time
    while (frames[-1].header.stamp.sec, frames[-1].header.stamp.nanosec) != (now.sec, now.nanosec):
        rclpy.spin_once(node)
weight = frames[-1].data.reshape(-1, 3).sum(axis=0)
print(f"at {now.sec + 1e-9 * now.nanosec:.2f} s the skin feels {abs(weight).max():.2f} N")
