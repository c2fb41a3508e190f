from pathlib import Path

import pytest

from tactile_sim import ConfigError, config, share
from tactile_sim.names import Names


def write(folder, text="/**:\n  ros__parameters: {scene: cube.xml}\n", name="my.yaml"):
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("name", share.names("config"))
def test_every_shipped_configuration_fits_its_scene(name):
    settings = config.load(name)
    _, model = config.configured_scene(settings)
    assert config.resolve_scales(settings, model, Names(model)) or settings.skin.pads


def test_a_file_is_loaded_by_its_path_and_is_the_base_of_its_scene(tmp_path):
    settings = config.load(write(tmp_path))
    assert settings.base == tmp_path
    assert settings.source == str(tmp_path / "my.yaml")


def test_a_relative_path_starts_where_the_command_does(tmp_path, monkeypatch):
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    settings = config.load("my.yaml")
    assert (settings.base, settings.source) == (tmp_path, "my.yaml")


def test_a_file_here_wins_over_a_shipped_one_but_a_folder_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "infant").mkdir()
    assert config.find("infant") == share.find("config", "infant")
    write(tmp_path, name="touch_cube.yaml")
    assert config.find("touch_cube.yaml") == Path("touch_cube.yaml")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("touch_cub", "no config named 'touch_cub' is shipped; did you mean 'touch_cube'?"),
        ("touch_cub.yaml", "touch_cub.yaml: no such file"),
        ("no/such.yaml", "no/such.yaml: no such file: there is no folder no"),
        (".", ".: is a folder, not a YAML file"),
        ("", "the configuration's name is empty; give a shipped name or the path of a YAML file"),
    ],
)
def test_a_configuration_that_is_not_there_is_refused(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as error:
        config.load(name)
    assert message in str(error.value)


def test_errors_name_the_file_and_the_key(tmp_path):
    file = write(tmp_path, "/**:\n  ros__parameters: {scene: a.xml, rates: {tf: fast}}\n")
    with pytest.raises(ConfigError) as error:
        config.load(file)
    assert (
        str(error.value)
        == f"{file}: rates.tf: needs a finite number of at least 0 [Hz], but is 'fast' (text)"
    )
