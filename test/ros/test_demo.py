"""Test the demo as a user runs it: piped tables, keys in a terminal, and no processes left at the end."""

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="the demo runs the ROS node")

from tactile_sim.commands import main  # noqa: E402

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0  # timeout of all waits, far longer than they take [s]
WEIGHT = 1.0 * 9.81  # weight of the cube [N]
N = r"([\d.]+)"
DEMO = [sys.executable, "-m", "tactile_sim", "demo"]


@pytest.fixture
def environment():
    """Return an environment without ROS_DOMAIN_ID, so that the demo selects a free domain."""
    return {name: value for name, value in os.environ.items() if name != "ROS_DOMAIN_ID"}


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until(condition, what: str):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if result := condition():
            return result
        time.sleep(0.05)
    pytest.fail(f"{what} did not happen within {PATIENCE:g} s")


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


class Terminal:
    """A demo that runs in a pseudo-terminal, so that tests can press keys and read the output."""

    def __init__(self, environment: dict[str, str]):
        ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [*DEMO, "touch_cube"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=ROOT,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # controlling terminal of its session
            env=environment | {"TERM": "xterm", "COLUMNS": "120", "LINES": "30"},
        )
        os.close(theirs)
        self.fd = ours
        self.text = ""

    def press(self, key: str) -> None:
        os.write(self.fd, key.encode())

    def wait_for(self, pattern: str, condition=lambda match: True) -> re.Match:
        """Wait for new text that matches a pattern and meets a condition; return the match."""
        start = len(self.text)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    new = os.read(self.fd, 65536).decode(errors="replace")
                except OSError:  # the demo has ended
                    break
                self.text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", new)
            if found := next(filter(condition, re.finditer(pattern, self.text[start:])), None):
                return found
        pytest.fail(f"{pattern!r} did not appear within {PATIENCE:g} s; last seen:\n{self.text[-1500:]}")

    def wait_for_peak(self, low: float, high: float) -> None:
        """Wait until the displayed peak force on the cube in the last second is between two values [N]."""
        self.wait_for(rf"cube +{N} +{N} +{N} ", lambda match: low < float(match[3]) < high)

    def step(self, since: float = 0.0) -> float:
        """Press the step key and return the time reached, which is later than ``since`` [s]."""
        self.press("s")
        reached = float(self.wait_for(rf"step: now at {N} s", lambda match: float(match[1]) > since)[1])
        self.wait_for(rf"time {N} s   paused", lambda match: float(match[1]) == reached)
        return reached

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.hang_up()

    def hang_up(self) -> None:
        """Close the terminal, as when a connection is lost."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


@pytest.fixture
def terminal(environment):
    terminal = Terminal(environment)
    yield terminal
    terminal.close()


def start(environment):
    """Start a demo without a view, whose output is a pipe."""
    return subprocess.Popen(
        [*DEMO, "touch_cube", "--no-web"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
    )


@pytest.fixture
def running(environment):
    """Yield the process of a demo, and the process id of the node that it started."""
    process = start(environment)
    first = []
    for line in process.stdout:
        first.append(line)
        if line.startswith("time "):
            break
    else:
        pytest.fail(f"the demo ended: {process.communicate()[1]}")
    assert any("web view: off" in line for line in first)
    (node,) = children(process.pid)
    yield process, node
    if process.poll() is None:
        process.kill()
    process.communicate()
    wait_until(lambda: is_gone(node), "the end of the node")


def test_table_in_pipe_shows_weight_of_cube(environment, tmp_path):
    # A scene with little load, so that the simulation runs in real time on a busy machine.
    config = tmp_path / "light.yaml"
    config.write_text("/**: {ros__parameters: {scene: touch_cube.xml, skin: {scales: {cube: 0.1}}}}\n")
    started = time.monotonic()
    done = subprocess.run(
        [*DEMO, str(config), "--duration", "5"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - started > 5
    table = done.stdout[done.stdout.rindex("\ntime ") :]
    net, taxels, _, weight = re.search(rf"cube +{N} +{N} +{N} +#+ +weight {N} N", table).groups()
    assert float(weight) == pytest.approx(WEIGHT, abs=1e-3)
    assert float(net) == pytest.approx(WEIGHT, rel=0.01)
    assert float(taxels) == pytest.approx(WEIGHT, rel=0.05)  # forces at the corners are nearly parallel
    seconds, rate = re.search(r"time ([\d.]+) s .*tactile/frame (\d+) Hz", table).groups()
    assert float(seconds) > 1
    assert int(rate) > 0
    assert re.search(r"export ROS_DOMAIN_ID=\d+", done.stdout)


def test_physics_fault_ends_a_demo_of_limited_duration(environment, tmp_path):
    body = '<body name="box"><freejoint/><geom size="0.1"/></body>'
    (tmp_path / "scene.xml").write_text(
        f'<mujoco><option gravity="0 0 -9e9"/><worldbody>{body}</worldbody></mujoco>'
    )
    config = tmp_path / "my.yaml"
    config.write_text("/**: {ros__parameters: {scene: scene.xml, skin: {scales: {box: 0.1}}}}")
    done = subprocess.run(
        [*DEMO, str(config), "--duration", "1e6", "--no-web"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=PATIENCE,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "physics fault" in line and "~/reset" not in line


def test_keys_throw_pause_step_reset_and_quit(terminal):
    terminal.wait_for_peak(0.9 * WEIGHT, 1.1 * WEIGHT)  # fallen and at rest
    (node,) = children(terminal.process.pid)
    terminal.press(" ")
    terminal.wait_for_peak(1.5 * WEIGHT, 1e6)
    assert "throw: threw 'ball_1'" in terminal.text
    terminal.press("p")
    terminal.wait_for(r"time [\d.]+ s   paused")
    first = terminal.step()
    assert terminal.step(first) == pytest.approx(first + 0.002)
    terminal.press("r")
    terminal.wait_for("reset: reset")
    terminal.press("p")
    terminal.wait_for("real-time factor")
    terminal.press("q")
    assert terminal.process.wait(PATIENCE) == 0
    assert is_gone(node)


def test_keys_are_ignored_until_the_node_is_ready(terminal):
    terminal.press(" p")
    terminal.wait_for("q quit")
    assert "starting" in terminal.text and "space" not in terminal.text
    terminal.press(" p")
    terminal.wait_for("space")
    terminal.wait_for_peak(0.9 * WEIGHT, 1.1 * WEIGHT)  # not paused
    assert "throw:" not in terminal.text and "available" not in terminal.text
    terminal.press("q")
    assert terminal.process.wait(PATIENCE) == 0


def test_ctrl_c_ends_demo_and_node(running):
    process, node = running
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")
    assert is_gone(node)


def test_ctrl_c_during_the_start_is_reported_by_the_exit_code(environment):
    process = start(environment)
    assert "starting" in process.stdout.readline()
    (node,) = children(process.pid)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (130, "")
    assert is_gone(node)


def test_closed_terminal_ends_demo_and_node(terminal):
    terminal.wait_for("real-time factor")
    (node,) = children(terminal.process.pid)
    terminal.hang_up()
    terminal.process.wait(PATIENCE)
    assert is_gone(node)


def test_death_of_node_is_reported(running):
    process, node = running
    os.kill(node, signal.SIGKILL)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode not in (0, None)
    line = errors.splitlines()[0]
    assert line.startswith("tactile_sim: error: ") and "-9" in line


def test_killing_demo_ends_node(running):
    process, node = running
    process.kill()
    wait_until(lambda: is_gone(node), "the end of the node")


def test_errors_of_node_are_shown_with_exit_code(tmp_path, environment):
    config = tmp_path / "misspelled.yaml"
    config.write_text("/**: {ros__parameters: {scene: touch_cube.xml, skin: {scales: {cub: 0.02}}}}\n")
    done = subprocess.run(
        [*DEMO, str(config)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=PATIENCE,
    )
    assert done.returncode == 2
    assert "'cube'" in done.stderr
    assert "Traceback" not in done.stderr


def test_demo_ends_with_its_controller(environment, tmp_path, capfd):
    program = tmp_path / "controller.py"
    program.write_text("import sys\nprint('no weights')\nsys.exit(3)\n")
    command = [*DEMO, "touch_cube", "--no-web", "--controller"]
    done = subprocess.run(
        [*command, program], env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 3 and "no weights" in done.stderr and "controller" in done.stderr
    assert main([*command[3:], str(tmp_path)]) == 2
    err = capfd.readouterr().err
    assert "--controller" in err and str(tmp_path) in err
