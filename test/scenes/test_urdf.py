"""URDF files: meshes, packages, xacro, options and joints."""

import sys

import mujoco
import numpy as np
import pytest
import trimesh
from support.errors import raises
from support.urdf import BALL, SOUND, TWO_LINKS, load

from tactile_sim import SceneError, scenes
from tactile_sim.config import configured_scene, from_mapping, scene
from tactile_sim.scenes.urdf import UrdfOptions, read_robot


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    from tactile_sim.scenes import meshes

    meshes.cache_folder.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield tmp_path / "cache" / "tactile_sim" / "meshes"
    meshes.cache_folder.cache_clear()


def collision(mesh):
    return f'<collision><geometry><mesh filename="{mesh}"/></geometry></collision>'


def extents(model, geom=0):
    return 2 * model.geom_aabb[geom, 3:]


@pytest.mark.parametrize("kind", ["dae", "glb", "gltf", "ply", "stl_ascii"])
def test_meshes_that_mujoco_does_not_read_are_converted_once(tmp_path, own_cache, kind):
    box = trimesh.creation.box((0.1, 0.2, 0.3))
    name = f"box.{'stl' if kind == 'stl_ascii' else kind}"
    if kind == "gltf":
        for part, content in box.export(file_type="gltf").items():
            (tmp_path / part).write_bytes(content)
        (tmp_path / "model.gltf").rename(tmp_path / name)
    else:
        content = box.export(file_type=kind)
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    sizes = [extents(load(tmp_path, base=SOUND + collision(name))) for _ in range(2)]
    # MuJoCo aligns a mesh with its principal axes.
    assert sorted(sizes[0]) == pytest.approx([0.1, 0.2, 0.3]) and (sizes[0] == sizes[1]).all()
    assert len(list(own_cache.iterdir())) == 1


def test_unit_of_a_collada_file_is_applied(tmp_path):
    text = trimesh.creation.box((100, 200, 300)).export(file_type="dae").decode()
    text = text.replace("<asset>", '<asset><unit name="millimeter" meter="0.001"/>')
    (tmp_path / "box.dae").write_text(text)
    assert sorted(extents(load(tmp_path, base=SOUND + collision("box.dae")))) == pytest.approx(
        [0.1, 0.2, 0.3]
    )


def test_a_mesh_without_volume_gets_the_inertia_of_a_shell(tmp_path):
    box = trimesh.creation.box((0.1, 0.1, 0.1))
    both = trimesh.Trimesh(box.vertices, [*box.faces, *box.faces[:, ::-1]], process=False)
    (tmp_path / "both.obj").write_text(both.export(file_type="obj"))
    assert load(tmp_path, base=SOUND + collision("both.obj")).ngeom == 2


@pytest.mark.parametrize("content", [b"no mesh", b""])
def test_a_broken_mesh_is_refused_with_its_name(tmp_path, content):
    (tmp_path / "bad.dae").write_bytes(content)
    with raises(SceneError, "bad.dae"):
        load(tmp_path, base=SOUND + collision("bad.dae"))


def test_a_free_base_falls_and_a_fixed_one_stays(tmp_path):
    for floating in (False, True):
        model = load(tmp_path, floating_base=floating)
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 100)
        fallen = -0.5 * 9.81 * 0.2**2 if floating else 0.0
        assert data.xpos[1, 2] == pytest.approx(fallen, rel=0.02)


def test_a_root_that_a_joint_holds_cannot_be_freed(tmp_path):
    text = TWO_LINKS.format(base="", tip=SOUND + BALL, kind="continuous", offset=0, more="")
    text = text.replace('"base"', '"world"')
    with raises(SceneError, "r.urdf", "floating_base", "'tip'"):
        read_robot(tmp_path / "r.urdf", text, UrdfOptions(floating_base=True))
    text = '\n <?xml version="1.0"?>' + text  # space before the declaration is accepted
    assert read_robot(tmp_path / "r.urdf", text, UrdfOptions()).modes == {"j": "position"}


