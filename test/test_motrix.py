"""MotrixSim behind the engine interface: against statics, Newton's and Euler's laws, and MuJoCo."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

pytest.importorskip("motrixsim", reason="motrixsim is not installed: make setup brings it")

from tactile_sim import EngineError, config  # noqa: E402
from tactile_sim.cli import main  # noqa: E402
from tactile_sim.commander import Commander, JointCommand  # noqa: E402
from tactile_sim.engines import Engine, load, make  # noqa: E402
from tactile_sim.engines.motrix_contacts import WIDTH  # noqa: E402
from tactile_sim.names import Names  # noqa: E402
from tactile_sim.simulation import Simulation  # noqa: E402

G = 9.81


def of(text: str, engine_name: str = "motrix") -> Engine:
    spec = mujoco.MjSpec.from_string(text)
    return make(engine_name, spec, spec.compile())


# -- statics: both engines -------------------------------------------------------------------------------

SHARE = 0.01
"""How near to analysis both engines come."""


def test_a_cube_of_skin_at_rest_feels_its_weight(engine_name):
    keys = {"scene": "touch_cube.xml", "engine": engine_name, "skin": {"scales": {"cube": 0.02}}}
    simulation = Simulation(config.from_mapping(keys, None, "test"))
    simulation.skip(1500)
    snapshot = simulation.observe()
    np.testing.assert_allclose(snapshot.forces_world.sum(axis=0), [0, 0, G], atol=SHARE * G)
    np.testing.assert_allclose(np.linalg.norm(snapshot.wrenches[0, :3]), G, rtol=SHARE)
    np.testing.assert_allclose(snapshot.wrenches[0, 3:], 0, atol=SHARE * G * 0.1)
    assert len(snapshot.contacts) == 4
    np.testing.assert_allclose(snapshot.contacts.position[:, 2], 0, atol=2e-3)
    np.testing.assert_allclose(np.abs(snapshot.contacts.frame[:, 0, 2]), 1, atol=1e-6)
    assert simulation.fault() is None


def test_an_object_is_pressed_against_the_floor_by_a_known_force(engine_name):
    engine = of(
        """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
          <body name="object" pos="0 0 .05"><freejoint/>
            <geom name="object" type="box" size=".05 .05 .05" mass=".5"/></body>
          <body name="press" pos="0 0 .15"><joint name="rail" type="slide" axis="0 0 1" damping="50"/>
            <geom name="press" type="sphere" size=".05" mass="2"/></body></worldbody>
        <actuator><motor name="push" joint="rail"/></actuator></mujoco>""",
        engine_name,
    )
    engine.data.ctrl[:] = -30.0
    engine.step(1000)
    contacts = engine.contacts()
    for names, force in ((("object", "press"), 30 + 2 * G), (("floor", "object"), 30 + 2.5 * G)):
        below, above = (engine.model.geom(name).id for name in names)
        chosen = np.isin(contacts.geoms, (below, above)).all(axis=1)
        up = np.where(contacts.geoms[chosen, 1] == above, 1, -1) @ contacts.wrench_world[chosen, :3]
        np.testing.assert_allclose(up, [0, 0, force], atol=SHARE * force)
    assert (contacts.distance < 0).all()


def test_sensors_of_a_lever_at_rest_tell_its_weight_and_its_torque(engine_name):
    engine = of(
        """<mujoco><option timestep="0.002"/><worldbody>
          <body name="lever" pos="0 0 1"><joint name="hinge" axis="0 1 0" damping="1"/>
            <geom size=".05" pos=".4 0 0" mass="2"/><site name="root"/>
            <site name="pad" pos=".4 0 0" type="sphere" size=".1"/></body>
          <body name="load" pos=".4 0 1.08"><freejoint/>
            <geom type="box" size=".04 .04 .03" mass="1"/></body></worldbody>
        <actuator><position name="servo" joint="hinge" kp="2000" kv="100"/></actuator>
        <sensor><accelerometer site="root"/><force site="root"/><torque site="root"/><touch site="pad"/>
          <jointactuatorfrc joint="hinge"/></sensor></mujoco>""",
        engine_name,
    )
    engine.step(750)
    upward, force, torque, touch, effort = (engine.get_sensor_data(f"sensor{k}")[0] for k in range(5))
    np.testing.assert_allclose(upward, [0, 0, G], atol=SHARE * G)
    # What the world puts on the lever, in the site's frame: up, and against a turn of the load towards -z.
    np.testing.assert_allclose(force, [0, 0, 3 * G], atol=SHARE * 3 * G)
    np.testing.assert_allclose(torque, [0, -0.4 * 3 * G, 0], atol=SHARE * 1.2 * G)
    np.testing.assert_allclose(touch, G, rtol=SHARE)
    np.testing.assert_allclose(effort, -0.4 * 3 * G, rtol=SHARE)


def test_sensors_of_acceleration_and_of_inner_forces_follow_each_step(engine_name):
    engine = of(
        """<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
          <body pos="0 0 .1"><freejoint/><geom size=".05" mass="1"/><site name="middle"/>
            <body pos="0 0 -.02"><geom size=".02" mass=".5" contype="0"/><site name="top"/></body></body>
        </worldbody>
        <sensor><accelerometer site="middle"/><force site="top"/><framelinacc objtype="site" objname="top"/>
        </sensor></mujoco>""",
        engine_name,
    )
    for _ in range(2):
        engine.reset()
        for steps, felt in ((5, 0.0), (1500, G), (5, G)):  # it falls, then lies still
            engine.step(steps)
            upward, held, moved = (engine.get_sensor_data(f"sensor{k}")[0] for k in range(3))
            np.testing.assert_allclose(upward, [0, 0, felt], atol=SHARE * G)
            np.testing.assert_allclose(held, [0, 0, 0.5 * felt], atol=SHARE * G)
            np.testing.assert_allclose(moved, upward, atol=1e-9)


def test_the_example_of_the_page_on_engines_weighs_the_scene():
    page = (Path(__file__).resolve().parents[1] / "docs" / "engines.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict = {}
    exec(code, names)
    # A cube of 1 kg and four balls of 60 g.
    assert names["engine"].contacts().wrench_world[:, 2].sum() == pytest.approx(1.24 * G, rel=0.1)
    assert names["many"].num_envs == 64


# -- motion: MuJoCo's ------------------------------------------------------------------------------------

MACHINE = """<mujoco><option timestep="0.001"/><worldbody>
  <body name="a" pos="0 0 1" euler="20 30 40">
    <joint name="twisted" axis="1 2 3" pos=".1 .2 .3" ref="20" damping=".3" armature=".02" stiffness="2"/>
    <geom size=".05" pos=".2 0 0" mass="1"/>
    <body euler="10 20 30" pos=".1 0 0"><joint type="slide" axis="1 1 0" damping="2" range="-.1 .1"/>
      <geom size=".05" pos=".2 0 0" mass="1"/></body></body>
  <body name="b" pos="2 0 1"><joint name="ball" type="ball"/>
    <geom type="capsule" fromto="0 0 0 .3 .1 0" size=".03"/></body>
  <body name="c" pos="4 0 1" euler="10 0 30"><freejoint/>
    <geom type="box" size=".1 .2 .3" pos=".1 0 0" mass="2"/></body>
  <body name="d" pos="6 0 0"><joint name="servoed" damping=".1"/><joint name="moved" axis="0 1 0"/>
    <geom size=".1" pos=".1 0 0" mass="1"/></body></worldbody>
