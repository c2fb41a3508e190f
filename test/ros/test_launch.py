"""Test the launch files with ROS's ``launch``, if it is installed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytest.importorskip("rclpy", reason="ROS 2 is not installed: run make setup")

from support.domain import own_domain  # noqa: E402
from support.errors import raises  # noqa: E402

from tactile_sim.ros.parameters import LAUNCH, source_of  # noqa: E402

ROOT = Path(__file__).parents[2]
ARGUMENTS = ["config", "params_file", "scene", "engine", "namespace", "real_time_factor"]
ARGUMENTS += ["rviz", "rviz_config", "web", "record", "bag_path", "log_level"]


class TestWithLaunch:
    """Tests that need ROS's launch package, which has no wheels."""

    @pytest.fixture(autouse=True)
    def _launch(self):
        pytest.importorskip("launch_ros", reason="ROS's launch is not installed")

    def description(self, name):
        from launch import LaunchContext
        from launch.launch_description_sources import PythonLaunchDescriptionSource

        return PythonLaunchDescriptionSource(str(ROOT / "launch" / name)).get_launch_description(
            LaunchContext()
        )

    def started(self, **arguments):
        """Evaluate sim.launch.py with launch arguments; return the context and the resulting actions."""
        from launch import LaunchContext

        context = LaunchContext()
        context.launch_configurations.update(arguments)
        actions = []
        for entity in self.description("sim.launch.py").entities:
            actions += entity.visit(context) or []
        return context, actions

    def test_every_argument_has_a_description(self):
        arguments = self.description("sim.launch.py").get_launch_arguments()
        assert [argument.name for argument in arguments] == ARGUMENTS
        assert all(argument.description != "no description given" for argument in arguments)

    def test_switches_accept_only_true_and_false(self):
        with pytest.raises(RuntimeError, match=r"rviz.*'true', 'false'"):
            self.started(rviz="yes")

    @pytest.mark.parametrize("config", [path.stem for path in sorted((ROOT / "config").glob("*.yaml"))])
    def test_every_shipped_configuration_has_a_launch_file(self, config):
        arguments = self.description(f"{config}.launch.py").get_launch_arguments()
        assert "real_time_factor" in [argument.name for argument in arguments]

    def words(self, action):
        """Return the command line of a process action, without the parts that are substituted at launch."""
        return [part.text for argument in action.cmd for part in argument if hasattr(part, "text")]

    def test_arguments_override_params_file_which_overrides_config(self, tmp_path):
        (tmp_path / "mine.yaml").touch()
        context, (node,) = self.started(
            config="infant", params_file=str(tmp_path / "mine.yaml"), scene="hand", real_time_factor="1e-1",
            namespace="left",
        )  # fmt: skip
        node._perform_substitutions(context)
        files = [Path(value) for value, is_file in node._Node__expanded_parameter_arguments if is_file]
        assert [file.resolve() for file in files[:2]] == [
            ROOT / "config/infant.yaml",
            tmp_path / "mine.yaml",
        ]
        # The section has the node's name, because it takes precedence over a section for all nodes in rcl.
        [(section, given)] = yaml.safe_load(files[2].read_text()).items()
        assert section == "/left/tactile_sim"
        assert given == {"ros__parameters": {"scene": "hand", "real_time_factor": 0.1}}
        assert source_of(files[2]) == LAUNCH and source_of(files[1]) == str(files[1])

    @pytest.mark.parametrize(
        "argument",
        ["scene:=nosuch.xml", "scene:=package://nosuch/a.xml", "params_file:=nosuch.yaml",
         "rviz_config:=nosuch.rviz", "real_time_factor:=fast"],
    )  # fmt: skip
    def test_error_names_argument_and_value(self, argument, tmp_path, monkeypatch):
        from tactile_sim import TactileSimError

        (tmp_path / "share/ament_index/resource_index/packages").mkdir(parents=True)
        (tmp_path / "share/ament_index/resource_index/packages/rviz2").touch()
        monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
        name, value = argument.split(":=")
        with raises(TactileSimError, f"{name}:=", value) as error:
            self.started(**{"rviz": "true", name: value})
        assert str(error.value).startswith(f"{name}:=")

    def test_node_waits_for_recorder_on_simulation_time(self, tmp_path, monkeypatch):
        packages = tmp_path / "share/ament_index/resource_index/packages"
        packages.mkdir(parents=True)
        for package in ("ros2bag", "rosbag2_storage_mcap"):
            (packages / package).touch()
        monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
        _, (node, recorder) = self.started(record="true", bag_path="b")
        words = self.words(recorder)
        assert {"--use-sim-time", "--all", "zstd_fast"} <= set(words) and words[-2:] == ["--output", "b"]
        file = self.words(node)[self.words(node).index("--recorded") + 1]
        assert words[words.index("--qos-profile-overrides-path") + 1] == file and Path(file).is_absolute()
        _, (alone,) = self.started()
        assert "--recorded" not in self.words(alone)

    @pytest.mark.parametrize("namespace", ["", "left", "/robots/left/"])
    def test_rviz_uses_namespace_and_configured_world(self, namespace, tmp_path, monkeypatch):
        config = tmp_path / "odd.yaml"
        skin = "{scales: {cube: 0.02}}"
        config.write_text(
            f"/**: {{ros__parameters: {{scene: touch_cube.xml, world_frame: map, skin: {skin}}}}}"
        )
        (tmp_path / "share/ament_index/resource_index/packages").mkdir(parents=True)
        (tmp_path / "share/ament_index/resource_index/packages/rviz2").touch()
        monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
        context, actions = self.started(config=str(config), namespace=namespace, rviz="true")
        _, rviz = [action for action in actions if hasattr(action, "node_package")]
        rviz._perform_substitutions(context)
        prefix = f"/{namespace.strip('/')}".rstrip("/")
        topics = ("markers", "scene_markers", "skin_markers", "tactile/points", "tactile/cube/image")
        moved = {f"/{topic}": f"{prefix}/{topic}" for topic in topics}
        assert dict(rviz.expanded_remapping_rules) == moved
        command = self.words(rviz)
        display, frame = (command[command.index(flag) + 1] for flag in ("-d", "-f"))
        assert frame == "map"
        shown = yaml.safe_load(Path(display).read_text())["Visualization Manager"]
        assert shown["Global Options"]["Fixed Frame"] == "map"

    def test_unknown_configuration_error_suggests_nearest(self):
        from tactile_sim import ConfigError

        with raises(ConfigError, "toch_cube", "touch_cube"):
            self.started(config="toch_cube")

    def test_missing_packages_are_logged_and_left_out(self, monkeypatch, tmp_path):
        monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
        _, actions = self.started(rviz="true", record="true")
        text = [action.msg[0].text for action in actions if hasattr(action, "msg")]
        assert ["rviz2" in line for line in text] == [True, False]
        assert "ros2bag" in text[1]

    def test_ros2_launch_runs_node_until_interrupted(self, tmp_path):
        pytest.importorskip("ros2launch", reason="ros2 launch is not installed")
        environment = os.environ | {"ROS_LOG_DIR": str(tmp_path), "ROS_DOMAIN_ID": str(own_domain())}
        command = [sys.executable, "-c", "from ros2cli.cli import main; main()", "launch", "tactile_sim"]
        process = subprocess.Popen(
            [*command, "sim.launch.py", "config:=touch_cube"],
            env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            text = ""
            while "taxels" not in text:  # the node's first line
                line = process.stdout.readline()
                assert line, text
                text += line
            process.send_signal(signal.SIGINT)
            text += process.communicate(timeout=120)[0]
        finally:
            process.kill()
            process.wait()
        assert "[sim-1]: process has finished cleanly" in text
        assert "Traceback" not in text
