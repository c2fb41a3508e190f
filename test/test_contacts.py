"""Contact arrays equal the results of MuJoCo's functions for single contacts."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from tactile_sim.engines import MujocoEngine

PILE = """
<mujoco><option cone="{cone}" timestep="0.002"/><worldbody>
  <geom type="plane" size="2 2 .1" condim="{condim}" friction="1 .02 .01"/>
  {bodies}
</worldbody></mujoco>"""
BODY = """<body pos="{x} {y} {z}" euler="10 20 {x}"><freejoint/>
  <geom type="{kind}" size=".05 .04 .06" condim="{condim}" friction=".8 .02 .01" density="700"/></body>"""


def pile(cone: str, condim: int) -> MujocoEngine:
    kinds = ["box", "sphere", "capsule", "cylinder", "ellipsoid"]
    bodies = "".join(
        BODY.format(x=0.07 * (k % 3), y=0.06 * (k % 2), z=0.1 + 0.11 * k, kind=kinds[k % 5], condim=condim)
        for k in range(10)
    )
    engine = MujocoEngine(
        mujoco.MjModel.from_xml_string(PILE.format(cone=cone, condim=condim, bodies=bodies))
    )
    engine.step(250)
    engine.forward()
    return engine


@pytest.mark.parametrize("condim", [1, 3, 4, 6])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_wrenches_equal_those_of_mujoco(cone, condim):
    engine = pile(cone, condim)
    contacts = engine.contacts()
    assert len(contacts) >= 5
    expected = []
    for c in range(engine.data.ncon):
        wrench = np.zeros(6)
        mujoco.mj_contactForce(engine.model, engine.data, c, wrench)
        if np.abs(wrench[:3]).max() > 1e-9:
            expected.append(wrench)
    np.testing.assert_allclose(contacts.wrench, expected, rtol=0, atol=1e-12)
    turned = np.einsum("nki,nk->ni", contacts.frame, contacts.wrench[:, 3:])
    np.testing.assert_allclose(contacts.wrench_world[:, 3:], turned, atol=1e-12)


def test_contact_forces_match_weight_and_momentum_of_a_falling_pile():
    engine = pile("elliptic", 3)
    contacts, model, data = engine.contacts(), engine.model, engine.data
    on_bodies = np.zeros((model.nbody, 3))
    for side, sign in ((0, -1.0), (1, 1.0)):
        np.add.at(on_bodies, contacts.bodies[:, side], sign * contacts.wrench_world[:, :3])
    # Newton's law, m a = F + m g, at each free body's center of mass, with the solver's tolerance of 1e-5.
    acceleration = data.qacc.reshape(-1, 6)[:, :3]
    mass = model.body_mass[1:, None]
    np.testing.assert_allclose(on_bodies[1:], mass * (acceleration - model.opt.gravity), atol=1e-4)


def test_relative_velocities_are_those_of_the_two_bodies_at_the_contact():
    engine = pile("elliptic", 3)
    contacts = engine.contacts()
    for c in range(len(contacts)):
        velocity, angular = np.zeros(3), np.zeros(3)
        for side, sign in ((0, -1.0), (1, 1.0)):
            linear, turn = np.zeros((2, 3, engine.model.nv))
            body = contacts.bodies[c, side]
            mujoco.mj_jac(engine.model, engine.data, linear, turn, contacts.position[c], body)
            velocity += sign * linear @ engine.data.qvel
            angular += sign * turn @ engine.data.qvel
        np.testing.assert_allclose(contacts.relative_velocity[c], velocity, atol=1e-12)
        np.testing.assert_allclose(contacts.relative_angular_velocity[c], angular, atol=1e-12)


def test_single_skin_is_the_second_body_of_its_contacts():
    engine = pile("elliptic", 6)
    contacts = engine.contacts()
    sensing = np.zeros(engine.model.nbody + 1, bool)
    pairs = contacts.bodies[contacts.bodies.min(axis=1) > 0]
    sensing[[pairs[0, 0], pairs[-1, 1]]] = True
    told = contacts.touching(sensing)
    touches = sensing[contacts.bodies].any(axis=1)
    first, second = sensing[contacts.bodies[touches]].T
    swap = first & ~second
    assert swap.any() and (~swap).any() and not touches.all()
    assert sensing[told.bodies[:, 1]].all()
    np.testing.assert_allclose(np.linalg.det(told.frame), 1.0, atol=1e-12)
    sign = np.where(swap, -1.0, 1.0)[:, None]
    np.testing.assert_array_equal(told.frame[:, 0], sign * contacts.frame[touches, 0])
    np.testing.assert_array_equal(told.wrench_world, sign * contacts.wrench_world[touches])
    for name in ("relative_velocity", "relative_angular_velocity"):
        np.testing.assert_array_equal(getattr(told, name), sign * getattr(contacts, name)[touches])
    np.testing.assert_array_equal(told.geoms[swap], contacts.geoms[touches][swap][:, ::-1])
    np.testing.assert_array_equal(told.distance, contacts.distance[touches])
    for part in (slice(0, 3), slice(3, 6)):
        along_frame = np.einsum("nki,nk->ni", told.frame, told.wrench[:, part])
        np.testing.assert_allclose(along_frame, told.wrench_world[:, part], atol=1e-12)


def test_reading_contacts_does_not_change_the_engine():
    engine = pile("elliptic", 3)
    before = engine.data.contact.frame.copy()
    first, second = engine.contacts(), engine.contacts()
    np.testing.assert_array_equal(engine.data.contact.frame, before)
    np.testing.assert_array_equal(first.wrench_world, second.wrench_world)


def test_a_contact_with_a_flex_has_no_geom_on_that_side():
    model = mujoco.MjModel.from_xml_string("""
    <mujoco><option solver="CG" timestep=".001"/><worldbody>
      <geom type="sphere" size=".1"/>
      <flexcomp type="grid" count="6 6 1" spacing=".05 .05 .05" pos="0 0 .11"
        mass=".2" name="cloth" dim="2" radius=".01">
        <edge equality="true"/><contact selfcollide="none"/></flexcomp>
    </worldbody></mujoco>""")
    engine = MujocoEngine(model)
    engine.step(60)
    engine.forward()
    contacts = engine.contacts()
    assert len(contacts) > 0
    assert set(contacts.geoms.ravel()) == {-1, 0}
    assert set(contacts.bodies.ravel()) == {-1, 0}
    assert np.isnan([contacts.relative_velocity, contacts.relative_angular_velocity]).all()
