"""Test the output and exit codes of the command line, without ROS."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.errors import raises

from tactile_sim import CommandError
from tactile_sim.cli import main
from tactile_sim.environment import require_ros, split_ros_arguments

ROOT = Path(__file__).parent.parent

COMMANDS = ["run", "demo", "info", "check", "record", "bag", "bench"]
ENFORCED = {"ROS_SECURITY_ENABLE": "true", "ROS_SECURITY_STRATEGY": "Enforce"}
WITHOUT_ROS = "import sys; sys.modules['rclpy'] = None; from tactile_sim.cli import main; sys.exit(main())"


def command_without_ros(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process that cannot import rclpy."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_ROS, *arguments], capture_output=True, text=True, timeout=120
    )


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


def test_info_without_ros_lists_bodies_and_taxels(without_progress):
    done = command_without_ros("info", "touch_cube")
    assert (done.returncode, without_progress(done.stderr)) == (0, "")
    for text in ("1.24 kg", "table_top", "ball_4_free", "no sensors", "no actuators"):
        assert text in done.stdout  # a cube of 1 kg and four balls of 60 g


def test_info_as_json_has_the_contents_in_si_units(capsys):
    assert main(["info", "touch_cube", "--json"]) == 0
    contents = json.loads(capsys.readouterr().out)
    [cube] = contents["pads"]
    assert (cube["pad"], cube["topic"], cube["spacing"]) == ("cube", "tactile/cube", 0.02)
    assert cube["area"] == pytest.approx(6 * 0.2**2, rel=0.01)
    assert cube["taxels"] == pytest.approx(cube["area"] / 0.02**2, rel=0.25)  # about a spacing squared each
    assert cube["ids"] == [0, cube["taxels"] - 1]
    masses = {body["body"]: body["mass"] for body in contents["bodies"]}
    assert masses["cube"] == pytest.approx(1.0)
    assert contents["moving_mass"] == pytest.approx(sum(masses.values()) - masses["table"])


def test_short_info_of_the_infant_lists_only_its_pads(capsys):
    assert main(["info", "infant", "--short"]) == 0
    summary, skin = capsys.readouterr().out.split("pads\n")
    rows = [line.split() for line in skin.splitlines()[2:] if line and not line.startswith(" ")]
    assert len(rows) >= 22
    taxels = sum(int(row[3]) for row in rows)  # after pad, topic and body
    assert taxels == pytest.approx(7000, rel=0.2)
    assert str(taxels) in summary


@pytest.mark.parametrize("config", ["touch_cube", "infant"])
def test_check_prints_one_line_for_a_valid_configuration(config, capsys, without_progress):
    assert main(["check", config]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{config}: ")
    assert (out.count("\n"), without_progress(err)) == (1, "")


@pytest.mark.parametrize("command", ["check", "info"])
def test_joints_without_position_command_are_listed_with_the_reason(command, tmp_path, capsys):
    (tmp_path / "scene.xml").write_text("""<mujoco><worldbody>
      <body name="arm"><joint name="elbow"/><geom size=".1"/></body>
      <body><joint name="knee"/><geom size=".1"/></body></worldbody>
      <actuator><motor name="push" joint="elbow"/>
        <pid name="servo" joint="knee" kp="1" input="pos ff"/></actuator></mujoco>""")
    (tmp_path / "it.yaml").write_text(
        "/**:\n  ros__parameters:\n    scene: scene.xml\n    skin: {scales: {arm: 0.05}}\n"
    )
    assert main([command, str(tmp_path / "it.yaml")]) == 0
    out = capsys.readouterr().out
    assert "actuator 'push' takes effort" in out
    if command == "check":
        assert "elbow (" in out and "knee" not in out
    else:
        lines = [" ".join(line.split()) for line in out.splitlines()]
        assert "servo/0 joint knee" in lines and "servo/1 joint knee" in lines


def test_check_names_the_key_and_the_nearest_name(tmp_path, capsys):
    config = tmp_path / "misspelt.yaml"
    config.write_text(
        "/**:\n  ros__parameters:\n    scene: touch_cube.xml\n    skin: {scales: {cub: 0.02}}\n"
    )
    assert main(["check", str(config)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tactile_sim: error: ")
    assert err.count("\n") == 1
    for word in ("skin.scales", "cub", "'cube'"):
        assert word in err


@pytest.mark.parametrize("command", ["info", "check", "demo"])
def test_missing_configuration_gives_one_error_line(command):
    done = command_without_ros(command, "no_such_scene")
    assert done.returncode == 2
    assert done.stderr.startswith("tactile_sim: error: ")
    assert "no_such_scene" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["run", "demo"])
def test_commands_that_need_ros_name_the_setup_command(command):
    done = command_without_ros(command, "touch_cube")
    assert done.returncode == 2
    assert done.stderr.startswith("tactile_sim: error: ")
    assert "rclpy" in done.stderr
    assert "make setup" in done.stderr
    assert done.stderr.count("\n") == 1


def test_unknown_benchmark_is_rejected(capsys):
    assert main(["bench", "no_such_benchmark"]) == 2
    assert "no_such_benchmark" in capsys.readouterr().err


def test_closed_pipe_is_not_an_error(without_progress):
    reading, writing = os.pipe()
    os.close(reading)
    done = command("check", "touch_cube", stdout=writing)
    os.close(writing)
    assert (done.returncode, without_progress(done.stderr)) == (0, "")


def command(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    """Run the command in a new process."""
    program = [sys.executable, "-m", "tactile_sim", *arguments]
    return subprocess.run(program, stderr=subprocess.PIPE, text=True, timeout=120, cwd=ROOT, **options)


@pytest.mark.parametrize("config", ["touch_cube", "infant"])  # less and more than a buffer
def test_output_to_a_full_disk_gives_one_error_line(config, without_progress):
    with open("/dev/full", "w") as full:
        done = command("info", config, stdout=full)
    assert done.returncode == 2
    [line] = without_progress(done.stderr).splitlines()
    assert line.startswith("tactile_sim: error: ") and line.endswith(os.strerror(28))


def test_closed_output_gives_one_error_line():
    done = command("info", "touch_cube", preexec_fn=lambda: os.close(1))
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("tactile_sim: error: ") and "/dev/null" in line


def test_ctrl_c_during_imports_shows_no_traceback(tmp_path):
    """MuJoCo's import turns a KeyboardInterrupt into an ImportError.

    A module that does the same replaces it here.
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
    program = "import sys; from tactile_sim.cli import main; main(['bag', 'info', 'none']);"
    program += "sys.exit('mujoco' in sys.modules)"
    # MUJOCO_GL, which other tests of this process may have set, has MuJoCo imported to check it.
    environment = {name: value for name, value in os.environ.items() if name != "MUJOCO_GL"}
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, timeout=120, env=environment)
    assert done.returncode == 0


