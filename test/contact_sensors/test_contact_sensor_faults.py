"""What a contact sensor cannot be is told in one line."""

from __future__ import annotations

import mujoco
import pytest
from contacttest import (
    FIELDS,
    PAIRS,
    sledge,
    tag,
)

from tactile_sim import ConfigError, EngineError, SceneError
from tactile_sim.cli import main
from tactile_sim.engines import MujocoEngine, load


def test_an_unknown_sensor_or_one_of_another_kind_is_refused_by_every_reader(tmp_path):
    scene = tmp_path / "a.xml"
    scene.write_text(sledge(1, '<touch name="pad" site="zone"/>'))
    engine = load(scene)
    readers = [
        engine.get_sensor_data, engine.get_sensor_value, engine.get_contact_sensor,
        engine.get_contact_force_magnitude,
    ]  # fmt: skip
    for read in readers:
        with pytest.raises(EngineError, match="no sensor named 'pat'; did you mean 'pad'"):
            read("pat")
    for read in readers[2:]:
        with pytest.raises(EngineError, match="sensor 'pad' is of type touch, not contact"):
            read("pad")
    assert engine.get_sensor_value("pad").shape == (1,)


def test_a_model_compiled_elsewhere_is_read_as_far_as_its_sensors_go():
    text = sledge(
        1,
        tag("some", PAIRS["bodies"], ["force"], 2, "none")
        + tag("all", PAIRS["bodies"], [*FIELDS], 2, "none"),
    )
    engine = MujocoEngine(mujoco.MjModel.from_xml_string(text))
    assert engine.get_contact_sensor("all").found.tolist() == [1]
    with pytest.raises(EngineError, match=r"'some' asks for force alone.*engines\.load"):
        engine.get_contact_sensor("some")


T = "my.yaml: contact_sensors.tip"
WRONG = {
    "an unknown geom": ("geom1: flor", f"{T}.geom1: the scene has no geom named 'flor'; did you mean 'fl"),
    "an unknown body": ("subtree2: f", f"{T}.subtree2: the scene has no body named 'f'; there are: "),
    "an unknown site": ("site: zon", f"{T}.site: the scene has no site named 'zon'; did you mean 'zone'?"),
    "an unknown key": ("geom3: a", "my.yaml: unknown key 'contact_sensors.tip.geom3'; did you mean 'geom2'?"),
    "two objects 1": ("geom1: floor, body1: feet", f"{T}: has both geom1 and body1; name at most one of"),
    "no object": ("num: 2", f"{T}: names no object; add at least one of geom1, body1"),
    "an unknown word": ("geom1: a, data: [forc]", f"{T}.data: cannot have 'forc'; did you mean 'force'?"),
    "wrong order": ("geom1: a, data: [pos, force]", f"{T}.data: needs each word once and in order, [force"),
    "a word twice": ("geom1: a, data: [pos, pos]", f"{T}.data: needs each word once and in order, [pos]"),
    "no list": ("geom1: a, data: force", f"{T}.data: needs a list of words, such as [found, force], but is"),
    "num 0": ("geom1: a, num: 0", f"{T}.num: needs an integer from 1 to 1000, but is 0"),
    "half a slot": ("geom1: a, num: 1.5", f"{T}.num: needs an integer from 1 to 1000, but is 1.5"),
    "an unknown reduction": ("geom1: a, reduce: sum", f"{T}.reduce: cannot be 'sum'; there are: "),
}  # fmt: skip


def refusal(folder, capsys, sensor: str) -> str:
    """What ``check`` says of a configuration with this contact sensor, on a scene that has ``a_b``."""
    (folder / "scene.xml").write_text(sledge(2, tag("a_b", PAIRS["bodies"], ["found"], 1, "none")))
    file = folder / "my.yaml"
    file.write_text(
        "/**:\n  ros__parameters:\n    scene: scene.xml\n    skin: {scales: {feet: 0.02}}\n"
        f"    contact_sensors: {{{sensor}}}\n"
    )
    assert main(["check", str(file)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(("keys", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_contact_sensor_of_a_configuration_is_one_line_with_file_sensor_and_key(
    keys, message, tmp_path, capsys
):
    assert message in refusal(tmp_path, capsys, f"tip: {{{keys}}}")


def test_a_contact_sensor_needs_a_name_and_a_topic_of_its_own(tmp_path, capsys):
    taken = refusal(tmp_path, capsys, "a_b: {geom1: floor}")
    assert "my.yaml: contact_sensors.a_b: the scene has a sensor of that name" in taken
    shared = refusal(tmp_path, capsys, '"a:b": {geom1: floor}')
    assert "the sensors 'a_b' and 'a:b' would share the topic 'contact_sensors/a_b'; rename one" in shared
    (tmp_path / "two.xml").write_text(sledge(1, '<clock name="t 1"/><clock name="t_1"/>'))
    with pytest.raises(SceneError, match="'t 1' and 't_1' would share the topic 'sensors/t_1'"):
        load(tmp_path / "two.xml")


MJCF = {
    'geom1="a" num="0"': "num: needs an integer from 1 to 1000, but is 0",
    'geom1="a" data="force found"': "data: needs each word once and in order, [found, force], but is",
    'geom1="a" data="forc"': "data: cannot have 'forc'; did you mean 'force'?",
    'geom1="a" reduce="sum"': "reduce: cannot be 'sum'; there are: ",
    'geom1="floor" site="zone"': "has both geom1 and site; name at most one of",
    'geom1="floor" body2="feat"': "body2: the scene has no body named 'feat'; did you mean 'feet'?",
    'subtree1="feat"': "subtree1: the scene has no body named 'feat'; did you mean 'feet'?",
    'site="zon"': "site: the scene has no site named 'zon'; did you mean 'zone'?",
}  # fmt: skip


@pytest.mark.parametrize(("attributes", "message"), MJCF.items())
def test_a_wrong_contact_sensor_of_a_scene_is_one_line_with_file_sensor_and_attribute(
    attributes, message, tmp_path
):
    scene = tmp_path / "scene.xml"
    scene.write_text(sledge(2, f'<contact name="tip" {attributes}/>'))
    with pytest.raises(SceneError) as error:
        load(scene)
    assert str(error.value).startswith(f"{scene}: sensor 'tip': {message}")


def test_sensors_that_python_adds_are_checked_like_those_of_a_file(tmp_path):
    scene = tmp_path / "scene.xml"
    scene.write_text(sledge(1))
    with pytest.raises(
        ConfigError, match=r"contact_sensors\.tip\.num: needs an integer from 1 to 1000, but is 0"
    ):
        load(scene, contact_sensors={"tip": {"geom1": "floor", "num": 0}})
    with pytest.raises(ConfigError, match=r"contact_sensors\.tip\.geom2: the scene has no geom named 'foot'"):
        load(scene, contact_sensors={"tip": {"geom1": "floor", "geom2": "foot"}})
    with pytest.raises(ConfigError, match=r"contact_sensors\.tip: names no object"):
        load(scene, contact_sensors={"tip": {}})
