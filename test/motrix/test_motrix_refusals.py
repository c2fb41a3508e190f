"""What MotrixSim does not take or tell is said, by name."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")

from motrixtest import MACHINE, of  # noqa: E402

from tactile_sim import EngineError  # noqa: E402
from tactile_sim.cli import main  # noqa: E402


def test_what_is_left_out_or_not_told_is_said_at_the_start_and_never_told_wrong():
    engine = of("""<mujoco><option integrator="RK4" wind="1 0 0"/><worldbody>
      <body><joint name="j" axis="0 1 0" range="-10 10" actuatorfrcrange="-1 1"/>
        <geom size=".1" pos=".3 0 0"/></body>
      <body pos="0 1 0"><joint type="ball" damping="1"/><geom size=".1" pos=".3 0 0"/></body>
      <body name="k" pos="0 2 0"><joint name="k"/><geom size=".1" pos=".3 0 0"/></body></worldbody>
      <actuator><general joint="k" dyntype="filter" dynprm=".1"/><motor joint="j"/></actuator>
      <sensor><jointlimitfrc name="stop" joint="j"/><jointpos name="angle" joint="j"/>
        <jointvel name="late" joint="j" delay=".01" nsample="9"/></sensor></mujoco>""")
    assert sorted(engine.limits) == [
        "left out of joint 'body2/joint0': damping",
        "left out of joint 'j': actuatorfrcrange",
        "left out of the scene: option wind, option integrator",
        "sensor 'late' is not told: it has a delay or an interval, which MuJoCo's steps bring",
        "sensor 'stop' is not told: motrixsim keeps the forces of limits to itself",
        "the effort of joint 'k' is not told (NaN): its actuator has a state",
    ]
    engine.step(10)
    assert list(engine.sensor_ids) == ["angle"]
    with pytest.raises(EngineError, match="engine 'motrix' does not tell sensor 'stop': motrixsim keeps the"):
        engine.get_sensor_data("stop")
    with pytest.raises(EngineError, match="no sensor named 'angel'; did you mean 'angle'"):
        engine.get_sensor_data("angel")
    engine.forward()
    assert np.isnan(engine.data.qfrc_actuator[-1]) and not engine.data.qfrc_actuator[:-1].any()


HINGE = '<body><joint name="j"/><geom size=".1" pos=".1 0 0"/><site name="s"/></body>'
REFUSED = {
    "adhesion": (
        '<actuator><adhesion name="glue" body="body" ctrlrange="0 1"/></actuator>',
        "engine 'motrix' does not take the actuator 'glue' of the scene; take it out, or set engine: mujoco",
    ),
    "a motor on a tendon in space": (
        '<tendon><spatial name="t"><site site="s"/><site site="w"/></spatial></tendon>'
        '<actuator><motor tendon="t"/></actuator>',
        "engine 'motrix' does not take the scene: ",
    ),
    "a weld to the world": (
        '<equality><weld body1="body" body2="world"/></equality>',
        "engine 'motrix' takes no weld of body 'body' to the world; weld a site of it to a site of the world",
    ),
    "a weld to the world that is not named": (
        '<equality><weld body1="body"/></equality>',
        "engine 'motrix' takes no weld of body 'body' to the world; weld a site of it to a site of the world",
    ),
}


@pytest.mark.parametrize(("extra", "message"), REFUSED.values(), ids=REFUSED)
def test_a_scene_that_motrixsim_does_not_take_is_refused_in_one_line(extra, message, capfd):
    scene = HINGE.replace("<body>", '<body name="body">')
    with pytest.raises(EngineError) as error:
        of(f'<mujoco><worldbody><site name="w" pos="0 0 1"/>{scene}</worldbody>{extra}</mujoco>')
    assert str(error.value).startswith(message) and "\n" not in str(error.value)
    assert capfd.readouterr() == ("", "")


def test_sensors_that_are_not_told_for_one_reason_are_one_line():
    scene = HINGE.replace("<site", '<site name="t"/><site')
    engine = of(
        f"""<mujoco><worldbody><site name="w"/>{scene}</worldbody>
        <equality><connect site1="w" site2="s"/></equality>
        <sensor><force name="f" site="s"/><gyro site="s"/><torque name="t" site="t"/></sensor></mujoco>"""
    )
    reason = "motrixsim keeps the forces of connects and welds to itself"
    assert engine.limits == [f"sensors 'f', 't' are not told: {reason}"]


def test_a_panic_is_a_fault_and_a_reset_mends_it(monkeypatch):
    engine = of(MACHINE)
    panic = type("PanicException", (BaseException,), {})

    def step(n):
        raise panic("index out of\n bounds")

    monkeypatch.setattr(engine._state, "step", step)
    engine.step(2)
    assert engine.fault() == "index out of bounds"
    engine.reset()
    engine.step()
    assert engine.fault() is None and engine.time == pytest.approx(0.001)


def test_bad_numbers_are_a_fault_that_names_the_joint():
    engine = of(MACHINE)
    engine.data.qvel[0] = np.nan
    engine.step()
    assert engine.fault() == "bad velocity of joint 'twisted'"
    engine.reset()
    assert engine.fault() is None
    engine.data.qvel[:] = 1e9
    for _ in range(200):
        engine.step(10)
    assert engine.fault()


def test_without_the_package_one_line_says_how_to_get_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "motrixsim", None)
    (tmp_path / "my.yaml").write_text(
        "/**:\n  ros__parameters: {scene: touch_cube.xml, engine: motrix, skin: {scales: {cube: 0.1}}}\n"
    )
    assert main(["check", str(tmp_path / "my.yaml")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "my.yaml: engine 'motrix' needs the package motrixsim, which is not installed: " in line
    assert f"{sys.executable} -m pip install 'motrixsim<0.11'" in line
