"""Errors for invalid contact sensors."""

from __future__ import annotations

import mujoco
import pytest
from support.contact_sensors import FIELDS, PAIRS, sledge, tag
from support.errors import raises

from tactile_sim import EngineError, SceneError
from tactile_sim.commands import main
from tactile_sim.engines import MujocoEngine, load


def test_readers_reject_unknown_sensors_and_other_types(tmp_path):
    scene = tmp_path / "a.xml"
    scene.write_text(sledge(1, '<touch name="pad" site="zone"/>'))
    engine = load(scene)
    readers = [
        engine.get_sensor_data, engine.get_sensor_value, engine.get_contact_sensor,
        engine.get_contact_force_magnitude,
    ]  # fmt: skip
    for read in readers:
        with raises(EngineError, "'pat'", "'pad'"):
            read("pat")
    for read in readers[2:]:
        with raises(EngineError, "'pad'", "touch"):
            read("pad")
    assert engine.get_sensor_value("pad").shape == (1,)


def test_models_compiled_elsewhere_need_all_fields():
    text = sledge(
        1,
        tag("some", PAIRS["bodies"], ["force"], 2, "none")
        + tag("all", PAIRS["bodies"], [*FIELDS], 2, "none"),
    )
    engine = MujocoEngine(mujoco.MjModel.from_xml_string(text))
    assert engine.get_contact_sensor("all").found.tolist() == [1]
    with raises(EngineError, "'some'", "force", "engines.load"):
        engine.get_contact_sensor("some")


T = "my.yaml: contact_sensors.tip"
WRONG = {
    "an unknown geom": ("geom1: flor", [f"{T}.geom1", "'flor'", "'floor'"]),
    "an unknown site": ("site: zon", [f"{T}.site", "'zon'", "'zone'"]),
    "an unknown key": ("geom3: a", ["my.yaml", "'contact_sensors.tip.geom3'", "'geom2'"]),
    "two objects 1": ("geom1: floor, body1: feet", [T, "geom1", "body1"]),
    "no object": ("num: 2", [T, "geom1", "body1"]),
    "an unknown word": ("geom1: a, data: [forc]", [f"{T}.data", "'forc'", "'force'"]),
    "wrong order": ("geom1: a, data: [pos, force]", [f"{T}.data", "[force, pos]"]),
    "no list": ("geom1: a, data: force", [f"{T}.data", "list", "'force'"]),
    "num 0": ("geom1: a, num: 0", [f"{T}.num", "from 1 to 1000", "0"]),
    "an unknown reduction": ("geom1: a, reduce: sum", [f"{T}.reduce", "'sum'", "netforce"]),
}


def rejection(folder, capsys, sensor: str) -> str:
    """Return the error of ``check`` for a contact sensor added to a scene with a sensor ``a_b``."""
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


@pytest.mark.parametrize(("keys", "facts"), WRONG.values(), ids=WRONG)
def test_check_names_file_sensor_and_key(keys, facts, tmp_path, capsys):
    err = rejection(tmp_path, capsys, f"tip: {{{keys}}}")
    assert [fact for fact in facts if fact not in err] == []


def test_contact_sensors_need_unique_names_and_topics(tmp_path, capsys):
    taken = rejection(tmp_path, capsys, "a_b: {geom1: floor}")
    assert "my.yaml: contact_sensors.a_b" in taken
    shared = rejection(tmp_path, capsys, '"a:b": {geom1: floor}')
    assert "'a_b'" in shared and "'a:b'" in shared and "'contact_sensors/a_b'" in shared
    (tmp_path / "two.xml").write_text(sledge(1, '<clock name="t 1"/><clock name="t_1"/>'))
    with raises(SceneError, "'t 1'", "'t_1'", "'sensors/t_1'"):
        load(tmp_path / "two.xml")


@pytest.mark.parametrize(
    "attributes",
    ['geom1="a" num="0"', 'geom1="a" data="force found"', 'geom1="a" data="forc"', 'geom1="a" site="zone"'],
)
def test_invalid_attributes_are_shown_with_file_and_line(attributes, tmp_path):
    scene = tmp_path / "scene.xml"
    scene.write_text(sledge(2, f'<contact name="tip" {attributes}/>'))
    with raises(SceneError, f"{scene}: line ", f'<contact name="tip" {attributes}/>'):
        load(scene)


@pytest.mark.parametrize(
    ("key", "attributes", "nearest"),
    [("body2", 'geom1="floor" body2="feat"', "'feet'"), ("site", 'site="zon"', "'zone'")],
)
def test_unknown_objects_are_named_with_file_sensor_and_nearest_name(key, attributes, nearest, tmp_path):
    scene = tmp_path / "scene.xml"
    scene.write_text(sledge(2, f'<contact name="tip" {attributes}/>'))
    with raises(SceneError, f"{scene}: sensor 'tip': {key}: ", nearest):
        load(scene)
