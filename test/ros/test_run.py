"""The command ``run`` with and without a recorder."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import yaml
from support.domain import own_domain

pytest.importorskip("rclpy", reason="the command runs the ROS node")

ROOT = Path(__file__).parents[2]


def run(*arguments: str, command: Sequence[str] = ("-m", "tactile_sim")) -> subprocess.CompletedProcess[str]:
    environment = {
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "ROS_DOMAIN_ID": str(own_domain()),
    }
    return subprocess.run(
        [sys.executable, *command, "run", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | environment,
        timeout=240,
    )


def test_run_with_recorder_writes_complete_bag(tmp_path):
    from tactile_sim import bag

    done = run("touch_cube", "--duration", "1.5", "--record", str(tmp_path / "fall"))
    assert done.returncode == 0, done.stderr
    stamps = bag.read(tmp_path / "fall", ["/tactile/frame"])["/tactile/frame"].stamps
    assert set(np.diff(stamps)) == {10_000_000}  # 100 Hz without gaps
    assert stamps[-1] >= 1_480_000_000


def test_end_of_the_duration_is_logged():
    done = run("touch_cube", "--duration", "0.125")
    assert done.returncode == 0
    assert done.stderr.count("0.125 s") == 1


def test_start_does_not_import_matplotlib():
    program = "import sys; from tactile_sim.commands import main; main();"
    program += "sys.exit('matplotlib' in sys.modules)"
    done = run("touch_cube", "--duration", "0.1", command=["-c", program])
    assert done.returncode == 0, done.stderr


def test_node_does_not_start_if_recorder_fails(tmp_path):
    (tmp_path / "there").mkdir()
    done = run("touch_cube", "--duration", "1", "--record", str(tmp_path / "there"))
    assert done.returncode == 2
    assert done.stderr.startswith("tactile_sim: error: ")
    assert str(tmp_path / "there") in done.stderr
    assert done.stderr.count("\n") == 1


def test_ros_arguments_reach_node():
    done = run("touch_cube", "--duration", "0.1", "--ros-args", "-p", "skin.touch_functio:=normal")
    assert done.returncode == 2
    assert "skin.touch_function" in done.stderr
    assert "Traceback" not in done.stderr


def test_physics_fault_ends_a_run_of_limited_duration(tmp_path):
    from tactile_sim import bag

    body = '<body name="box"><freejoint/><geom size="0.1"/></body>'
    (tmp_path / "scene.xml").write_text(
        f'<mujoco><option gravity="0 0 -9e9"/><worldbody>{body}</worldbody></mujoco>'
    )
    config = tmp_path / "my.yaml"
    config.write_text(
        "/**: {ros__parameters: {scene: scene.xml, real_time_factor: 0.0, skin: {scales: {box: 0.1}}}}"
    )
    done = run(str(config), "--duration", "1e6", "--record", str(tmp_path / "fall"))
    assert done.returncode == 2
    (line,) = (line for line in done.stderr.splitlines() if "physics fault" in line)
    assert "~/reset" not in line
    assert len(bag.read(tmp_path / "fall", ["/tactile/frame"])["/tactile/frame"].stamps)


SIM = "import sys; from tactile_sim.ros.node import main; sys.exit(main())"


@pytest.mark.parametrize(("argument", "code"), [("--help", 0), ("--nonsense", 2)])
def test_sim_executable_parses_its_options(argument, code, capfd):
    from tactile_sim.ros.node import main

    with pytest.raises(SystemExit) as end:
        main([argument])
    assert end.value.code == code
    assert "--params-file" in "".join(capfd.readouterr())


def test_sim_publishes_started_clock_while_waiting_for_recorder(ros):
    from rosgraph_msgs.msg import Clock
    from support.ros import PATIENCE, stamp, wait_for

    from tactile_sim.ros.recorder_process import MATCHING_PATIENCE

    clocks = ros.listen(Clock, "/clock")
    files = ["--ros-args", "--params-file", str(ROOT / "config/touch_cube.yaml")]
    qos = ros.folder / "qos.yaml"
    process = subprocess.Popen([sys.executable, "-c", SIM, "--recorded", qos, *files], env=ros.environment)
    ros.processes.append(process)
    wait_for(lambda: len(clocks) > 10 or process.poll() is not None, "the clock")
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    assert process.wait(PATIENCE) == 0
    assert time.monotonic() - start < MATCHING_PATIENCE - 5.0  # it does not wait for the recorder
    assert {stamp(clock) for clock in clocks} == {1}
    overrides = yaml.safe_load(qos.read_text())
    assert overrides["/tactile/cube/array"] == {
        "history": "keep_all", "reliability": "reliable", "durability": "volatile"
    }  # fmt: skip
    assert "/tactile/cube/layout" not in overrides  # latched
