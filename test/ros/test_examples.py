"""The ROS programs in examples/ behave as described in docs/controllers.md."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from sensor_msgs.msg import JointState  # noqa: E402
from support.ros import PATIENCE, stamp, wait_for  # noqa: E402
from tactile_sim.msg import TactileFrame  # noqa: E402

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_reflex_holds_ball_with_gentle_fingertips(ros):
    frames = ros.listen(TactileFrame, "tactile/frame")
    commands = ros.listen(JointState, "joint_commands")
    ros.start("run", "hand", "--ros-args", "-p", "start_paused:=true")
    wait_for(lambda: frames, "the hand")
    reflex = subprocess.Popen([sys.executable, EXAMPLES / "reflex.py"], env=ros.environment)

    def tips(frame) -> np.ndarray:
        """Return the sum of force magnitudes on each of the five fingertips [N]."""
        size = np.linalg.norm(frame.data.reshape(-1, 3), axis=1)
        bodies = np.split(size, np.cumsum(frame.taxel_counts)[:-1])
        return np.array(
            [force.sum() for name, force in zip(frame.bodies, bodies, strict=True) if name.endswith("_tip")]
        )

    def held() -> bool:
        """Return whether at least four fingers have held the ball gently for 0.25 s of simulation time."""
        if len(frames) < 25:
            return False
        recent = np.array([tips(frame) for frame in frames[-25:]])
        return bool((recent.min(axis=0) > 0.05).sum() >= 4 and recent.max() < 1.0)

    try:
        wait_for(lambda: ros.node.count_publishers("joint_commands"), "the reflex")
        # Its first commands can be lost before discovery is complete.
        wait_for(lambda: commands or ros.step(5, frames) < 0, "the first command")
        frames.clear()  # from now on only the reflex moves the hand
        while not held():
            known = len(commands)
            assert ros.step(5, frames) < 10**10
            wait_for(lambda known=known: len(commands) > known, "the next command")
    finally:
        reflex.send_signal(signal.SIGINT)
        assert reflex.wait(PATIENCE) == 0


def test_policy_keeps_ball_on_the_tray(ros):
    frames = ros.listen(TactileFrame, "tactile/frame")
    commands = ros.listen(JointState, "joint_commands")
    ros.start("run", "balance", "--ros-args", "-p", "lockstep:=true")
    wait_for(lambda: frames, "the tray")
    assert frames[0].data.any() and stamp(frames[0]) == 0  # the ball lies on it
    ros.start(program=EXAMPLES / "balance_controller.py")
    # Each command triggers a step. Without commands, the ball falls within 2 s.
    wait_for(lambda: len(frames) > 750 and stamp(frames[-1]) > 3 * 10**9, "3 s in steps of 4 ms")
    felt = sorted(stamp(frame) for frame in list(frames) if frame.data.any())
    assert max(np.diff(felt)) < 10**9 // 2 and felt[-1] > 5 * 10**9 // 2  # the ball may hop
    assert np.ptp([command.position for command in commands], axis=0).min() > 0.02


def test_cpp_listener_builds_and_receives_readings(ros, tmp_path):
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(":")
    if not any((Path(prefix) / "share/rclcpp").is_dir() for prefix in prefixes):
        pytest.skip("rclcpp is not installed: a ROS installation brings it, wheels do not")
    build = ["--base-paths", EXAMPLES / "tactile_listener_cpp", "--install-base", tmp_path / "install"]
    build += ["--build-base", tmp_path / "build"]
    subprocess.run(
        [sys.executable, "-m", "colcon", "--log-base", tmp_path / "log", "build", *build],
        check=True,
        timeout=300,
    )
    ros.start("run", "touch_cube")
    listener = tmp_path / "install/tactile_listener_cpp/lib/tactile_listener_cpp/listener"
    process = subprocess.Popen([listener], env=ros.environment, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert "602 taxels on 1 bodies" in process.stderr.readline()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


def test_lock_step_and_reading_its_bag_give_the_weight(ros):
    node = ros.start("run", "touch_cube", "--record", "bag", "--ros-args", "-p", "lockstep:=true")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "lock_step.py"],
        env=ros.environment, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert "at 1.00 s the skin feels 9.81 N" in done.stdout, done.stderr
    ros.output(node)
    read = [sys.executable, EXAMPLES / "read_bag.py", ros.folder / "bag"]
    done = subprocess.run(read, env=ros.environment, capture_output=True, text=True, timeout=PATIENCE)
    assert "602 taxels" in done.stdout and "cube: " in done.stdout, done.stderr