<actuator><position joint="servoed" kp="30" kv="2" gear="1.5" ctrlrange="-.5 .5"/>
  <motor joint="twisted" gear="2" forcerange="-1 1"/></actuator>
<keyframe><key name="bent" qpos=".3 .05  .8 .6 0 0  4 0 2 0 1 0 0  .1 .2" ctrl=".1 .2"/></keyframe>
</mujoco>"""


def test_joints_actuators_and_applied_forces_move_as_in_mujoco():
    one, other = of(MACHINE, "mujoco"), of(MACHINE)
    for engine in (one, other):
        engine.data.qvel[:] = 0.1 * np.arange(13)
        engine.data.ctrl[:] = 2.0, 3.0
        engine.data.qfrc_applied[-1] = 0.8
        engine.step(300)
        engine.forward()
    assert one.time == pytest.approx(0.3) and other.time == pytest.approx(0.3)
    np.testing.assert_allclose(other.data.qpos, one.data.qpos, atol=5e-3)
    np.testing.assert_allclose(other.data.qvel, one.data.qvel, atol=3e-2)
    np.testing.assert_allclose(other.body_positions, one.body_positions, atol=5e-3)
    np.testing.assert_allclose(other.body_rotations, one.body_rotations, atol=2e-2)
    np.testing.assert_allclose(other.data.qfrc_actuator, one.data.qfrc_actuator, atol=0.05)
    assert np.abs(one.data.qpos - one.model.qpos0).max() > 0.3


def test_a_keyframe_and_a_body_set_free_are_where_they_are_put():
    engine = of(MACHINE)
    engine.step(20)
    engine.reset("bent")
    np.testing.assert_allclose(engine.data.qpos[:2], [0.3, 0.05])
    np.testing.assert_allclose(engine.data.ctrl, [0.1, 0.2])
    np.testing.assert_allclose(engine.body_quaternions[engine.model.body("c").id], [0, 1, 0, 0], atol=1e-6)
    with pytest.raises(EngineError, match="no keyframe 'bend' in the scene; did you mean 'bent'"):
        engine.reset("bend")
    body = engine.free_bodies[0]
    half = np.sqrt(0.5)
    engine.set_free_body(body, [0, 0, 5], [half, 0, 0, half], [1, 0, 0], [0, 0, 2])
    engine.step(100)

    # The body's centre of mass flies a parabola and its origin goes round it, by 0.2 rad after a right angle.
    def arm(angle):
        return 0.1 * np.array([np.cos(angle), np.sin(angle), 0])

    start = np.array([0, 0, 5]) + arm(np.pi / 2)
    velocity = np.array([1, 0, 0]) + np.cross([0, 0, 2], arm(np.pi / 2))
    centre = start + 0.1 * velocity + [0, 0, -G * 0.1**2 / 2]
    np.testing.assert_allclose(engine.body_positions[body], centre - arm(np.pi / 2 + 0.2), atol=1e-3)


def test_a_start_anew_forgets_all_that_was():
    engine = of(MACHINE)
    ways = []
    for _ in range(2):
        engine.data.ctrl[:] = 0.3
        engine.data.qvel[:] = 1.0
        engine.step(50)
        ways.append(np.concatenate([engine.data.qpos, engine.data.qvel]))
        engine.reset()
        assert engine.time == 0.0 and not engine.data.ctrl.any()
    np.testing.assert_array_equal(*ways)


# -- the look ahead --------------------------------------------------------------------------------------


def test_two_halves_or_whole_steps_or_many_at_once_are_the_same_motion():
    whole, halves, many = of(MACHINE), of(MACHINE), of(MACHINE)
    for _ in range(40):
        whole.step()
        halves.forward()
        halves.contacts()
        halves.forward()
        halves.integrate()
    many.step(40)
    for engine in (halves, many):
        np.testing.assert_array_equal(engine.data.qpos, whole.data.qpos)
        assert engine.time == whole.time


def test_a_command_after_a_look_acts_on_the_very_next_step():
    looked, other = of(MACHINE), of(MACHINE)
    for k in range(40):
        looked.forward()
        for engine in (looked, other):
            engine.data.ctrl[:] = 0.3 * np.sin(k), 1.0
            engine.data.qfrc_applied[-1] = 0.1 * k
            engine.step()
    # The step that was looked at is taken back in single precision.
    np.testing.assert_allclose(looked.data.qpos, other.data.qpos, atol=1e-5)


def test_what_is_read_after_steps_is_of_the_state_that_the_last_one_began_with():
    engine, behind = of(MACHINE), of(MACHINE)
    for other in (engine, behind):
        other.data.ctrl[:] = 0.2, 1.0
    engine.step(25)
    behind.step(24)
    poses = mujoco.MjData(behind.model)
    poses.qpos[:] = behind.data.qpos
    mujoco.mj_kinematics(behind.model, poses)
    engine.data.ctrl[:] = 0.0
    reached = engine.data.qpos.copy()
    np.testing.assert_allclose(engine.body_positions, poses.xpos, atol=1e-12)
    behind.forward()
    np.testing.assert_allclose(engine.data.qfrc_actuator, behind.data.qfrc_actuator, atol=1e-12)
    np.testing.assert_array_equal(engine.data.qpos, reached)
    assert engine.time == pytest.approx(0.025) and not engine.data.ctrl.any()
    behind.step()
    np.testing.assert_array_equal(behind.data.qpos, reached)


# -- contacts --------------------------------------------------------------------------------------------

SHAPES = {
    "sphere": 'type="sphere" size=".1"',
    "box": 'type="box" size=".1 .08 .06"',
    "capsule": 'type="capsule" size=".05 .08"',
    "mesh": 'type="mesh" mesh="wedge"',
}
GROUNDS = {"plane": 'type="plane" size="5 5 .1"', "box": 'type="box" size="1 1 .1" pos="0 0 -.1"'}


@pytest.mark.parametrize("body_first", [True, False])
@pytest.mark.parametrize(("shape", "ground"), [*itertools.product(SHAPES, GROUNDS)])
def test_contacts_bring_about_the_accelerations_of_a_tumbling_body(shape, ground, body_first):
    rub = 'condim="6" friction=".6 .02 .01"'
    # A child of a fixed body comes before its parent in motrixsim's order of geoms.
    parts = [
        f'<body name="b" pos="0 0 .13"><freejoint/><geom {SHAPES[shape]} mass="1" {rub}/></body>',
        f'<body><geom {GROUNDS[ground]} euler="5 3 0" {rub}/>'
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
        turn, centre = engine.body_rotations[body].copy(), data.xipos[body].copy()
        axes = turn.T @ data.ximat[body].reshape(3, 3)
        inertia = axes @ np.diag(model.body_inertia[body]) @ axes.T
        before, origin = data.qvel.copy(), data.xpos[body].copy()
        sign = np.where(contacts.bodies[:, 1] == body, 1.0, -1.0)[:, None]
        force, torque = np.split(sign * contacts.wrench_world, 2, axis=1)
        # motrixsim lets the force act on the surface of each body, half the depth from the middle.
        points = contacts.position + 0.5 * sign * contacts.distance[:, None] * contacts.frame[:, 0]
        torque = torque + np.cross(points - centre, force)
        # The velocity of the centre of mass changes as the origin's and with the turning.
        engine.integrate()
        change = (data.qvel - before) / engine.timestep
        spin = before[3:]
        np.testing.assert_allclose(
            inertia @ change[3:] + np.cross(spin, inertia @ spin), turn.T @ torque.sum(axis=0),
            atol=2e-4 * (1 + np.abs(force).sum()),
        )  # fmt: skip
        if shape != "mesh":  # whose origin is not its centre of mass
            np.testing.assert_allclose(centre, origin, atol=1e-12)
            np.testing.assert_allclose(
                change[:3] + [0, 0, G], force.sum(axis=0), atol=1e-3 * (1 + np.abs(force).sum())
            )
        touched += len(contacts) > 0
    assert touched > 50


def test_the_geoms_that_touch_are_those_of_mujoco():
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
    # Spheres that coincide: each pair that may touch does.
    found = [{*map(frozenset, engine.data.contact.geom.tolist())} for engine in (mujocos, motrix)]
    assert found[0] == found[1] and len(found[0]) == 21
    # And motrixsim itself has none that we do not read.
    colliders = {
        collider: geom
        for geom in range(motrix.model.ngeom)
        for collider in motrix._motrix.scene.low.get_collider_indices(motrix.model.geom(geom).name) or ()
    }
    own = motrix._state.data.low.get_contacts()
    assert {frozenset((colliders[c.collider_index_a], colliders[c.collider_index_b])) for c in own} == found[
        1
    ]


def test_contacts_beyond_those_that_are_read_are_said_once(caplog):
    engine = of("""<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body pos="0 0 .1"><freejoint/><geom name="drum" size=".1"/></body></worldbody></mujoco>""")
    # No shape is known that touches another one at more than eight points: as if it did.
    crowd = np.zeros((1, WIDTH), np.float32)
    crowd[0, 0] = 9
    for _ in range(2):
        engine._tell_of_crowds(crowd)
    assert [record.getMessage() for record in caplog.records] == [
        "engine 'motrix': floor and drum touch at 9 points, of which 8 are told"
    ]


# -- scenes ----------------------------------------------------------------------------------------------


def test_meshes_are_found_beside_the_scene_and_nothing_needs_a_name(tmp_path, monkeypatch):
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


def test_a_urdf_arm_is_taken_too(tmp_path):
    (tmp_path / "arm.urdf").write_text("""<robot name="arm"><link name="base"/>
      <link name="link"><inertial><origin xyz=".2 0 0"/><mass value="1"/>
        <inertia ixx=".01" iyy=".02" izz=".02" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="revolute"><parent link="base"/><child link="link"/><axis xyz="0 1 0"/>
        <limit lower="-3" upper="3" effort="100" velocity="10"/></joint></robot>""")
    engine = load(tmp_path / "arm.urdf", "motrix")
    engine.forward()
    engine.integrate()
    # A rod let go: m g l / (I + m l²).
    np.testing.assert_allclose(engine.data.qvel / engine.timestep, [0.2 * G / 0.06], rtol=1e-3)


# -- what cannot be had ----------------------------------------------------------------------------------


def test_what_is_left_out_or_not_told_is_said_at_the_start_and_never_told_wrong():
    engine = of("""<mujoco><option integrator="RK4" wind="1 0 0"/><worldbody>
      <body><joint name="j" axis="0 1 0" range="-10 10" actuatorfrcrange="-1 1"/>
        <geom size=".1" pos=".3 0 0"/></body>
      <body pos="0 1 0"><joint type="ball" damping="1"/><geom size=".1" pos=".3 0 0"/></body>
      <body name="k" pos="0 2 0"><joint name="k"/><geom size=".1" pos=".3 0 0"/></body></worldbody>
      <actuator><general joint="k" dyntype="filter" dynprm=".1"/></actuator>
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


