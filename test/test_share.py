"""Test the search for shipped files and for files in ROS packages."""

from pathlib import Path

import pytest
from support.errors import raises

from tactile_sim import ConfigError, SceneError
from tactile_sim.common.errors import suggest
from tactile_sim.common.files import find_shipped, package_folder, shipped_file, shipped_names


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    """Return the prefix of an installation with a scene and a configuration."""
    for kind, file in (("scenes", "mine.xml"), ("config", "mine.yaml")):
        folder = tmp_path / "share" / "tactile_sim" / kind
        folder.mkdir(parents=True)
        (folder / file).touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}:/nowhere")
    return tmp_path


@pytest.mark.parametrize("name", ["touch_cube", "touch_cube.xml"])
def test_extension_of_a_shipped_scene_is_optional(name):
    assert find_shipped("scenes", name).name == "touch_cube.xml"


def test_share_of_an_ament_prefix_is_searched(prefix):
    assert find_shipped("config", "mine") == prefix / "share" / "tactile_sim" / "config" / "mine.yaml"
    assert "mine" in shipped_names("scenes")


def test_files_of_the_running_code_have_precedence(prefix):
    (prefix / "share" / "tactile_sim" / "scenes" / "touch_cube.xml").touch()
    assert not find_shipped("scenes", "touch_cube").is_relative_to(prefix)


def test_names_are_listed_in_order_without_a_near_one():
    assert suggest("x", ["palm", "finger", "wrist"]) == "; there are: finger, palm, wrist"


def test_unknown_name_is_rejected_with_the_nearest():
    with raises(ConfigError, "'touch_cub'", "'touch_cube'"):
        find_shipped("config", "touch_cub")
    with raises(SceneError, "'infnt'", "'infant'"):
        find_shipped("scenes", "infnt")


def test_only_files_inside_the_share_are_shipped():
    here = Path(__file__).resolve()
    assert shipped_file("scenes", str(here)) is None
    assert shipped_file("scenes", f"../test/{here.name}") is None


def test_package_is_found_in_both_paths_of_ros(prefix, monkeypatch, tmp_path):
    (prefix / "share" / "arm_description").mkdir()
    (tmp_path / "src" / "hand_description").mkdir(parents=True)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "src"))
    assert package_folder("arm_description") == prefix / "share" / "arm_description"
    assert package_folder("hand_description") == tmp_path / "src" / "hand_description"
    assert package_folder("leg_description") is None
    assert package_folder("") is None