@pytest.mark.parametrize(("mode", "apart", "overlap"), [("all", 1, 1), ("apart", 1, 0), ("off", 0, 0)])
def test_self_collision_by_option(tmp_path, mode, apart, overlap):
    third = f'<link name="third">{SOUND}{BALL}</link><joint name="k" type="prismatic"><parent link="tip"/>'
    third += '<child link="third"/><origin xyz="{}"/><limit lower="-5" upper="5"/></joint>'
    for start, expected in (("-0.85 0 0", overlap), ("1 0 0", apart)):  # the base is at x = -1 m
        model = load(tmp_path, more=third.format(start), self_collision=mode)
        data = mujoco.MjData(model)
        data.qpos[model.joint("k").qposadr] += -0.85 - float(start.split()[0])
        mujoco.mj_forward(model, data)
        assert data.ncon == expected


def test_links_that_overlap_at_the_end_of_a_range_are_apart(tmp_path):
    more = f'<link name="third">{SOUND}{BALL}</link><joint name="k" type="prismatic"><parent link="tip"/>'
    more += '<child link="third"/><origin xyz="-2 0 0"/><limit lower="0.9" upper="5"/></joint>'
    model = load(tmp_path, more=more)  # the third link is 1 m before the base, and 0.1 m at the lower end
    data = mujoco.MjData(model)
    data.qpos[model.joint("k").qposadr] = 0.9
    mujoco.mj_forward(model, data)
    assert data.ncon == 0


def test_packages_are_found_in_paths_of_the_configuration(tmp_path):
    package = tmp_path / "src" / "group" / "arm_description"
    package.mkdir(parents=True)
    (package / "package.xml").touch()
    (package / "box.stl").write_bytes(trimesh.creation.box((0.1, 0.2, 0.3)).export(file_type="stl"))
    mesh = SOUND + collision("package://arm_description/box.stl")
    (tmp_path / "elsewhere").mkdir()
    with raises(SceneError, "arm_description", "package_paths"):
        load(tmp_path / "elsewhere", base=mesh)
    for path in (package, package.parent, tmp_path / "src"):
        assert load(tmp_path / "elsewhere", base=mesh, package_paths=(str(path),)).nmesh == 1
    assert load(package, base=mesh).nmesh == 1  # a checkout is found by its own files


def test_xacro_files_are_expanded_with_arguments(tmp_path, monkeypatch):
    pytest.importorskip("xacro")
    (tmp_path / "parts").mkdir()
    part = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="extra">{}</link></robot>'
    (tmp_path / "parts" / "part.xacro").write_text(part.format(SOUND))
    more = (
        '<xacro:arg name="size" default="0.1"/><xacro:include filename="$(find parts)/part.xacro"/>'
        '<joint name="k" type="fixed"><parent link="tip"/><child link="extra"/></joint>'
    )
    tip = SOUND + '<collision><geometry><sphere radius="$(arg size)"/></geometry></collision>'
    options = {"package_paths": (str(tmp_path),), "xacro_arguments": {"size": "0.3"}}
    model = load(tmp_path, tip=tip, more=more, **options)
    assert model.body("extra").id and model.geom_size[1, 0] == pytest.approx(0.3)
    with raises(SceneError, "r.urdf", "'parts'"):
        load(tmp_path, tip=tip, more=more, xacro_arguments={"size": "0.3"})
    monkeypatch.setitem(sys.modules, "xacro", None)
    with raises(SceneError, "r.urdf", "pip install xacro"):
        load(tmp_path, tip=tip, more=more, **options)


def test_limits_damping_friction_and_mimic_of_joints_are_read(tmp_path):
    more = (
        f'<link name="third">{SOUND}</link>'
        '<joint name="k" type="revolute"><parent link="tip"/><child link="third"/>'
        '<limit lower="-1" upper="2" effort="7" velocity="3"/><dynamics damping="0.3" friction="0.2"/>'
        '<mimic joint="j" multiplier="-2" offset="0.1"/></joint>'
    )
    model = load(tmp_path, more=more)
    joint, dof = model.joint("k").id, model.joint("k").dofadr[0]
    assert model.jnt_range[joint] == pytest.approx([-1, 2])
    assert model.jnt_actfrcrange[joint] == pytest.approx([-7, 7])
    assert (model.dof_damping[dof], model.dof_frictionloss[dof]) == pytest.approx((0.3, 0.2))
    assert model.eq_data[0, :2] == pytest.approx([0.1, -2])


