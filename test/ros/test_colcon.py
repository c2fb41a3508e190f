"""Build the package with ``colcon build`` and use it after only ``source install/setup.bash``."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.domain import own_domain

pytest.importorskip("colcon_core", reason="colcon is not installed: run make setup")
pytest.importorskip("ament_package", reason="ROS 2 is not installed: run make setup")

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0  # timeout of all waits [s]
USER = {  # a C++ package that depends on ours
    "package.xml": """
<package format="3">
  <name>user</name><version>0.0.0</version><description>Uses the messages.</description>
  <maintainer email="user@example.com">user</maintainer><license>Apache-2.0</license>
  <buildtool_depend>ament_cmake</buildtool_depend><depend>tactile_sim</depend>
  <export><build_type>ament_cmake</build_type></export>
</package>""",
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.21)
project(user CXX)
find_package(ament_cmake REQUIRED)
find_package(tactile_sim REQUIRED)
add_executable(user main.cpp)
ament_target_dependencies(user tactile_sim)
install(TARGETS user DESTINATION lib/user)
ament_package()""",
    "main.cpp": """
#include <iostream>
#include "tactile_sim/msg/tactile_frame.hpp"
#include "tactile_sim/srv/set_body_state.hpp"
int main() {
  tactile_sim::msg::TactileFrame frame;
  frame.data.resize(3);
  tactile_sim::srv::SetBodyState::Request request;
  std::cout << frame.data.size() << request.body << std::endl;
}""",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "user").mkdir()
    for name, text in USER.items():
        (folder / "user" / name).write_text(text.lstrip())
    result = subprocess.run(
        [sys.executable, "-m", "colcon", "build", "--symlink-install", "--base-paths", ROOT, folder / "user",
         "--cmake-args", f"-DPython3_EXECUTABLE={sys.executable}", "-DBUILD_TESTING=OFF"],
        cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"MAKEFLAGS": "-j2"},  # by default, it waits while the machine is busy
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


def sourced(workspace, command):
    """Start a command in a shell that sources the workspace and has no other path to our package."""
    environment = {
        "HOME": str(workspace),
        "PATH": os.defpath,
        "ROS_DOMAIN_ID": str(own_domain()),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
    }
    return subprocess.Popen(
        ["bash", "-c", f"source install/setup.bash && cd / && exec {command}"],
        cwd=workspace, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("options", ["", "--ros-args -r __ns:=/left"])
def test_node_runs_in_workspace(workspace, options):
    process = sourced(workspace, f"tactile_sim run touch_cube --duration 0.1 {options}")
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert "taxels" in output


def test_sim_executable_accepts_parameter_file(workspace):
    prefix = workspace / "install/tactile_sim"
    process = sourced(
        workspace,
        f"{prefix}/lib/tactile_sim/sim --ros-args"
        f" --params-file {prefix}/share/tactile_sim/config/touch_cube.yaml",
    )
    assert any("taxels" in line for line in process.stdout)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output


def test_sim_executable_rejects_an_invalid_graphics_library(workspace):
    process = sourced(workspace, f"env MUJOCO_GL=nope {workspace}/install/tactile_sim/lib/tactile_sim/sim")
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    [line] = output.splitlines()
    assert "MUJOCO_GL=nope" in line


def test_python_package_is_linked(workspace):
    (module,) = workspace.glob("install/tactile_sim/**/site-packages/tactile_sim/common/names.py")
    assert module.is_symlink()
    assert module.resolve() == ROOT / "tactile_sim/common/names.py"


def test_messages_are_usable_from_cpp(workspace):
    process = sourced(workspace, f"{workspace}/install/user/lib/user/user")
    assert process.communicate(timeout=PATIENCE)[0] == "3\n"
    assert process.returncode == 0
