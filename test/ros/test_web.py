"""The node with the web view."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from support.domain import own_domain

pytest.importorskip("rclpy", reason="the commands run the ROS node")

START = 120.0  # maximum startup time of a node on a busy machine [s]


@pytest.fixture
def environment():
    return os.environ | {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_DOMAIN_ID": str(own_domain())}


def start(environment, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


@pytest.fixture
def busy_port():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_node_logs_url_of_view(environment):
    ros = ["--ros-args", "-p", "web.port:=0"]
    process = start(environment, "tactile_sim", "run", "touch_cube", "--web", *ros)
    found = None
    while not found and (line := process.stderr.readline()):
        found = re.search(r"web view: (http://127\.0\.0\.1:\d+)$", line)
    assert found, "it ended without a view"
    with urllib.request.urlopen(found[1]) as page:
        assert page.status == 200
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=START)
    assert process.returncode == 0


def test_busy_port_ends_node_with_remedy(environment, busy_port):
    ros = ["--ros-args", "-p", f"web.port:={busy_port}"]
    process = start(environment, "tactile_sim", "run", "touch_cube", "--web", *ros)
    err = process.communicate(timeout=START)[1]
    assert process.returncode == 2
    (line,) = [line for line in err.splitlines() if "error" in line]
    assert line.startswith("tactile_sim: error: ")
    assert str(busy_port) in line
    assert "-p web.port:=8081" in line


def test_sim_executable_accepts_web_switch(environment, busy_port):
    ros = ["--ros-args", "-p", "scene:=touch_cube.xml", "-p", "contacts:=all", "-p", f"web.port:={busy_port}"]
    code = "import sys; from tactile_sim.ros.node import main; sys.exit(main(sys.argv[2:]))"
    process = subprocess.run(
        [sys.executable, "-c", code, "sim", "--web", *ros],
        capture_output=True,
        text=True,
        env=environment,
        timeout=START,
    )
    assert process.returncode == 2
    assert str(busy_port) in process.stderr


def test_demo_reports_next_free_port(environment, busy_port, tmp_path):
    parameters = (
        f"scene: touch_cube.xml\n    skin: {{scales: {{cube: 0.02}}}}\n    web: {{port: {busy_port}}}"
    )
    (tmp_path / "demo.yaml").write_text(f"/**:\n  ros__parameters:\n    {parameters}\n")
    process = start(environment, "tactile_sim", "demo", str(tmp_path / "demo.yaml"), "--duration", "1")
    out, err = process.communicate(timeout=START)
    assert process.returncode == 0, err
    found = re.search(r"^web view: http://127\.0\.0\.1:(\d+) \(port (\d+) is taken\)$", out, re.MULTILINE)
    assert int(found[1]) > busy_port
    assert int(found[2]) == busy_port
