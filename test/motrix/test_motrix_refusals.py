"""Scenes and features that MotrixSim does not support."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")

from support.errors import raises  # noqa: E402
from support.motrix import MACHINE, of  # noqa: E402

from tactile_sim import EngineError  # noqa: E402
from tactile_sim.commands import main  # noqa: E402


def test_unsupported_features_are_listed_by_name():
    engine = of("""<mujoco><option integrator="RK4" wind="1 0 0"/><worldbody>
      <body><joint name="j" axis="0 1 0" range="-10 10" actuatorfrcrange="-1 1"/>
        <geom size=".1" pos=".3 0 0"/></body>
      <body pos="0 1 0"><joint type="ball" damping="1"/><geom size=".1" pos=".3 0 0"/></body></worldbody>
      <actuator><motor joint="j"/></actuator>
      <sensor><jointlimitfrc name="stop" joint="j"/><jointpos name="angle" joint="j"/>
        <jointvel name="late" joint="j" delay=".01" nsample="9"/></sensor></mujoco>""")
    expected = [
        ("'body2/joint0'", "damping"), ("'j'", "actuatorfrcrange"), ("option wind, option integrator",),
        ("'late'", "delay"), ("'stop'", "limits"),
    ]  # fmt: skip
    assert len(engine.unsupported) == len(expected)
    for facts in expected:
        assert any(all(fact in line for fact in facts) for line in engine.unsupported), facts
    engine.step(10)
    assert list(engine.sensor_ids) == ["angle"]
    with raises(EngineError, "'motrix'", "'stop'", "limits"):
        engine.get_sensor_data("stop")
    with raises(EngineError, "'angel'", "'angle'"):
        engine.get_sensor_data("angel")


HINGE = '<body><joint name="j"/><geom size=".1" pos=".1 0 0"/><site name="s"/></body>'
REJECTED = {
    "adhesion": (
        '<actuator><adhesion name="glue" body="body" ctrlrange="0 1"/></actuator>',
        ["actuator", "'glue'", "engine: mujoco"],
    ),
    "a motor on a spatial tendon": (
        '<tendon><spatial name="t"><site site="s"/><site site="w"/></spatial></tendon>'
        '<actuator><motor tendon="t"/></actuator>',
        ["scene"],
    ),
    "a weld to the world": (
        '<equality><weld body1="body" body2="world"/></equality>',
        ["weld", "'body'", "site1", "engine: mujoco"],
    ),
    "a weld without body2": (
        '<equality><weld body1="body"/></equality>',
        ["weld", "'body'", "site1", "engine: mujoco"],
    ),
}


@pytest.mark.parametrize(("extra", "facts"), REJECTED.values(), ids=REJECTED)
def test_unsupported_scene_is_rejected_without_terminal_output(extra, facts, capfd):
    scene = HINGE.replace("<body>", '<body name="body">')
    with raises(EngineError, "'motrix'", *facts):
        of(f'<mujoco><worldbody><site name="w" pos="0 0 1"/>{scene}</worldbody>{extra}</mujoco>')
    assert capfd.readouterr() == ("", "")


def test_sensors_unsupported_for_one_reason_share_a_line():
    scene = HINGE.replace("<site", '<site name="t"/><site')
    engine = of(
        f"""<mujoco><worldbody><site name="w"/>{scene}</worldbody>
        <equality><connect site1="w" site2="s"/></equality>
        <sensor><force name="f" site="s"/><gyro site="s"/><torque name="t" site="t"/></sensor></mujoco>"""
    )
    (line,) = engine.unsupported
    assert "'f', 't'" in line and "connects and welds" in line


def test_panic_is_a_fault_until_reset(monkeypatch):
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


def test_invalid_numbers_are_a_fault_that_names_the_joint():
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


def test_missing_package_names_the_command_that_installs_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "motrixsim", None)
    (tmp_path / "my.yaml").write_text(
        "/**:\n  ros__parameters: {scene: touch_cube.xml, engine: motrix, skin: {scales: {cube: 0.1}}}\n"
    )
    assert main(["check", str(tmp_path / "my.yaml")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "my.yaml" in line and "'motrix'" in line
    assert f"{sys.executable} -m pip install 'motrixsim<0.11'" in line