# -- many environments -----------------------------------------------------------------------------------

PUSHED = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
  <body name="sledge" pos="0 0 .049"><freejoint/><geom name="left" size=".05" pos="0 .1 0"/>
    <geom name="right" size=".05" pos="0 -.1 0"/>
    <body name="top" pos="0 0 .3"><joint name="swing" axis="0 1 0"/>
      <geom name="top" size=".02" pos="0 0 .1"/></body></body>
  </worldbody><actuator><motor name="motor" joint="swing"/></actuator>
<sensor><jointpos name="angle" joint="swing"/></sensor>
<keyframe><key name="up" qpos="0 0 1 1 0 0 0 0"/></keyframe></mujoco>"""
SENSORS = {
    "net": {"geom1": "left", "geom2": "floor", "data": ["force"], "reduce": "netforce"},
    "all": {"body1": "world", "subtree2": "sledge", "num": 3},
    "deep": {"body1": "sledge", "data": ["dist", "pos"], "num": 1, "reduce": "mindist"},
    "strong": {"geom1": "floor", "data": ["force", "normal"], "num": 2, "reduce": "maxforce"},
    "sum": {"body2": "sledge", "data": ["force", "torque"], "reduce": "netforce"},
}


@pytest.fixture
def pushed(tmp_path):
    """A scene in motrixsim with some environments."""
    (tmp_path / "scene.xml").write_text(PUSHED)
    return lambda n: load(tmp_path / "scene.xml", "motrix", n, contact_sensors=SENSORS)


def test_each_environment_of_a_batch_moves_and_feels_as_it_would_alone(pushed):
    batch, alone = pushed(3), pushed(1)
    starts = {"qpos": [0.049, 0.0485, 2.0], "qvel": [0.1, -0.2, 0.3], "ctrl": [0.0, 0.01, -0.01]}
    batch.data.qpos[:, 2], batch.data.qvel[:, 0] = starts["qpos"], starts["qvel"]
    batch.data.ctrl[:, 0] = starts["ctrl"]
    batch.step(6)
    for env in range(3):
        alone.reset()
        alone.data.qpos[2], alone.data.qvel[0] = starts["qpos"][env], starts["qvel"][env]
        alone.data.ctrl[0] = starts["ctrl"][env]
        alone.step(6)
        for name in SENSORS:
            one, many = alone.get_contact_sensor(name), batch.get_contact_sensor(name)
            assert many.found[env] == one.found[0] == (0 if env == 2 else 1 if name == "net" else 2)
            np.testing.assert_allclose(many.values[env], one.values[0], atol=1e-6)
            np.testing.assert_allclose(
                batch.get_contact_force_magnitude(name)[env], alone.get_contact_force_magnitude(name)[0],
                rtol=1e-5,
            )  # fmt: skip
            np.testing.assert_allclose(
                batch.get_sensor_value(name)[env], alone.get_sensor_value(name), atol=1e-6
            )
            np.testing.assert_allclose(
                batch.get_sensor_data(name)[env], alone.get_sensor_data(name)[0], atol=1e-6
            )
        np.testing.assert_allclose(batch.data.qpos[env], alone.data.qpos, atol=1e-6)
        np.testing.assert_allclose(batch.time[env], alone.time)


def test_a_look_at_a_batch_changes_nothing_and_tells_the_present_state(pushed):
    looked, other = pushed(2), pushed(2)
    for batch in (looked, other):
        batch.data.qvel[1, 0] = 0.5
    for _ in range(5):
        looked.forward()
        looked.get_contact_sensor("all")
        looked.step()
        other.step()
    # What was looked at is taken back in single precision.
    np.testing.assert_allclose(looked.data.qpos, other.data.qpos, atol=1e-4)
    looked.forward()
    pos = looked.get_contact_sensor("deep").pos[:, 0, 0]
    np.testing.assert_allclose(pos, looked.data.qpos[:, 0], atol=1e-3)


def test_one_broken_environment_is_named_and_started_anew_while_the_others_go_on(pushed):
    batch = pushed(3)
    batch.step(4)
    batch.data.qvel[2, 0] = np.nan
    batch.step(2)
    assert batch.fault() == "bad position in environment 2"
    before = batch.data.qpos[0].copy()
    batch.reset(envs=[2])
    assert batch.fault() is None
    np.testing.assert_allclose(batch.time, [0.012, 0.012, 0])
    np.testing.assert_allclose(batch.data.qpos[0], before, atol=1e-6)
    batch.step()
    assert batch.fault() is None and np.isfinite(batch.data.qpos).all()
    batch.reset("up")
    np.testing.assert_allclose(batch.data.qpos[:, 2], 1.0)
    assert not batch.get_contact_force_magnitude("net").any()
    with pytest.raises(EngineError, match="no keyframe 'upp'"):
        batch.reset("upp")


def test_what_a_batch_does_not_tell_is_refused_by_name(pushed):
    batch = pushed(2)
    told = "sensor 'angle'.*: several environments at once tell contact sensors alone; .*num_envs=1"
    assert list(batch.sensor_ids) == list(SENSORS)
    assert any("sensor 'angle' is not told" in line for line in batch.limits)
    with pytest.raises(EngineError, match=f"engine 'motrix' does not tell {told}"):
        batch.get_sensor_data("angle")
    with pytest.raises(EngineError, match="engine 'motrix' has no contacts for 2 environments at once"):
        batch.contacts()


# -- commands --------------------------------------------------------------------------------------------


def test_joint_commands_act_alike_through_servos_and_gains(engine_name):
    engine = of(MACHINE.replace("<option", '<option gravity="0 0 0"'), engine_name)
    commander = Commander(engine.model, Names(engine.model), {"moved": {"kp": 40.0, "kd": 4.0}})
    wanted = {"servoed": 0.3, "moved": -0.4}
    command = JointCommand([*wanted], np.array([*wanted.values()]), np.array([]), np.array([]))
    commander.accept(commander.check(command), engine.data)
    for _ in range(3000):
        commander.apply(engine.data)
        engine.step()
    reached = dict(zip(commander.joint_names, engine.data.qpos[commander.qpos], strict=True))
    assert {name: reached[name] for name in wanted} == pytest.approx(wanted, abs=0.01)
