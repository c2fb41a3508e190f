"""The command line: what it prints, and the exit code of every way to end. No ROS."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tactile_sim.cli import main, split_ros_arguments

COMMANDS = ["run", "demo", "info", "check", "record", "bag", "bench"]
WITHOUT_ROS = "import sys; sys.modules['rclpy'] = None; from tactile_sim.cli import main; sys.exit(main())"


def command_without_ros(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process that cannot import rclpy."""
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


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert f"usage: tactile_sim {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fly"],
        ["info"],
        ["run", "a", "--duration", "0"],
        ["demo", "a", "--duration", "x"],
        ["info", "touch_cube", "--ros-args", "-p", "a:=b"],
    ],
    ids=" ".join,
)
def test_bad_usage_ends_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_info_without_ros_shows_bodies_and_their_taxels():
    done = command_without_ros("info", "touch_cube")
    assert (done.returncode, done.stderr) == (0, "")
    assert "mass           1.24 kg" in done.stdout  # a cube of 1 kg and four balls of 60 g
    skin = done.stdout.split("skin\n")[1].split("bodies\n")[0]
    cube = next(line.split() for line in skin.splitlines() if line.startswith("cube"))
    taxels, spacing, area = int(cube[1]), cube[2], float(cube[3])
    assert spacing == "20"
    assert area == pytest.approx(6 * 20**2, rel=0.01)  # cm2 of a cube with edges of 20 cm
    assert taxels == pytest.approx(area / 2**2, rel=0.25)  # each taxel has about its spacing squared
    for name in ("table_top", "ball_4_free", "no sensors", "no actuators"):
        assert name in done.stdout


def test_info_shows_every_skin_of_the_infant(capsys):
    assert main(["info", "infant"]) == 0
    skin = capsys.readouterr().out.split("skin\n")[1].split("bodies\n")[0]
    rows = [line.split() for line in skin.splitlines()[2:] if line and not line.startswith(" ")]
    assert len(rows) >= 22
    assert sum(int(row[1]) for row in rows) == pytest.approx(7000, rel=0.2)


@pytest.mark.parametrize("config", ["touch_cube", "infant"])
def test_check_says_in_one_line_that_a_shipped_configuration_is_fine(config, capsys):
    assert main(["check", config]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{config}: fine. ")
    assert (out.count("\n"), err) == (1, "")


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
def test_a_configuration_that_is_not_there_is_one_line_and_2(command):
    done = command_without_ros(command, "no_such_scene")
    assert done.returncode == 2
    assert done.stderr.startswith("tactile_sim: error: ")
    assert "no_such_scene" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["run", "demo"])
def test_what_needs_ros_says_how_to_get_it(command):
    done = command_without_ros(command, "touch_cube")
    assert done.returncode == 2
    assert done.stderr.startswith("tactile_sim: error: ")
    assert "rclpy" in done.stderr
    assert "make setup" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_web_view_is_refused_until_there_is_one(capsys):
    assert main(["run", "touch_cube", "--web"]) == 2
    assert "not available yet" in capsys.readouterr().err


def test_an_unknown_benchmark_is_refused_with_the_ones_there_are(capsys):
    assert main(["bench", "no_such_benchmark"]) == 2
    assert "no_such_benchmark" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "tactile_sim", "check", "touch_cube"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        cwd=Path(__file__).parent.parent,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_ros_arguments_end_at_two_dashes():
    arguments = ["run", "a", "--ros-args", "-r", "__ns:=/left", "--", "--duration", "3"]
    assert split_ros_arguments(arguments) == (["run", "a", "--duration", "3"], ["-r", "__ns:=/left"])
    assert split_ros_arguments(["run", "a", "--ros-args", "-p", "b:=c"]) == (["run", "a"], ["-p", "b:=c"])
