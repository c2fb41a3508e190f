"""URDF files as they are found: each has one of the faults of real ones."""

import logging
import sys

import mujoco
import numpy as np
import pytest
import trimesh
from support.errors import raises

from tactile_sim import SceneError, scenes
from tactile_sim.config import composition, configured_scene, from_mapping
from tactile_sim.scenes.robots import read_robot
from tactile_sim.scenes.urdf import MOST_REPAIRS, UrdfOptions

INERTIA = '<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/>'
INERTIAL = f'<inertial><mass value="{{mass}}"/>{INERTIA}</inertial>'
SOUND = INERTIAL.format(mass=1, xx=0.01, yy=0.01, zz=0.01)
BALL = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
TWO_LINKS = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<link name="base">{base}</link><link name="tip">{tip}</link>
<joint name="j" type="{kind}"><parent link="base"/><child link="tip"/><origin xyz="{offset} 0 0"/></joint>
{more}</robot>"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    from tactile_sim.scenes import meshes

    meshes.cache_folder.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield tmp_path / "cache" / "tactile_sim" / "meshes"
    meshes.cache_folder.cache_clear()


def load(folder, *, base=SOUND + BALL, tip=SOUND + BALL, kind="continuous", offset=1, more="", **options):
    text = TWO_LINKS.format(base=base, tip=tip, kind=kind, offset=offset, more=more)
    file = folder / "r.urdf"
    file.write_text(text)
    return read_robot(file, text, UrdfOptions(**options)).spec.compile()


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


@pytest.mark.parametrize(
    ("tip", "mass", "moments"),
    [
        # A + B >= C: the smaller ones grow by half of what is missing.
        (INERTIAL.format(mass=1, xx=0.01, yy=0.02, zz=0.05), 1, (0.02, 0.03, 0.05)),
        (INERTIAL.format(mass=1, xx=0, yy=0.01, zz=0.01), 1, (1e-6, 0.01, 0.01)),
        (INERTIAL.format(mass=2, xx=0, yy=0, zz=0), 2, (2e-4, 2e-4, 2e-4)),
        (INERTIAL.format(mass=-1, xx=0.01, yy=0.01, zz=0.01), 1e-3, (0.01, 0.01, 0.01)),
        ("", 1e-3, (1e-7, 1e-7, 1e-7)),
        (INERTIAL.format(mass=1e-9, xx=1e-12, yy=1e-12, zz=1e-12), 1e-3, (1e-7, 1e-7, 1e-7)),
    ],
)
def test_impossible_inertias_are_repaired_with_a_line_or_refused(tmp_path, caplog, tip, mass, moments):
    model = load(tmp_path, tip=tip)
    tip_id = model.body("tip").id
    assert model.body_mass[tip_id] == pytest.approx(mass)
    assert sorted(model.body_inertia[tip_id]) == pytest.approx(moments, rel=1e-3)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING and "'tip'" in record.getMessage()
    given = ["got 1e-09"] if "1e-09" in tip else []
    with raises(SceneError, "r.urdf", "'tip'", "strict_urdf", *given):
        load(tmp_path, tip=tip, strict=True)


def test_sound_inertias_stay_as_they_are(tmp_path, caplog):
    flat = INERTIAL.format(mass=1, xx=0.01, yy=0.02, zz=0.03)  # a plate: A + B = C
    model = load(tmp_path, tip=flat, strict=True)
    assert sorted(model.body_inertia[2]) == pytest.approx([0.01, 0.02, 0.03], rel=1e-5)
    massless = INERTIAL.format(mass=0, xx=0, yy=0, zz=0)
    model = load(tmp_path, tip=massless + BALL, kind="fixed", strict=True)
    assert model.body_mass[2] == pytest.approx(0.0, abs=1e-8)
    assert not caplog.records


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
    for start, expected in (("-0.85 0 0", overlap), ("1 0 0", apart)):  # the base is at -1 from the tip
        model = load(tmp_path, more=third.format(start), self_collision=mode)
        data = mujoco.MjData(model)
        data.qpos[model.joint("k").qposadr] += -0.85 - float(start.split()[0])
        mujoco.mj_forward(model, data)
        assert data.ncon == expected


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
    assert load(package, base=mesh).nmesh == 1  # a checkout finds itself


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


