"""Test taxel forces for each touch function, centers of touch, and states of bodies."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

from tactile_sim import config
from tactile_sim.engines import Contacts
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.taxel_forces import TaxelForces
from tactile_sim.simulation.touched import centers_of_touch

SCENE = """
<mujoco><option timestep="0.002" cone="elliptic"/><worldbody>
  <geom type="plane" size="1 1 .1" friction=".8 .01 .001"/>
  <body name="ball" pos="0 0 .0998" euler="0 0 90"><freejoint/><geom size=".1" mass="1"/></body>
</worldbody></mujoco>"""


QUARTER = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
"""A quarter turn about z, after which the body's x axis is the world's y axis."""


@pytest.fixture
def ball(tmp_path):
    def make(engine="mujoco", **skin):
        (tmp_path / "ball.xml").write_text(SCENE)
        parameters = {"scene": "ball.xml", "engine": engine, "skin": {"scales": {"ball": 0.03}} | skin}
        (tmp_path / "ball.yaml").write_text(yaml.safe_dump({"/**": {"ros__parameters": parameters}}))
        return Simulation(config.load(tmp_path / "ball.yaml"))

    return make


@pytest.fixture
def sliding(ball):
    """Return a function that simulates a ball that slides along x on a floor with friction."""

    def make(touch_function):
        simulation = ball(touch_function=touch_function)
        simulation.step(500)
        still = np.zeros(3)
        simulation.set_body_state("ball", np.array([0, 0, 0.0998]), QUARTER, np.array([1.0, 0, 0]), still)
        return simulation

    return make


@pytest.mark.parametrize("touch_function", ["force_vector", "force_vector_global", "slip"])
def test_forces_are_in_the_body_frame_for_each_touch_function(sliding, touch_function):
    simulation = sliding(touch_function)
    snapshot = simulation.observe()
    total = TaxelForces(simulation).on_bodies(snapshot).sum(axis=0)
    contacts = snapshot.contacts
    world = contacts.wrench_world[:, :3].sum(axis=0)
    assert world[0] < -0.1 < 0.1 < world[2]
    np.testing.assert_allclose(total, [world[1], -world[0], world[2]], rtol=1e-5, atol=1e-5)


def test_scalar_readings_act_along_the_normals(sliding):
    simulation = sliding("normal")
    snapshot = simulation.observe()
    np.testing.assert_allclose(TaxelForces(simulation).pressing(snapshot), snapshot.readings[:, 0], rtol=1e-6)
    assert snapshot.readings.sum() > 1.0


def test_forces_along_taxel_axes_have_two_tangents_and_the_inward_normal(sliding):
    simulation = sliding("force_vector_taxel")
    skin, snapshot = simulation.skin, simulation.observe()
    identity = np.broadcast_to(np.eye(3), skin.axes.shape)
    np.testing.assert_allclose(skin.axes @ skin.axes.transpose(0, 2, 1), identity, atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(skin.axes), 1.0)
    np.testing.assert_allclose(skin.axes[:, 2], skin.normals)
    x_side = np.abs(skin.normals[:, 0]) > 0.95
    assert (skin.axes[~x_side, 0, 0] > 0.3).all() and (skin.axes[x_side, 0, 1] > 0.9).all()
    forces = TaxelForces(simulation)
    np.testing.assert_allclose(forces.on_pads(snapshot), snapshot.readings, atol=1e-6)
    np.testing.assert_allclose(forces.pressing(snapshot), snapshot.readings[:, 2], atol=1e-6)
    np.testing.assert_allclose(forces.on_bodies(snapshot), snapshot.ideal_readings("force_vector"), atol=1e-6)


def test_center_of_touch_is_the_weighted_mean_of_contacts():
    contacts = Contacts(np.zeros((3, Contacts.WIDTH)), np.zeros((3, Contacts.IDS), np.int32))
    contacts.bodies[:] = [[0, 1], [1, 2], [0, 2]]
    contacts.position[:] = [[0, 0, 0], [1, 0, 0], [5, 5, 5]]
    contacts.frame[:, 0] = [[0, 0, 1], [0, 0, -1], [1, 0, 0]]
    contacts.wrench[:, 0] = [1.0, 3.0, 2.0]
    positions = np.array([[0, 0, 0], [0, 0, 1.0], [0, 0, 0], [9, 9, 9]])
    rotations = np.broadcast_to(np.eye(3), (4, 3, 3)).copy()
    rotations[1] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]  # the body's x axis is the world's y axis
    weights, centers = centers_of_touch(contacts, positions, rotations, np.array([1, 3]))
    np.testing.assert_allclose(weights, [4.0, 0.0])
    # Its contacts have weights 1 and 3, so the mean is at 0.75 along the world's x axis, the body's -y axis.
    np.testing.assert_allclose(centers[0], [0, -0.75, -1, 0, 0, -1], atol=1e-12)
    assert not centers[1].any()


@pytest.mark.parametrize("engine", ["mujoco", "motrix"])
def test_body_states_equal_those_set_and_reading_changes_nothing(ball, engine):
    if engine == "motrix":
        pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")
    simulation = ball(engine)
    told = [np.array([0.1, 0.2, 0.5]), QUARTER, np.array([1.0, 2.0, 3.0]), np.array([0.3, 0.2, 0.1])]
    simulation.set_body_state("ball", *told)
    engine, data = simulation.engine, simulation.engine.data
    before = data.xpos.copy(), data.qacc_warmstart.copy()
    np.testing.assert_allclose(engine.body_states([1])[0], np.concatenate(told), atol=1e-12)
    np.testing.assert_array_equal(data.xpos, before[0])
    np.testing.assert_array_equal(data.qacc_warmstart, before[1])