def test_info_lists_the_topic_of_a_body_with_an_invalid_topic_name(tmp_path, capsys):
    body = '<body name="left.palm"><geom type="box" size=".1 .1 .1"/></body>'
    (tmp_path / "palm.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    config = tmp_path / "palm.yaml"
    config.write_text("/**:\n  ros__parameters: {scene: palm.xml, skin: {scales: {left.palm: 0.02}}}\n")
    assert main(["info", str(config), "--json"]) == 0
    [pad] = json.loads(capsys.readouterr().out)["pads"]
    assert (pad["pad"], pad["topic"]) == ("left.palm", "tactile/left_palm")
    assert main(["check", str(config)]) == 0
    assert "1 body, 1 with skin, " in capsys.readouterr().out


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


def test_info_plots_the_layout_of_pads(tmp_path, capsys):
    file = tmp_path / "layout.svg"
    assert main(["info", "gripper", "--plot", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(file)
    assert "left_pad: 16 taxels" in file.read_text()
    file.write_text("mine")
    assert main(["info", "gripper", "--plot", str(file)]) == 2
    assert "--force" in capsys.readouterr().err and file.read_text() == "mine"
    assert main(["info", "gripper", "--short", "--plot", str(file), "--force"]) == 0
    assert "left_pad: 16 taxels" in file.read_text()
    for wrong in (tmp_path / "layout.txt", tmp_path / "none" / "layout.svg"):
        assert main(["info", "gripper", "--plot", str(wrong)]) == 2
        assert wrong.name in capsys.readouterr().err


def test_presets_are_listed_with_the_sources_of_their_figures(capsys):
    assert main(["presets"]) == 0
    assert "xela_uspa44" in capsys.readouterr().out
    assert main(["presets", "xela_uspa44"]) == 0
    assert "secondary" in capsys.readouterr().out
    assert main(["presets", "xela"]) == 2
    assert "xela_u" in capsys.readouterr().err


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
