"""Test impulses on bodies with each engine."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim.engines import load

SCENE = """
<mujoco><option gravity="0 0 0"/><worldbody>
  <body name="ball" pos="0 0 1"><freejoint/><geom size=".1" mass="4"/></body>
  <body name="arm" pos="2 0 1"><joint axis="0 1 0"/>
    <inertial pos=".5 0 0" mass="3" diaginertia=".25 .25 .25"/><geom size=".05" pos=".5 0 0"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def engine(tmp_path, engine_name):
    (tmp_path / "scene.xml").write_text(SCENE)
    return load(tmp_path / "scene.xml", engine_name)


def test_free_body_gets_the_speed_impulse_over_mass(engine):
    engine.strike(engine.model.body("ball").id, np.array([2.0, 0.0, -4.0]))
    assert engine.data.qvel == pytest.approx([0.5, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0])


def test_hinged_body_gets_the_angular_momentum_of_the_impulse(engine):
    engine.strike(engine.model.body("arm").id, np.array([7.0, 7.0, 2.0]))
    # 0.5 m · 2 N s against the axis act on 0.25 + 3 · 0.5² kg m²; the hinge absorbs the rest.
    assert engine.data.qvel == pytest.approx([0.0] * 6 + [-1.0])


def test_impulse_acts_in_the_next_step(engine):
    engine.strike(engine.model.body("ball").id, np.array([4.0, 0.0, 0.0]))
    engine.step(10)
    assert engine.data.qpos[0] == pytest.approx(10 * engine.timestep)
