"""Run the command line without ROS."""

from __future__ import annotations

import subprocess
import sys

WITHOUT_ROS = "import sys; sys.modules['rclpy'] = None; from tactile_sim.cli import main; sys.exit(main())"


def command_without_ros(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process that cannot import rclpy."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_ROS, *arguments], capture_output=True, text=True, timeout=120
    )
