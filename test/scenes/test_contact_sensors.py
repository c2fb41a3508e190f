"""Test the checks of contact sensors from a scene or a configuration before the scene is compiled."""

from __future__ import annotations

import pytest
from support.errors import raises

from tactile_sim import ConfigError, SceneError
from tactile_sim.engines import load

SCENE = """
<mujoco><option timestep="0.002">{option}</option><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
  <body name="box" pos="0 0 .1"><freejoint/><geom name="shell" type="box" size=".1 .1 .1" mass="3"/></body>
</worldbody><sensor>{sensors}</sensor></mujoco>"""
PAIR = 'geom1="floor" geom2="shell"'
ALL = "found force torque dist pos normal tangent"


@pytest.fixture
def scene(tmp_path):
    """Return a function that writes a scene file with a box on a floor and the specified sensors."""

    def write(sensors: str = "", option: str = ""):
        file = tmp_path / "scene.xml"
        file.write_text(SCENE.format(sensors=sensors, option=option))
        return file

    return write


def test_a_name_made_for_an_unnamed_sensor_must_not_be_another_ones(scene):
    file = scene(f'<clock name="sensor1"/><contact {PAIR}/>')
    with pytest.raises(SceneError, match="scene.xml: .*'sensor1'"):
        load(file)
    with pytest.raises(SceneError, match="'sensor0'"):
        load(scene(f"<contact {PAIR}/>"), contact_sensors={"sensor0": {"geom1": "floor"}})
    assert load(scene(f"<clock/><contact {PAIR}/>")).sensor_ids == {"sensor0": 0, "sensor1": 1}


def test_names_of_our_own_are_kept_from_users(scene):
    taken = {"tactile_sim/complete/0": {"geom1": "floor"}}
    with pytest.raises(
        ConfigError, match="complete/0: names that begin with 'tactile_sim/complete/' are reserved"
    ):
        load(scene(), contact_sensors=taken)


def test_data_that_asks_for_nothing_is_refused(scene):
    with raises(ConfigError, "tip.data", "found"):
        load(scene(), contact_sensors={"tip": {"geom1": "floor", "data": []}})


def test_sensors_are_not_added_where_the_scene_switches_them_off(scene):
    file = scene(option='<flag sensor="disable"/>')
    with pytest.raises(ConfigError, match='contact_sensors: .*sensor="disable"'):
        load(file, contact_sensors={"tip": {"geom1": "floor"}})
    assert load(file).contact_sensor_names == []


@pytest.mark.parametrize("data", ["force", ALL])
def test_delayed_contacts_are_not_interpolated(data, scene):
    late = f'<contact name="late" {PAIR} num="4" data="{data}" delay=".011" nsample="9" interp="linear"/>'
    engine = load(scene(late + f'<contact name="now" {PAIR} num="4" data="{data}"/>'))
    told, now = [], []
    for _ in range(40):
        engine.step()
        told.append(engine.get_contact_sensor("late"))
        now.append(engine.get_contact_sensor("now").values)
    for sensor in told:
        assert sensor.found[0] in (0, 4)
        assert not sensor.found[0] or any((sensor.values == values).all() for values in now)
    assert told[-1].found[0] == 4


def test_sensors_may_have_more_slots_and_fields_than_in_a_configuration(scene):
    fine = f'<contact name="fine" {PAIR} num="2000" data="found linvel"/>'
    engine = load(scene(fine))
    assert engine.get_contact_sensor("fine").found[0] == 4 and engine.get_sensor_value("fine").shape == (1,)
