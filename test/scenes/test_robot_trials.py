"""Test the trials that generate docs/robots.md, on small models and on robots in installed packages."""

import dataclasses
import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.urdf import BALL, SOUND

TOOLS = Path(__file__).resolve().parents[2] / "tools"
FALLING_BALL = """<mujoco><worldbody><body pos="0 0 2"><freejoint/>
<geom size="0.1" mass="1" solref="-10000 0"/></body></worldbody></mujoco>"""
PENDULUM = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/>
<geom type="box" size="0.2 0.01 0.01" mass="1" pos="0.2 0 0"/></body></worldbody>
<actuator><motor joint="j" ctrlrange="-1 1" ctrllimited="true" gear="{}"/></actuator></mujoco>"""
CROSSED = """<mujoco><worldbody><body><geom type="box" size="0.1 0.1 0.1"/>
<body><geom size="0.02" pos="0 0 0.12"/><body pos="0 0 0.08">
<joint name="j" axis="0 1 0" range="-1 1" limited="true"/>
<geom type="box" size="0.01 0.01 0.1" mass="0.1" pos="0.09 0 0.09"/></body></body></body></worldbody>
<actuator><motor joint="j" ctrlrange="-5 5" ctrllimited="true"/></actuator></mujoco>"""
WEIGHTLESS = """<robot name="r"><link name="base">{0}</link><link name="tip">{0}</link>
<joint name="j" type="fixed"><parent link="base"/><child link="tip"/><origin xyz="1 0 0"/></joint>
<gazebo reference="tip"><turnGravityOff>true</turnGravityOff></gazebo></robot>"""
OVERLAPPING = """<mujoco><worldbody><body><joint type="slide"/><geom size="0.1"/></body>
<body pos="0 0 0.17"><joint type="slide"/><geom size="0.1"/></body></worldbody></mujoco>"""


@pytest.fixture
def table(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    return importlib.import_module("robots_table")


@pytest.mark.parametrize(
    ("package", "file", "driven"),
    [
        ("robot_properties_fingers", "urdf/pro/trifingerpro.urdf", 9),
        ("gymnasium", "envs/mujoco/assets/ant.xml", 8),  # its geoms do not collide with one another
        ("gymnasium", "envs/mujoco/assets/inverted_double_pendulum.xml", 1),
    ],
)
def test_models_of_others_hold_their_pose_and_feel_their_weight(table, package, file, driven):
    if not (found := find_spec(package)):
        pytest.skip(f"requires {package}")
    folder = Path(found.origin).parent
    trial = dataclasses.asdict(table.attempt(folder / file, folder.parent))
    assert trial["driven"] == driven and trial["taxels"] > 500
    assert table.counted(trial) and table.holds(trial) and table.feels(trial), trial


def test_a_bouncing_ball_feels_its_weight_on_average(table, tmp_path):
    (tmp_path / "ball.xml").write_text(FALLING_BALL)
    assert table.attempt(tmp_path / "ball.xml", tmp_path).weight == pytest.approx(1.0, abs=0.01)


def test_overlap_of_bodies_in_the_initial_pose_is_found(table, tmp_path):
    (tmp_path / "two.xml").write_text(OVERLAPPING)
    assert table.attempt(tmp_path / "two.xml", tmp_path).overlap == pytest.approx(0.03)


@pytest.mark.parametrize(("text", "counted"), [("<mujoco><geom/>", True), ("<mujoco><joint/>", False)])
def test_only_broken_files_with_geometry_count(table, tmp_path, text, counted):
    (tmp_path / "broken.xml").write_text(text)
    found = table.measured(tmp_path / "broken.xml", tmp_path)
    assert "error" in found and table.counted(found) is counted


@pytest.mark.parametrize(("limit", "needs"), [(1.0, 0.2 * 9.81), (3.0, None)])
def test_a_joint_that_is_too_weak_reports_the_effort_that_it_needs(table, tmp_path, limit, needs):
    (tmp_path / "pendulum.xml").write_text(PENDULUM.format(limit))
    trial = table.attempt(tmp_path / "pendulum.xml", tmp_path)
    assert trial.weak is bool(needs) and trial.needs == (needs and pytest.approx(needs, rel=1e-6))


def test_overlapping_links_of_an_mjcf_pass_only_with_an_option(table, tmp_path):
    (tmp_path / "crossed.xml").write_text(CROSSED)
    plain = dataclasses.asdict(table.attempt(tmp_path / "crossed.xml", tmp_path))
    assert plain["overlap"] > 0.01 and not table.holds(plain)
    found = table.measured(tmp_path / "crossed.xml", tmp_path)
    assert table.holds(found) and table.feels(found) and found["overlap"] == plain["overlap"]
    assert "self_collision: apart" in table.row("crossed.xml", found)
    assert " 1 (100.0%) | 0 (0.0%) |" in table.summary({"package": {"crossed.xml": found}})


def test_links_without_gravity_do_not_count_as_weight(table, tmp_path):
    (tmp_path / "two.urdf").write_text(WEIGHTLESS.format(SOUND + BALL))
    assert table.attempt(tmp_path / "two.urdf", tmp_path).weight == pytest.approx(1.0, abs=0.01)