def test_attached_urdf_is_repaired_too(tmp_path, caplog):
    load(tmp_path)
    (tmp_path / "r.urdf").write_text((tmp_path / "r.urdf").read_text().replace('izz="0.01"', 'izz="0.05"'))
    scene = '<mujoco><asset><model name="r" file="r.urdf"/></asset><worldbody>'
    scene += '<attach model="r" body="base" prefix="a_"/></worldbody></mujoco>'
    (tmp_path / "scene.xml").write_text(scene)
    model = scenes.load_model(tmp_path / "scene.xml")
    moments = np.sort(model.body_inertia[1:], axis=1)
    assert (moments[:, 0] + moments[:, 1] >= moments[:, 2]).all() and len(caplog.records) == 2


def test_joints_that_follow_one_another_follow_the_first(tmp_path):
    joint = (
        '<link name="{0}l">' + SOUND + '</link><joint name="{0}" type="revolute"><parent link="{1}"/>'
        '<child link="{0}l"/><limit effort="9"/><mimic joint="{2}" multiplier="{3}" offset="{4}"/></joint>'
    )
    more = joint.format("k", "tip", "l", -3, 0.2) + joint.format("l", "kl", "j", 2, 0.1)
    model = load(tmp_path, more=more, strict=True)
    couplings = {
        model.joint(int(model.eq_obj1id[e])).name: (model.eq_obj2id[e], *model.eq_data[e, :2]) for e in (0, 1)
    }
    leader = model.joint("j").id
    # k = -3 l + 0.2 = -3 (2 j + 0.1) + 0.2
    assert couplings["k"] == pytest.approx((leader, -0.1, -6)) and couplings["l"] == pytest.approx(
        (leader, 0.1, 2)
    )


def test_a_urdf_has_the_physics_options_of_a_composed_scene_unless_it_sets_them(tmp_path):
    def options(**parts):
        load(tmp_path, **parts)  # this writes r.urdf
        model = scenes.load_model(tmp_path / "r.urdf")
        return model.opt.integrator, model.opt.cone, model.opt.impratio

    composed = scene.empty_scene().compile().opt
    assert options() == (composed.integrator, composed.cone, composed.impratio)
    assert composed.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    own = '<mujoco><option cone="pyramidal" impratio="2"/></mujoco>'
    assert options(more=own) == (composed.integrator, mujoco.mjtCone.mjCONE_PYRAMIDAL, 2.0)


def test_an_mjcf_keeps_its_physics_options_with_a_urdf_in_it(tmp_path, recwarn, caplog):
    load(tmp_path)
    scene = '<mujoco><asset><model name="r" file="r.urdf"/></asset><worldbody>'
    (tmp_path / "scene.xml").write_text(
        f'{scene}<attach model="r" body="base" prefix="a_"/></worldbody></mujoco>'
    )
    attached = scenes.load_model(tmp_path / "scene.xml").opt
    keys = {"scene": "empty.xml", "robots": {"r": {"file": "r.urdf"}}, "contacts": "all"}
    (tmp_path / "empty.xml").write_text("<mujoco/>")
    added = configured_scene(from_mapping(keys, tmp_path, "test"))[1].opt
    plain = mujoco.MjModel.from_xml_string("<mujoco/>").opt
    for option in (attached, added):
        assert (option.cone, option.impratio) == (plain.cone, plain.impratio)
    assert attached.integrator == plain.integrator  # an added servo needs a different one
    assert not recwarn.list and not caplog.records


