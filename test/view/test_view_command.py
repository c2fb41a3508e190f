"""The command ``view``, and the process that it starts."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from support.errors import raises
from support.falling_bag import Cube, Making
from support.waiting import PATIENCE, wait_until

from tactile_sim import CommandError
from tactile_sim.commands import main
from tactile_sim.view.address import Endpoint

VIEW = [sys.executable, "-m", "tactile_sim", "view"]


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
    """Yield the process of a ``view touch_cube`` command, the view's URL, and the view's process id."""
    process = start("touch_cube", "--port", "0")
    assert "touch_cube" in process.stderr.readline()
    line = process.stdout.readline()
    assert line.startswith("web view: http://127.0.0.1:"), process.communicate()
    yield process, line.split()[-1], server(process.pid)
    process.kill()
    process.communicate()


def server(pid: int) -> int:
    """Return the process id of the view, which is a child of the simulation."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    (child,) = [
        int(each) for each in children if b"sim.view.process" in Path(f"/proc/{each}/cmdline").read_bytes()
    ]
    return child


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_page_is_served_at_the_printed_url_and_ctrl_c_ends_the_view(running):
    process, address, serving = running
    with urllib.request.urlopen(address) as page:
        assert b"<html" in page.read().lower()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "", "")
    assert is_gone(serving)


@pytest.fixture(params=["configuration", "bag"])
def source(request, tmp_path):
    """Return what to show: a configuration and a bag."""
    if request.param == "configuration":
        return "touch_cube"
    making = Making(tmp_path / "fall")
    Cube().write(making)
    making.bag.close()
    return str(making.bag.folder)


def test_exit_code_shows_whether_ctrl_c_came_during_the_start(source):
    """A shell reports 130 for a process that SIGINT has ended."""
    during, after = start(source, "--port", "0"), start(source, "--port", "0")
    assert during.stderr.readline()
    during.send_signal(signal.SIGINT)
    out, err = during.communicate(timeout=PATIENCE)
    assert during.returncode in (130, -signal.SIGINT)
    assert (out, err) == ("", "")
    assert after.stdout.readline().startswith("web view: ")
    after.send_signal(signal.SIGINT)
    out, _ = after.communicate(timeout=PATIENCE)
    assert (after.returncode, out) == (0, "")


def test_killed_simulation_leaves_no_process(running):
    process, _, serving = running
    process.kill()
    process.wait()
    wait_until(lambda: is_gone(serving))


def test_killed_view_ends_the_command_with_one_line(running):
    process, _, serving = running
    os.kill(serving, signal.SIGKILL)
    out, err = process.communicate(timeout=PATIENCE)
    assert out == ""
    assert err.startswith("tactile_sim: error: ") and "exit code -9" in err and err.count("\n") == 1
    assert process.returncode == 1


def test_duration_ends_the_command():
    process = start("touch_cube", "--port", "0", "--duration", "0.1")
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_busy_port_is_an_error_of_one_line_with_the_option():
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


def test_unknown_scene_is_an_error_that_names_the_nearest():
    process = start("infnt")
    err = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 2
    assert "'infant'" in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--port", "70000"], "70000"),
        (["--token", "a b"], "'a b'"),
        (["--host", "no.such.host.invalid"], "no.such.host.invalid"),
        (["--port", "0", "--out", __file__], "--out: "),
    ],
)
def test_invalid_arguments_are_an_error_that_names_the_value(arguments, named, capfd):
    assert exit_code(["view", "touch_cube", "--duration", "0.1", *arguments]) == 2
    err = capfd.readouterr().err
    assert named in err and "Traceback" not in err


def exit_code(arguments: list[str]) -> int:
    """Run a command in this process and return its exit code."""
    try:
        return main(arguments)
    except SystemExit as end:
        return end.code


def test_browsers_of_other_machines_write_only_to_a_chosen_folder(tmp_path):
    for host in ("127.0.0.1", "::1", "localhost"):
        assert Endpoint(host).output_folder(None) == Path()
    for host in ("0.0.0.0", "::", "", "192.168.1.7", "robot.local"):
        assert Endpoint(host, token="secret").output_folder(None) is None
        assert Endpoint(host).output_folder(tmp_path / "new") == tmp_path / "new"


def test_a_folder_in_which_no_file_can_be_made_is_refused_at_the_start():
    for folder in (Path(__file__) / "new", Path("/proc/new")):
        with raises(CommandError, str(folder)):
            Endpoint().output_folder(folder)


@pytest.mark.parametrize("options", [(), ("--no-browser",)])
def test_terminal_with_a_display_opens_a_browser(options, tmp_path):
    opened, program = tmp_path / "opened", tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    program.chmod(0o755)
    terminal, end = os.openpty()
    environment = os.environ | {"DISPLAY": ":9", "BROWSER": str(program)}
    arguments = ["touch_cube", "--port", "0", "--duration", "2", *options]
    with subprocess.Popen(
        [*VIEW, *arguments], stdout=end, stderr=subprocess.DEVNULL, env=environment
    ) as view:
        assert view.wait(PATIENCE) == 0
    os.close(end)
    url = os.read(terminal, 1000).decode().split()[-1]
    os.close(terminal)
    assert (opened.read_text().strip() if opened.exists() else None) == (None if options else url)
