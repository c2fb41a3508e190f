"""Test scenes composed of robots, objects and a floor by a configuration, without a scene file."""

import re

import mujoco
import numpy as np
import pytest
import trimesh
from support.errors import raises

from tactile_sim import ConfigError, SceneError, Simulation, TactileSimError
from tactile_sim.common.errors import ConfigErrors

ARM = """<robot name="arm">
<link name="base"><inertial><mass value="2"/>
<inertia ixx=".02" iyy=".02" izz=".02" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size=".2 .2 .2"/></geometry></collision></link>
<joint name="lift" type="prismatic"><parent link="base"/><child link="tip"/>
<origin xyz="0 0 .3"/><axis xyz="0 0 1"/>
<limit lower="-.1" upper=".1" effort="100" velocity="1"/></joint>
<link name="tip"><inertial><mass value="1"/>
<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius=".05"/></geometry></collision></link></robot>"""
ARM_FILE = {"file": "arm.urdf"}
G = 9.81


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "arm.urdf").write_text(ARM)
    points = ["0 0 0", "1 0 0", "0 1 0", "1 1 0"]  # in one plane
    (tmp_path / "flat.obj").write_text("".join(f"v {point}\n" for point in points) + "f 1 2 3\nf 2 3 4\n")
    huge = ["0 0 0", "1e30 0 0", "0 1e30 0", "0 0 1e30"]
    (tmp_path / "huge.obj").write_text(
        "".join(f"v {point}\n" for point in huge) + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_two_robots_and_a_cube_on_a_table_need_no_mjcf(folder):
    simulation = Simulation({
        "robots": {
            "left": ARM_FILE | {"position": [0, 1, 0], "orientation": [0, 0, 1.5], "prefix": "left_"},
            "right": ARM_FILE | {"position": [0, -1, 0], "orientation": [0, 0, 0, 1], "prefix": "right_"},
        },
        "objects": {
            "table": {"shape": "box", "size": [1, 1, 0.4], "position": [0, 0, 0.2], "fixed": True},
            "cube": {"shape": "box", "size": [0.1, 0.1, 0.1], "mass": 0.5, "position": [0, 0, 0.45]},
        },
        "ground": True,
        "skin": {"scales": {"cube": 0.02, "*_tip": 0.02}},
    })  # fmt: skip
    model, data = simulation.engine.model, simulation.engine.data
    assert {"left_base", "left_tip", "right_base", "right_tip", "table", "cube"} <= set(
        simulation.names.bodies
    )
    assert data.body("left_base").xpos == pytest.approx([0, 1, 0])
    assert data.body("left_base").xquat == pytest.approx([np.cos(0.75), 0, 0, np.sin(0.75)])
    assert model.body("cube").mass == pytest.approx(0.5)
    simulation.step(500)
    cube = next(body for body in simulation.skin.pads if body.body_id == simulation.names.body_id("cube"))
    forces = simulation.observe().readings[cube.start : cube.stop]
    assert forces.sum(axis=0)[2] == pytest.approx(0.5 * G, rel=0.01)


def test_a_robot_on_the_ground_feels_its_own_weight(folder):
    simulation = Simulation({
        "scene": "arm.urdf",
        "scene_options": {"floating_base": True},
        "ground": True,
        "skin": {"scales": {"base": 0.02}},
    })  # fmt: skip
    simulation.set_body_state("base", [0, 0, 0.1], [1, 0, 0, 0], [0, 0, 0], [0, 0, 0])
    simulation.step(1000)
    assert simulation.observe().readings.sum(axis=0)[2] == pytest.approx(3 * G, rel=0.01)


def test_defaults_of_a_scene_do_not_apply_to_objects_and_ground(folder):
    (folder / "ghost.xml").write_text(
        '<mujoco><default><geom contype="0" conaffinity="0" mass="9" margin="1"/></default>'
        "<worldbody><geom size='.1'/></worldbody></mujoco>"
    )
    simulation = Simulation({
        "scene": "ghost.xml",
        "objects": {"cube": {"shape": "box", "size": [0.1] * 3, "mass": 0.5, "position": [1, 0, 0.05]}},
        "ground": True,
        "skin": {"scales": {"cube": 0.02}},
    })  # fmt: skip
    simulation.step(500)
    assert simulation.observe().readings.sum(axis=0)[2] == pytest.approx(0.5 * G, rel=0.01)


def test_objects_of_meshes_are_hulls_or_convex_parts(folder):
    pytest.importorskip("coacd")
    cup = trimesh.creation.annulus(r_min=0.04, r_max=0.05, height=0.1)
    (folder / "cup.ply").write_bytes(cup.export(file_type="ply"))
    models = [
        Simulation({"objects": {"cup": {"file": "cup.ply", "mass": 0.2, "decompose": decompose}},
                    "skin": {"scales": {"cup": 0.02}}}).engine.model
        for decompose in (False, True)
    ]  # fmt: skip
    assert models[0].ngeom == 1 and models[1].ngeom > 3
    assert [model.body("cup").mass[0] for model in models] == pytest.approx([0.2, 0.2])
    ring = 0.5 * 0.2 * (0.04**2 + 0.05**2)  # about its axis
    assert max(models[1].body("cup").inertia) == pytest.approx(ring, rel=0.1)


def test_a_missing_coacd_is_named(folder, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "coacd", None)
    (folder / "box.stl").write_bytes(trimesh.creation.box((0.1, 0.1, 0.1)).export(file_type="stl"))
    with raises(SceneError, "objects.box.decompose", "coacd"):
        Simulation({"objects": {"box": {"file": "box.stl", "decompose": True}}})


@pytest.mark.parametrize("name", ["broken.glb", "broken.ply", "broken.dae"])
def test_a_broken_mesh_is_named_without_python_names(folder, name):
    (folder / name).write_bytes(b"<COLLADA>" if name.endswith("dae") else b"glTFbroken")
    with raises(SceneError, "objects.a.file", name) as error:
        Simulation({"objects": {"a": {"file": name}}})
    assert not re.search(r"\w(Error|Exception)", str(error.value))


BOX = {"shape": "box", "size": [1, 1, 1]}
SKIN = {"scales": {"a": 0.02}}


@pytest.mark.parametrize(
    ("keys", "facts"),
    [
        ({"objects": {"a": {"size": [1, 1, 1]}}}, ["objects.a", "shape", "file"]),
        ({"objects": {"a": {"shape": "box", "size": [1]}}}, ["objects.a", "size", "3"]),
        ({"objects": {"a": {"shape": "bx", "size": [1]}}}, ["objects.a.shape", "'box'"]),
        ({"objects": {"a": {"shape": "box", "size": [1, 1, -1]}}}, ["objects.a.size"]),
        ({"objects": {"a": {"shape": "box", "size": "big"}}}, ["objects.a.size", "'big'"]),
        ({"objects": {"a": BOX | {"decompose": True}}}, ["objects.a", "decompose"]),
        ({"objects": {"a": BOX | {"mas": 1}}}, ["objects.a.mas", "'mass'"]),
        ({"objects": {"a": BOX | {"orientation": [0, 0, 0, 0]}}}, ["objects.a", "orientation"]),
        ({"objects": {"a": {"file": "no.obj"}}}, ["objects.a.file", "no.obj"]),
        ({"objects": {"b": BOX, "a": BOX | {"mass": 1e-300}}}, ["objects.a.mass", "1e-300"]),
        ({"objects": {"a": BOX | {"size": [1e-9] * 3, "mass": 0.1}}}, ["objects.a.size", "1e-09"]),
        ({"objects": {"a": {"file": "flat.obj"}}}, ["objects.a.file", "flat.obj"]),
        ({"objects": {"a": {"file": "flat.obj", "scale": 1e-9}}}, ["objects.a.file", "flat.obj"]),
        ({"objects": {"a": {"file": "huge.obj"}}, "skin": SKIN}, ["objects.a.file", "huge.obj", "1e+06"]),
        ({"objects": {"a": {"file": "."}}}, ["objects.a.file", "folder"]),
        ({"objects": {"a": {"file": "flatt.obj"}}}, ["objects.a.file", "'flat.obj'"]),
        ({"robots": {"a": {"prefix": "a_"}}}, ["robots.a", "file"]),
        ({"robots": {"a": {"file": "no.urdf"}}}, ["robots.a.file", "no.urdf"]),
        ({"robots": {"a": {"file": "arm.urdf"}, "b": {"file": "arm.urdf"}}}, ["robots.b.prefix", "'base'"]),
        ({"robots": {"a": {"file": "touch_cube", "floating_base": True}}}, ["robots.a.floating_base"]),
        ({"scene": "touch_cube", "scene_options": {"floating_base": True}}, ["scene_options.floating_base"]),
        ({"scene": "touch_cube", "objects": {"cube": BOX}}, ["objects.cube", "already"]),
        ({"scene_options": {"self_collision": "some"}, "ground": True}, ["scene_options.self_collision"]),
        ({"engine": "trifinger", "ground": True}, ["ground", "trifinger"]),
        ({"ground": False}, ["scene"]),
    ],
)  # fmt: skip
def test_wrong_parts_are_refused_with_their_key(folder, keys, facts):
    with raises(TactileSimError, *facts) as error:
        Simulation(keys)
    assert isinstance(error.value, ConfigError | SceneError)


@pytest.mark.parametrize("file", ["no.obj", "flat.obj"])
def test_errors_of_all_objects_are_reported(folder, file):
    with pytest.raises(ConfigErrors) as raised:
        Simulation({"objects": {name: {"file": file} for name in ("p", "q")}})
    assert ["objects.p.file" in str(error) for error in raised.value.errors] == [True, False]
    assert "objects.q.file" in str(raised.value.errors[1])


def test_a_scene_made_in_python_takes_objects_and_a_compiled_one_none(folder):
    spec = mujoco.MjSpec()
    added = {"objects": {"cube": BOX}, "skin": {"scales": {"cube": 0.2}}}
    assert Simulation(spec, added).names.bodies == ["world", "cube"]
    with raises(ConfigError, "objects"):
        Simulation(spec.compile(), added)


def test_inertias_of_an_mjcf_are_balanced_on_request(folder):
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 4"/>'
    body = f'<body name="b"><freejoint/>{inertial}<geom size="1"/></body>'
    (folder / "scene.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    keys = {"scene": "scene.xml", "skin": {"scales": {"b": 0.5}}}
    with raises(SceneError, "scene.xml", "'b'"):
        Simulation(keys)
    balanced = Simulation(keys | {"scene_options": {"balance_inertia": True}}).engine.model
    assert balanced.body("b").inertia == pytest.approx([2, 2, 2])  # the mean
