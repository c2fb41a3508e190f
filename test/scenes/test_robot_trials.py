"""Test the trials that generate docs/robots.md, on small models and on robots in installed packages."""

import dataclasses
import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
FALLING_BALL = """<mujoco><worldbody><body pos="0 0 2"><freejoint/>
<geom size="0.1" mass="1" solref="-10000 0"/></body></worldbody></mujoco>"""
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
