"""Test the output and exit codes of the command line, without ROS."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import commands_without_ros
from support.errors import raises

from tactile_sim import CommandError
from tactile_sim.commands import main
from tactile_sim.common.processes import require_ros, split_ros_arguments

ROOT = Path(__file__).parent.parent

COMMANDS = ["run", "demo", "info", "check", "record", "bag", "bench"]
ENFORCED = {"ROS_SECURITY_ENABLE": "true", "ROS_SECURITY_STRATEGY": "Enforce"}


def test_help_lists_every_command(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    listed = capsys.readouterr().out
    for command in COMMANDS:
        assert f"\n    {command} " in listed


def test_no_arguments_print_help(capsys):
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert "usage: tactile_sim" in out and not err


def test_unknown_command_suggests_the_nearest(capsys):
    with pytest.raises(SystemExit) as end:
        main(["chek", "touch_cube"])
    assert end.value.code == 2
    assert "'check'" in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert f"usage: tactile_sim {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["info"],
        ["run", "a", "--duration", "0"],
        ["demo", "a", "--duration", "x"],
        ["info", "touch_cube", "--ros-args", "-p", "a:=b"],
    ],
    ids=" ".join,
)
def test_invalid_arguments_exit_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "error:" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", ["plot", "bag export", "record"])
def test_optional_arguments_are_not_called_required(arguments, capsys):
    with pytest.raises(SystemExit):
        main(arguments.split())
    required = capsys.readouterr().err.rpartition("required: ")[2].split()
    assert required == ["OUT" if arguments == "record" else "BAG"]


@pytest.mark.parametrize("option", [["--web-out", "films"], ["--web-allow-other-port"]])
def test_options_of_the_view_require_the_view(option, capsys):
    assert main(["run", "touch_cube", *option]) == 2
    assert "--web" in capsys.readouterr().err


def test_errors_of_commands_without_ros_are_one_line():
    facts = {
        ("info", "no_such_scene"): ("no_such_scene",),
        ("check", "no_such_scene"): ("no_such_scene",),
        ("demo", "no_such_scene"): ("no_such_scene",),
        ("run", "touch_cube"): ("rclpy", "make setup"),
        ("demo", "touch_cube"): ("rclpy", "make setup"),
    }
    for words, (code, _, error) in zip(facts.values(), commands_without_ros(*facts), strict=True):
        assert code == 2
        assert error.startswith("tactile_sim: error: ") and error.count("\n") == 1
        assert all(word in error for word in words), error


def test_unknown_benchmark_is_rejected(capsys):
    assert main(["bench", "no_such_benchmark"]) == 2
    assert "no_such_benchmark" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["check", "touch_cube"], ["info", "touch_cube"], ["presets"]])
def test_closed_pipe_is_not_an_error(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    done = command(*arguments, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def command(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    """Run the command in a new process."""
    program = [sys.executable, "-m", "tactile_sim", *arguments]
    return subprocess.run(program, stderr=subprocess.PIPE, text=True, timeout=120, cwd=ROOT, **options)


@pytest.mark.parametrize("arguments", [["presets"], ["info", "infant"]])  # less and more than one buffer
def test_output_to_a_full_disk_gives_one_error_line(arguments):
    with open("/dev/full", "w") as full:
        done = command(*arguments, stdout=full)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("tactile_sim: error: ") and line.endswith(os.strerror(28))


def test_closed_output_gives_one_error_line():
    done = command("info", "touch_cube", preexec_fn=lambda: os.close(1))
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("tactile_sim: error: ") and "/dev/null" in line


def test_ctrl_c_during_imports_shows_no_traceback(tmp_path):
    """Importing MuJoCo turns a KeyboardInterrupt into an ImportError.

    In this test, a module with the same behavior replaces MuJoCo.
    """
    (tmp_path / "mujoco.py").write_text(
        "import os, signal\n"
        "try: os.kill(os.getpid(), signal.SIGINT)\n"
        "except KeyboardInterrupt: raise ImportError('initialization failed') from None\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = command("info", "touch_cube", stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": path})
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_a_command_does_not_import_others():
    program = "import sys; from tactile_sim.commands import main; main(['bag', 'info', 'none']);"
    program += "sys.exit('mujoco' in sys.modules)"
    # If other tests in this process have set MUJOCO_GL, MuJoCo is imported to check its value.
    environment = {name: value for name, value in os.environ.items() if name != "MUJOCO_GL"}
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=120, env=environment)
    assert done.returncode == 0


def test_help_imports_no_heavy_modules():
    heavy = {"numpy", "mujoco", "scipy", "matplotlib", "viser", "rclpy", "tactile_sim.config"}
    program = "import sys; from tactile_sim.commands import main\n"
    program += "try: main(['--help'])\nfinally: print(*sys.modules, file=sys.stderr)"
    environment = {name: value for name, value in os.environ.items() if name != "MUJOCO_GL"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == 0 and "demo" in done.stdout
    assert not heavy & set(done.stderr.split())


@pytest.mark.parametrize("domain", ["300", "-1", "abc"])
def test_invalid_ros_domain_is_rejected(domain, monkeypatch):
    pytest.importorskip("rclpy", reason="ROS 2 is not installed: run make setup")
    monkeypatch.setenv("ROS_DOMAIN_ID", domain)
    with raises(CommandError, "ROS_DOMAIN_ID", f"'{domain}'", "232"):
        require_ros("tactile_sim record")


def test_recorder_that_ros_rejects_leaves_no_bag(tmp_path):
    pytest.importorskip("rclpy", reason="ROS 2 is not installed: run make setup")
    store = {"ROS_SECURITY_KEYSTORE": str(tmp_path / "nowhere")}
    done = command(
        "record", str(tmp_path / "b"), stdout=subprocess.DEVNULL, env=os.environ | ENFORCED | store
    )
    assert done.returncode == 2
    assert done.stderr.startswith("tactile_sim: error: ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("environment", "name"),
    [({"HOME": ""}, "HOME"), (ENFORCED, "ROS_SECURITY_KEYSTORE"), (ENFORCED | {"HOME": ""}, "HOME")],
)
def test_invalid_environment_variable_for_ros_is_named(monkeypatch, environment, name):
    pytest.importorskip("rclpy", reason="ROS 2 is not installed: run make setup")
    for variable in ("ROS_HOME", "ROS_LOG_DIR", "ROS_SECURITY_KEYSTORE"):
        monkeypatch.delenv(variable, raising=False)
    require_ros("tactile_sim run")
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    with raises(CommandError, name):
        require_ros("tactile_sim run")


def test_ros_arguments_end_at_double_dash():
    arguments = ["run", "a", "--ros-args", "-r", "__ns:=/left", "--", "--duration", "3"]
    assert split_ros_arguments(arguments) == (["run", "a", "--duration", "3"], ["-r", "__ns:=/left"])
    assert split_ros_arguments(["run", "a", "--ros-args", "-p", "b:=c"]) == (["run", "a"], ["-p", "b:=c"])


def test_graphics_library_that_mujoco_cannot_load_gives_one_error_line():
    done = subprocess.run(
        [sys.executable, "-m", "tactile_sim", "check", "touch_cube"],
        env=os.environ | {"MUJOCO_GL": "no_such_library"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "MUJOCO_GL=no_such_library" in line


@pytest.mark.parametrize(
    ("line", "completions"),
    [
        ("tactile_sim pre", {"presets"}),
        ("tactile_sim info ha", {"hand"}),
        ("tactile_sim view touch_", {"touch_cube"}),
    ],
)
def test_shell_completes_commands_and_configurations(line, completions, tmp_path):
    file = tmp_path / "completions"
    shell = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": " ",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(file),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    command(env=os.environ | shell)
    assert set(file.read_text().split()) == completions
