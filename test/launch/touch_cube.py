"""Test the node, started by a launch file, with launch_testing.

Run ``launch_test test/launch/touch_cube.py`` or ``colcon test``.
"""

import time
import unittest
from pathlib import Path

import launch_testing
import launch_testing.actions
import launch_testing.asserts
import pytest
import rclpy
from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from tactile_sim.msg import TactileFrame

SIM = Path(__file__).parents[2] / "launch/sim.launch.py"
PATIENCE = 60.0  # seconds
COUNT = 50


@pytest.mark.launch_test
def generate_test_description():
    """Return a launch description that starts the node with the cube."""
    sim = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(SIM)), launch_arguments={"config": "touch_cube"}.items()
    )
    return LaunchDescription([sim, launch_testing.actions.ReadyToTest()])


class TestWhileRunning(unittest.TestCase):
    """Tests of the launched node's topics."""

    def test_frames_are_published_every_ten_milliseconds(self):
        rclpy.init()
        node = rclpy.create_node("listener")
        stamps = []

        def keep(frame):
            stamps.append(frame.header.stamp.sec * 10**9 + frame.header.stamp.nanosec)
            self.assertEqual(len(frame.data), frame.channels * sum(frame.taxel_counts))

        node.create_subscription(TactileFrame, "tactile/frame", keep, 100)
        end = time.monotonic() + PATIENCE
        while len(stamps) < COUNT and time.monotonic() < end:
            rclpy.spin_once(node, timeout_sec=1.0)
        node.destroy_node()
        rclpy.shutdown()
        steps = {after - before for before, after in zip(stamps, stamps[1:], strict=False)}
        self.assertEqual(steps, {10_000_000})


@launch_testing.post_shutdown_test()
class TestAfterShutdown(unittest.TestCase):
    """Tests of the processes' exit codes."""

    def test_every_process_exits_with_0(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
