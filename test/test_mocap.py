"""Mocap bodies and equality constraints can be set while a simulation runs."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from support.errors import raises

from tactile_sim import CommandError, SceneError
from tactile_sim.simulation import Simulation

SCENE = """<mujoco><option timestep="0.001"/><worldbody>
  <body name="hand" mocap="true" pos="0 0 1"/><body name="table"/>
  <body name="box" pos="0 0 1"><freejoint/><geom type="box" size=".05 .05 .05"/></body></worldbody>
  <equality><weld name="grasp" body1="hand" body2="box"/></equality></mujoco>"""
QUARTER_TURN = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])


def simulation(engine="mujoco"):
    return Simulation(mujoco.MjSpec.from_string(SCENE), {"engine": engine, "contacts": "all"})


@pytest.mark.parametrize("engine", ["mujoco", "motrix"])
def test_welded_body_follows_mocap_body(engine):
    if engine == "motrix":
        pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")
    scene = simulation(engine)
    box = scene.names.body_id("box")
    scene.set_mocap_pose("hand", np.array([0.1, 0.0, 1.2]), 2.0 * QUARTER_TURN)
    scene.step(1000)
    (pose,) = scene.engine.body_states([box])
    np.testing.assert_allclose(pose[:3], [0.1, 0.0, 1.2], atol=0.001)
    assert abs(pose[3:7] @ QUARTER_TURN) == pytest.approx(1.0, abs=1e-4)
    scene.reset()
    scene.step(500)
    np.testing.assert_allclose(scene.engine.body_states([box])[0, :3], [0.0, 0.0, 1.0], atol=0.001)


def test_box_falls_while_its_weld_is_off():
    scene = simulation()
    box = [scene.names.body_id("box")]
    scene.step(500)
    held = scene.engine.body_states(box)[0, 2]
    scene.set_equality("grasp", False)
    scene.step(200)
    assert held - scene.engine.body_states(box)[0, 2] == pytest.approx(9.81 * 0.2**2 / 2, rel=0.01)
    scene.set_equality("grasp", True)
    scene.step(1000)
    assert scene.engine.body_states(box)[0, 2] == pytest.approx(held, abs=1e-4)
    scene.set_equality("grasp", False)
    scene.reset()
    assert scene.engine.eq_active.all()


def test_motrix_rejects_to_switch_equalities():
    pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")
    scene = simulation("motrix")
    with raises(CommandError, "grasp", "motrix"):
        scene.set_equality("grasp", False)
    assert scene.engine.eq_active.all()


@pytest.mark.parametrize(
    ("body", "pose", "names"),
    [
        ("hend", [0, 0, 0, 1, 0, 0, 0], ("'hend'", "'hand'")),
        ("table", [0, 0, 0, 1, 0, 0, 0], ("'table'",)),
        ("hand", [np.nan, 0, 0, 1, 0, 0, 0], ("'hand'", "nan")),
        ("hand", [0, 0, 0, 0, np.inf, 0, 0], ("'hand'", "inf")),
        ("hand", [0, 0, 0, 0, 0, 0, 0], ("'hand'",)),
    ],
)
def test_invalid_mocap_poses_change_nothing(body, pose, names):
    scene = simulation()
    with raises(CommandError, *names):
        scene.set_mocap_pose(body, np.array(pose[:3], float), np.array(pose[3:], float))
    np.testing.assert_array_equal(scene.engine.mocap_pos, [[0, 0, 1]])
    np.testing.assert_array_equal(scene.engine.mocap_quat, [[1, 0, 0, 0]])
    with raises(SceneError, "'grosp'", "'grasp'"):
        scene.set_equality("grosp", False)