def test_spherical_joint_has_no_limits_and_no_servo(tmp_path):
    more = f'<link name="arm">{SOUND}</link><joint name="k" type="spherical"><parent link="tip"/>'
    more += '<child link="arm"/><limit lower="0.2" upper="0.8" effort="1"/></joint>'
    model = load(tmp_path, more=more)
    assert model.joint("k").type == mujoco.mjtJoint.mjJNT_BALL and not model.jnt_limited[model.joint("k").id]
    file = tmp_path / "r.urdf"
    assert read_robot(file, file.read_text(), UrdfOptions()).modes == {"j": "position"}


def test_a_zero_at_the_end_of_the_file_is_ignored(tmp_path):
    text = TWO_LINKS.format(base=SOUND, tip=SOUND, kind="fixed", offset=1, more="") + "\n\0"
    assert read_robot(tmp_path / "r.urdf", text, UrdfOptions()).modes == {}


@pytest.mark.parametrize(("normal", "up"), [("0 0 1", "y"), ("0 0 -1", "-y"), ("0 3 4", "z")])
def test_a_plane_is_infinite_and_has_its_normal(tmp_path, normal, up):
    origin = '<origin xyz="0 0 0.5" rpy="-1.5707963267948966 0 0"/>'  # turns z to y
    plane = f'<collision>{origin}<geometry><plane normal="{normal}"/></geometry></collision>'
    model = load(tmp_path, base=SOUND + plane, kind="fixed")
    assert model.geom_type[0] == mujoco.mjtGeom.mjGEOM_PLANE and not model.geom_size[0, :2].any()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    expected = {"y": [0, 1, 0], "-y": [0, -1, 0], "z": [0, 0.8, -0.6]}[up]
    assert data.geom_xmat[0].reshape(3, 3)[:, 2] == pytest.approx(expected, abs=1e-9)
    assert data.geom_xpos[0] == pytest.approx([0, 0, 0.5])


@pytest.mark.parametrize(
    ("normal", "part", "facts"),
    [("0 0 0", "base", ["'base'", "normal", "'0 0 0'"]), ("0 0 1", "tip", ["'tip'", "plane"])],
)
def test_a_plane_must_have_a_normal_and_be_fixed(tmp_path, normal, part, facts):
    plane = f'{SOUND}<collision><geometry><plane normal="{normal}"/></geometry></collision>'
    (tmp_path / "r.urdf").write_text(
        TWO_LINKS.format(kind="continuous", offset=1, more="", **{"base": SOUND, "tip": SOUND, part: plane})
    )
    with raises(SceneError, "r.urdf", *facts):
        scenes.load_model(tmp_path / "r.urdf")


@pytest.mark.parametrize(
    ("element", "weight"),
    [
        ("<turnGravityOff>true</turnGravityOff>", 0.0),
        ('<turnGravityOff value="true"/>', 0.0),
        ("<gravity>0</gravity>", 0.0),
        ("<turnGravityOff>false</turnGravityOff>", 1.0),
        ("<gravity>1</gravity>", 1.0),
        ("<material>Gazebo/Blue</material>", 1.0),
    ],
)
def test_links_without_gravity_in_gazebo_have_no_weight(tmp_path, element, weight):
    more = f'<gazebo reference="tip">{element}</gazebo>'
    model = load(tmp_path, kind="fixed", more=more, floating_base=True)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.qfrc_bias[2] - data.qfrc_passive[2] == pytest.approx((1.0 + weight) * 9.81)  # 1 kg each


@pytest.mark.parametrize(
    ("link", "element", "fact"),
    [
        ("tip", "<gravity>maybe</gravity>", "'maybe'"),
        ("tipp", "<turnGravityOff>true</turnGravityOff>", "'tipp'"),
        ("tipp", "<gravity>true</gravity>", None),
    ],
)
def test_gravity_switches_without_effect_are_logged(tmp_path, caplog, link, element, fact):
    load(tmp_path, kind="fixed", more=f'<gazebo reference="{link}">{element}</gazebo>')
    assert [fact in record.getMessage() for record in caplog.records] == [True] * (fact is not None)
