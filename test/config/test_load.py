from pathlib import Path

import pytest
from support.errors import raises

from tactile_sim import ConfigError, config
from tactile_sim.common.files import find_shipped, shipped_names
from tactile_sim.common.names import Names


def write(folder, text="/**:\n  ros__parameters: {scene: cube.xml}\n", name="my.yaml"):
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("name", shipped_names("config"))
def test_every_shipped_configuration_matches_its_scene(name):
    settings = config.load(name)
    _, model = config.configured_scene(settings)
    assert config.resolve_scales(settings, model, Names(model)) or settings.skin.pads


def test_file_is_loaded_by_path_and_its_folder_is_the_base(tmp_path):
    settings = config.load(write(tmp_path))
    assert settings.base == tmp_path
    assert settings.source == str(tmp_path / "my.yaml")


def test_relative_path_starts_at_the_working_directory(tmp_path, monkeypatch):
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    settings = config.load("my.yaml")
    assert (settings.base, settings.source) == (tmp_path, "my.yaml")


def test_local_file_has_precedence_over_a_shipped_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "infant").mkdir()
    assert config.find("infant") == find_shipped("config", "infant")
    write(tmp_path, name="touch_cube.yaml")
    assert config.find("touch_cube.yaml") == Path("touch_cube.yaml")


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("touch_cub", ["'touch_cub'", "'touch_cube'"]),
        ("touch_cub.yaml", ["touch_cub.yaml"]),
        ("touch_cube.yaml", ["touch_cube.yaml", "'touch_cube'"]),
        ("no/such.yaml", ["no/such.yaml", "folder no"]),
        (".", [".: ", "folder"]),
        ("", ["empty"]),
    ],
)
def test_missing_configuration_is_rejected(tmp_path, monkeypatch, name, facts):
    monkeypatch.chdir(tmp_path)
    with raises(ConfigError, *facts):
        config.load(name)


def test_errors_name_the_file_and_the_key(tmp_path):
    file = write(tmp_path, "/**:\n  ros__parameters: {scene: a.xml, rates: {tf: fast}}\n")
    with raises(ConfigError, f"{file}: rates.tf: ", "[Hz]", "'fast' (text)"):
        config.load(file)
