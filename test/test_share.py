from pathlib import Path

import pytest

from tactile_sim import ConfigError, SceneError, share
from tactile_sim.errors import suggest


@pytest.fixture
def prefix(tmp_path, monkeypatch):
    """An installation that ships a scene and a config of its own."""
    for kind, file in (("scenes", "mine.xml"), ("config", "mine.yaml")):
        folder = tmp_path / "share" / "tactile_sim" / kind
        folder.mkdir(parents=True)
        (folder / file).touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}:/nowhere")
    return tmp_path


@pytest.mark.parametrize("name", ["touch_cube", "touch_cube.xml"])
def test_a_shipped_scene_is_found_with_and_without_its_extension(name):
    assert share.find("scenes", name).name == "touch_cube.xml"


def test_the_share_of_an_ament_prefix_is_searched(prefix):
    assert share.find("config", "mine") == prefix / "share" / "tactile_sim" / "config" / "mine.yaml"
    assert "mine" in share.names("scenes")


def test_files_of_the_running_code_win_over_another_installation(prefix):
    (prefix / "share" / "tactile_sim" / "scenes" / "touch_cube.xml").touch()
    assert not share.find("scenes", "touch_cube").is_relative_to(prefix)


def test_names_without_a_near_one_are_listed_in_order():
    assert suggest("x", ["palm", "finger", "wrist"]) == "; there are: finger, palm, wrist"


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(
        ConfigError, match="no config named 'touch_cub' is shipped; did you mean 'touch_cube'"
    ):
        share.find("config", "touch_cub")
    with pytest.raises(SceneError, match="no scene named 'infnt' is shipped; did you mean 'infant'"):
        share.find("scenes", "infnt")


def test_only_files_inside_the_share_are_shipped():
    here = Path(__file__).resolve()
    assert share.lookup("scenes", str(here)) is None
    assert share.lookup("scenes", f"../test/{here.name}") is None


def test_a_package_is_found_in_either_of_ros_paths(prefix, monkeypatch, tmp_path):
    (prefix / "share" / "arm_description").mkdir()
    (tmp_path / "src" / "hand_description").mkdir(parents=True)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "src"))
    assert share.package_folder("arm_description") == prefix / "share" / "arm_description"
    assert share.package_folder("hand_description") == tmp_path / "src" / "hand_description"
    assert share.package_folder("leg_description") is None
    assert share.package_folder("") is None
