"""Contacts of MotrixSim, compared with Newton's and Euler's laws and with MuJoCo."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import trimesh

pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")

from support.motrix import of  # noqa: E402

from tactile_sim.engines import load  # noqa: E402
from tactile_sim.engines.motrix_model import WIDTH  # noqa: E402

G = 9.81

SHAPES = {
    "sphere": 'type="sphere" size=".1"',
    "box": 'type="box" size=".1 .08 .06"',
    "capsule": 'type="capsule" size=".05 .08"',
    "mesh": 'type="mesh" mesh="wedge"',
}
GROUNDS = {"plane": 'type="plane" size="5 5 .1"', "box": 'type="box" size="1 1 .1" pos="0 0 -.1"'}


@pytest.mark.parametrize("body_first", [True, False])
@pytest.mark.parametrize(("shape", "ground"), [*itertools.product(SHAPES, GROUNDS)])
def test_contact_wrenches_explain_the_motion_of_a_tumbling_body(shape, ground, body_first):
    friction = 'condim="6" friction=".6 .02 .01"'
    # MotrixSim orders geoms of a child of a fixed body before those of the parent.
    parts = [
        f'<body name="b" pos="0 0 .13"><freejoint/><geom {SHAPES[shape]} mass="1" {friction}/></body>',
        f'<body><geom {GROUNDS[ground]} euler="5 3 0" {friction}/>'
        '<body><geom size=".01" pos="3 0 0"/></body></body>',
    ]
    engine = of(f"""<mujoco><option timestep="0.001"/><asset>
      <mesh name="wedge" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2 .15 .15 .15"/></asset>
      <worldbody>{"".join(parts[:: 1 if body_first else -1])}</worldbody></mujoco>""")
    model, data, body = engine.model, engine.data, engine.model.body("b").id
    data.qvel[:] = 0.3, 0.2, -0.5, 0.5, 1.0, 1.5
    touched = 0
    for _ in range(200):
        engine.forward()
        contacts = engine.contacts()
        turn, center = engine.body_rotations[body].copy(), data.xipos[body].copy()
        axes = turn.T @ data.ximat[body].reshape(3, 3)
        inertia = axes @ np.diag(model.body_inertia[body]) @ axes.T
        before, origin = data.qvel.copy(), data.xpos[body].copy()
        sign = np.where(contacts.bodies[:, 1] == body, 1.0, -1.0)[:, None]
        force, torque = np.split(sign * contacts.wrench_world, 2, axis=1)
        # In MotrixSim, the force acts on the surface of each body, half the depth from the contact point.
        points = contacts.position + 0.5 * sign * contacts.distance[:, None] * contacts.frame[:, 0]
        torque = torque + np.cross(points - center, force)
        # Newton's and Euler's equations.
        engine.integrate()
        change = (data.qvel - before) / engine.timestep
        spin = before[3:]
        np.testing.assert_allclose(
            inertia @ change[3:] + np.cross(spin, inertia @ spin), turn.T @ torque.sum(axis=0),
            atol=2e-4 * (1 + np.abs(force).sum()),
        )  # fmt: skip
        if shape != "mesh":  # its origin is not its center of mass
            np.testing.assert_allclose(center, origin, atol=1e-12)
            np.testing.assert_allclose(
                change[:3] + [0, 0, G], force.sum(axis=0), atol=1e-3 * (1 + np.abs(force).sum())
            )
        touched += len(contacts) > 0
    assert touched > 50


def test_same_geoms_collide_as_in_mujoco():
    text = """<mujoco><option gravity="0 0 0"/><worldbody>
      <geom name="w1" size=".1"/><geom name="w2" size=".1"/><body><geom name="st" size=".1"/></body>
      <body name="a"><joint type="slide"/><geom name="a1" size=".1"/>
        <geom name="a2" size=".1" contype="0" conaffinity="0"/>
        <body name="b"><joint type="slide"/><geom name="b1" size=".1"/>
          <body name="bf"><geom name="bf" size=".1"/>
            <body name="c"><joint type="slide"/><geom name="c1" size=".1"/></body></body></body></body>
      <body name="e"><joint type="slide"/><geom name="e1" size=".1"/></body>
      <body name="f"><joint type="slide"/><geom name="f1" size=".1" contype="2" conaffinity="4"/></body>
      <body name="g"><joint type="slide"/><geom name="g1" size=".1" contype="4" conaffinity="0"/></body>
      <body name="h"><joint type="slide"/><geom name="h1" size=".1" contype="0" conaffinity="0"/></body>
    </worldbody><contact><exclude body1="a" body2="e"/><pair geom1="h1" geom2="c1"/></contact></mujoco>"""
    mujocos, motrix = of(text, "mujoco"), of(text)
    motrix.contacts()
    # All spheres coincide, so each pair that may collide does.
    found = [{*map(frozenset, engine.data.contact.geom.tolist())} for engine in (mujocos, motrix)]
    assert found[0] == found[1] and len(found[0]) == 21
    # MotrixSim has no other contacts.
    colliders = {
        collider: geom
        for geom in range(motrix.model.ngeom)
        for collider in motrix._motrix.scene.low.get_collider_indices(motrix.model.geom(geom).name) or ()
    }
    own = motrix._state.data.low.get_contacts()
    assert {frozenset((colliders[c.collider_index_a], colliders[c.collider_index_b])) for c in own} == found[
        1
    ]


def test_truncated_contacts_are_logged_once(caplog):
    engine = of("""<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body pos="0 0 .1"><freejoint/><geom name="drum" size=".1"/></body></worldbody></mujoco>""")
    # No pair of shapes is known to have more than eight contacts, so this test uses artificial raw values.
    raw = np.zeros((1, WIDTH), np.float32)
    raw[0, 0] = 9
    for _ in range(2):
        engine._motrix.warn_of_truncation(raw)
    (message,) = [record.getMessage() for record in caplog.records]
    assert all(fact in message for fact in ("'motrix'", "floor", "drum", "9", "8"))


# -- scenes ----------------------------------------------------------------------------------------------


def test_meshes_are_found_relative_to_the_scene_and_names_are_optional(tmp_path, monkeypatch):
    (tmp_path / "parts").mkdir()
    trimesh.creation.box((0.2, 0.2, 0.2)).export(tmp_path / "parts" / "cube.stl")
    (tmp_path / "scene.xml").write_text("""<mujoco><compiler meshdir="parts"/>
      <asset><mesh name="cube" file="cube.stl"/>
        <texture name="t" type="2d" builtin="flat" width="4" height="4"/>
        <material name="m" texture="t"/></asset>
      <worldbody><light/><camera/><geom type="plane" size="1 1 .1" material="m"/>
        <body pos="0 0 .1"><freejoint/><geom type="mesh" mesh="cube" mass="2"/>
          <body pos="0 0 .3"><joint axis="0 1 0" damping="1" stiffness="50"/><geom size=".03"/></body></body>
      </worldbody></mujoco>""")
    monkeypatch.chdir(tmp_path / "parts")
    engine = load(tmp_path / "scene.xml", "motrix")
    engine.step(500)
    weight = engine.model.body_mass.sum() * G
    np.testing.assert_allclose(engine.contacts().wrench_world[:, 2].sum(), weight, rtol=0.1)


def test_urdf_arm_is_supported(tmp_path):
    (tmp_path / "arm.urdf").write_text("""<robot name="arm"><link name="base"/>
      <link name="link"><inertial><origin xyz=".2 0 0"/><mass value="1"/>
        <inertia ixx=".01" iyy=".02" izz=".02" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="revolute"><parent link="base"/><child link="link"/><axis xyz="0 1 0"/>
        <limit lower="-3" upper="3" effort="100" velocity="10"/></joint></robot>""")
    engine = load(tmp_path / "arm.urdf", "motrix")
    engine.forward()
    engine.integrate()
    # Acceleration of a pendulum: m g l / (I + m l²).
    np.testing.assert_allclose(engine.data.qvel / engine.timestep, [0.2 * G / 0.06], rtol=1e-3)