def test_the_number_of_warnings_about_repairs_is_limited(tmp_path, caplog):
    part = f'<link name="l{{0}}">{SOUND}</link><joint name="k{{0}}" type="fixed"><parent link="tip"/>'
    part += '<child link="l{0}"/><origin xyz="1, 2, 3"/></joint>'
    load(tmp_path, more="".join(map(part.format, range(MOST_REPAIRS + 5))))
    assert len(caplog.records) == MOST_REPAIRS + 1 and " 5 " in caplog.messages[-1]


@pytest.mark.parametrize(
    ("joint", "position", "lowest"),
    [
        ('<origin xyz="1, 2, 3"/>', (1, 2, 3), 0),
        ('<origin xyz="1 2 3" rpy="0 0 0 0"/>', (1, 2, 3), 0),
        ('<origin xyz="$(optenv UNSET_VARIABLE 1 2 3)"/>', (1, 2, 3), 0),
        ('<origin xyz="1 2 3"/>' + 50 * '<origin xyz="0 0 0"/>', (1, 2, 3), 0),
        ('<origin xyz="1 2 3"/><limit lower="-1.5." upper="2" effort="1"/>', (1, 2, 3), -1.5),
    ],
)
def test_malformed_numbers_are_repaired_with_a_line_or_refused(tmp_path, caplog, joint, position, lowest):
    more = f'<link name="arm">{SOUND}</link><joint name="k" type="revolute"><parent link="tip"/>'
    more += f'<child link="arm"/>{joint}</joint>'
    model = load(tmp_path, more=more)
    assert model.body("arm").pos == pytest.approx(position)
    assert model.joint("k").range[0] == pytest.approx(lowest)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING and "'k'" in record.getMessage()
    with raises(SceneError, "r.urdf", "'k'", "strict_urdf"):
        load(tmp_path, more=more, strict=True)
    sound = load(tmp_path, more=more.replace(joint, '<origin xyz="1 2 3"/>'), strict=True)
    assert sound.body("arm").pos == pytest.approx(position)


@pytest.mark.parametrize(
    ("element", "key", "value"),
    [
        ('<limit lower="{}" upper="2" effort="1"/>', "lower", "-1,5"),
        ('<limit lower="-1" upper="2" effort="{}"/>', "effort", "nan"),
        ('<origin xyz="{}"/>', "xyz", "0,1 0,2 0,3"),
        ('<origin xyz="0 0 0" rpy="{}"/>', "rpy", "0 1"),
        ('<mimic joint="j" offset="{}"/>', "offset", "big"),
        ('<mimic joint="j" multiplier="{}"/>', "multiplier", "1e+300"),
    ],
)
def test_what_is_no_number_is_refused_with_joint_and_attribute(tmp_path, element, key, value):
    more = f'<link name="arm">{SOUND}</link><joint name="k" type="revolute"><parent link="tip"/>'
    with raises(SceneError, "r.urdf", "'k'", key, value):
        load(tmp_path, more=f'{more}<child link="arm"/>{element.format(value)}</joint>')


@pytest.mark.parametrize(
    ("right", "wrong", "facts"),
    [
        ('<child link="tip"/>', '<child link="tp"/>', ["'j'", "child", "'tp'", "'tip'"]),
        ('<child link="tip"/>', '<child link="base"/>', ["'j'", "'base'"]),
        ("</robot>", '<joint name="k"><parent link="tip"/><child link="base"/></joint></robot>', ["root"]),
        ('radius="0.1"', 'radius="0"', ["'base'", "sphere radius", "'0'"]),
    ],
)
def test_faults_in_the_tree_or_a_shape_name_joint_or_link(tmp_path, right, wrong, facts):
    text = TWO_LINKS.format(base=SOUND + BALL, tip="", kind="fixed", offset=1, more="").replace(right, wrong)
    with raises(SceneError, "r.urdf", *facts):
        read_robot(tmp_path / "r.urdf", text, UrdfOptions())


