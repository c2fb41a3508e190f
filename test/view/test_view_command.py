"""The command ``view`` with its process: served, ended, killed, refused."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

VIEW = [sys.executable, "-m", "tactile_sim", "view"]
PATIENCE = 120.0  # s that nothing takes, however busy the machine


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*VIEW, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def running():
    """A view of ``touch_cube``, its address, and the process that serves it."""
    process = start("touch_cube", "--port", "0")
    assert process.stderr.readline() == "making touch_cube and its skin\n"
    line = process.stdout.readline()
    assert line.startswith("web view: http://127.0.0.1:"), process.communicate()
    yield process, line.split()[-1], server(process.pid)
    process.kill()
    process.communicate()


def server(pid: int) -> int:
    """The process of the view, which is the child of the simulation's."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    (child,) = [
        int(each) for each in children if b"view.server" in Path(f"/proc/{each}/cmdline").read_bytes()
    ]
    return child


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_page_is_served_where_it_says_and_ctrl_c_ends_it(running, without_progress):
    process, address, serving = running
    with urllib.request.urlopen(address) as page:
        assert b"<html" in page.read().lower()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, without_progress(err)) == (0, "", "")
    assert is_gone(serving)


def test_a_killed_simulation_leaves_nothing_behind(running):
    process, _, serving = running
    process.kill()
    process.wait()
    wait_until(lambda: is_gone(serving))


def test_a_view_that_dies_is_told_in_one_line_and_ends_the_command(running, without_progress):
    process, _, serving = running
    os.kill(serving, signal.SIGKILL)
    out, err = process.communicate(timeout=PATIENCE)
    told = "tactile_sim: error: the web view broke down (exit code -9)\n"
    assert (out, without_progress(err)) == ("", told)
    assert process.returncode == 1


def test_a_duration_of_wall_time_ends_it(without_progress):
    process = start("touch_cube", "--port", "0", "--duration", "0.1")
    assert without_progress(process.communicate(timeout=PATIENCE)[1]) == "making touch_cube and its skin\n"
    assert process.returncode == 0


def test_a_busy_port_is_refused_in_one_line_with_the_remedy():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        process = start("touch_cube", "--port", port)
        err = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 2
    assert err.startswith("tactile_sim: error: ")
    assert port in err
    assert "--port 8081" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ["infnt"],
            "infnt is neither a bag nor a file, and no configuration of that name is shipped; did you",
        ),
        (["touch_cube", "--port", "70000"], "expected a port from 0 to 65535"),
        (["touch_cube", "--host", "no.such.host.invalid"], "no.such.host.invalid"),
    ],
)
def test_what_cannot_be_shown_is_refused(arguments, reason):
    process = start(*arguments)
    err = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 2
    assert reason in err
    assert "Traceback" not in err