@pytest.mark.parametrize(
    ("element", "facts"),
    [
        ('<limit lower="1" upper="-2" effort="3"/>', ("1", "-2")),
        ('<limit lower="0.5" upper="0.5" effort="3"/>', ("0.5",)),
        ('<limit effort="-3"/>', ("-3",)),
        ('<limit effort="3"/><mimic joint="jj"/>', ("'jj'", "'j'")),
        ('<limit effort="3"/><mimic joint="welded"/>', ("'welded'",)),
        ('<limit effort="3"/><mimic joint="k"/>', ("'k'",)),
    ],
)
def test_limits_and_couplings_that_cannot_be_are_ignored_with_a_line_or_refused(
    tmp_path, caplog, element, facts
):
    more = f'<link name="arm">{SOUND}</link><joint name="k" type="revolute"><parent link="tip"/>'
    more += f'<child link="arm"/>{element}</joint><link name="end"/>'
    more += '<joint name="welded" type="fixed"><parent link="arm"/><child link="end"/></joint>'
    model = load(tmp_path, more=more)
    joint = model.joint("k").id
    assert not model.jnt_limited[joint] and not model.neq
    assert model.jnt_actfrcrange[joint] == pytest.approx([-3, 3])
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    with raises(SceneError, "r.urdf", "'k'", "strict_urdf", *facts):
        load(tmp_path, more=more, strict=True)


@pytest.mark.parametrize(
    ("limit", "limited", "ends"),
    [
        ('upper="2"', True, [0, 2]),  # the other one is 0 by the specification
        ('lower="-1"', True, [-1, 0]),
        ('lower="-inf" upper="inf" effort="inf"', False, [0, 0]),
        ('effort="0"', False, [0, 0]),
    ],
)
def test_limits_that_are_left_out_or_infinite_are_sound(tmp_path, caplog, limit, limited, ends):
    more = f'<link name="arm">{SOUND}</link><joint name="k" type="revolute"><parent link="tip"/>'
    model = load(tmp_path, more=f'{more}<child link="arm"/><limit {limit}/></joint>', strict=True)
    joint = model.joint("k").id
    assert model.jnt_limited[joint] == limited and model.jnt_range[joint] == pytest.approx(ends)
    assert not model.jnt_actfrclimited[joint] and not caplog.records


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


def test_other_errors_of_mujoco_name_the_joint_instead_of_a_line_of_the_rewritten_file(tmp_path):
    more = f'<link name="arm">{SOUND}</link>\n<joint name="k" type="ball"><parent link="tip"/>'
    more += '<child link="arm"/></joint>'
    (tmp_path / "r.urdf").write_text(
        TWO_LINKS.format(base=SOUND, tip=SOUND, kind="fixed", offset=1, more=more)
    )
    with raises(SceneError, "r.urdf", "joint 'k'"):
        scenes.load_model(tmp_path / "r.urdf")


def test_a_urdf_has_the_physics_options_of_a_composed_scene_unless_it_sets_them(tmp_path):
    def options(**parts):
        load(tmp_path, **parts)  # writes r.urdf
        model = scenes.load_model(tmp_path / "r.urdf")
        return model.opt.integrator, model.opt.cone, model.opt.impratio

    composed = composition.empty_scene().compile().opt
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
    assert attached.integrator == plain.integrator  # a servo that is added needs another one
    assert not recwarn.list and not caplog.records


def test_limits_of_a_spherical_joint_are_ignored(tmp_path):
    more = f'<link name="arm">{SOUND}</link><joint name="k" type="spherical"><parent link="tip"/>'
    more += '<child link="arm"/><limit lower="0.2" upper="0.8" effort="1"/></joint>'
    model = load(tmp_path, more=more)
    assert model.joint("k").type == mujoco.mjtJoint.mjJNT_BALL and not model.jnt_limited[model.joint("k").id]


def test_a_zero_at_the_end_of_the_file_is_ignored(tmp_path):
    text = TWO_LINKS.format(base=SOUND, tip=SOUND, kind="fixed", offset=1, more="") + "\n\0"
    assert read_robot(tmp_path / "r.urdf", text, UrdfOptions()).modes == {}
