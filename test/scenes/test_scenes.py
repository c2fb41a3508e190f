from pathlib import Path

import mujoco
import pytest
from support.errors import raises

from tactile_sim import SceneError, scenes
from tactile_sim.common.names import Names

MJCF = '<mujoco><worldbody><body name="cube"><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>'
MESH = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nv 0 0 {0}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
MESHED = """<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody><body name="b">
<geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
URDF = """<?xml version="1.0"?>
<!-- not <mujoco> -->
<robot name="arm">
  {extension}
  <link name="base">
    <visual><geometry><mesh filename="package://nowhere/looks.dae"/></geometry></visual>
    <collision><geometry><mesh filename="{mesh}"/></geometry></collision>
  </link>
  <joint name="weld" type="fixed"><parent link="base"/><child link="plate"/></joint>
  <link name="plate"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
  <joint name="elbow" type="continuous"><parent link="plate"/><child link="tip"/></joint>
  <link name="tip"><collision><geometry><mesh filename="{mesh}" scale="2 2 2"/></geometry></collision></link>
</robot>"""


def bodies(scene, base=None):
    return Names(scenes.load_model(scene, base)).bodies


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cube.xml").write_text(MJCF)
    return tmp_path


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Create a ROS package ``arm`` with a mesh that is 1 m long; return its share folder."""
    share = tmp_path / "prefix" / "share" / "arm"
    (share / "meshes").mkdir(parents=True)
    (share / "meshes" / "part.obj").write_text(MESH.format(1))
    (share / "package.xml").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    return share


def urdf(package, mesh, extension=""):
    (package / "urdf").mkdir(exist_ok=True)
    file = package / "urdf" / "arm.urdf"
    file.write_text(URDF.format(mesh=mesh, extension=extension))
    return file


def test_a_relative_path_starts_at_the_base(folder):
    assert bodies("cube.xml", folder) == ["world", "cube"]


def test_absolute_paths_and_file_addresses_need_no_base(folder):
    assert bodies(str(folder / "cube.xml")) == ["world", "cube"]
    (folder / "my scene.xml").write_text(MJCF)
    assert bodies(f"file://{folder}/my%20scene.xml") == ["world", "cube"]


@pytest.mark.parametrize("base", [None, Path("/")])
def test_a_shipped_scene_goes_by_its_name(base):
    assert "cube" in bodies("touch_cube.xml", base)
    assert "cube" in bodies("touch_cube", base)
    assert "cube" in bodies("package://tactile_sim/scenes/touch_cube.xml", base)


def test_a_file_beside_the_config_wins_over_a_shipped_one(folder):
    (folder / "infant.xml").write_text(MJCF)
    assert bodies("infant.xml", folder) == ["world", "cube"]


def test_scene_format_is_detected_from_content(folder, package):
    (folder / "cube.mjcf").write_text(MJCF)
    assert bodies("cube.mjcf", folder) == ["world", "cube"]
    urdf(package, "../meshes/part.obj").rename(package / "urdf" / "arm.xml")
    assert bodies("package://arm/urdf/arm.xml") == ["world", "base", "plate", "tip"]


def test_an_mjcf_of_another_extension_finds_its_meshes(folder):
    (folder / "part.obj").write_text(MESH.format(1))
    (folder / "scene.mjcf").write_text(MESHED.format("part.obj"))
    assert scenes.load_model(folder / "scene.mjcf").nmesh == 1


@pytest.mark.parametrize(
    "mesh", ["package://arm/meshes/part.obj", "../meshes/part.obj", "file://{}/meshes/part.obj"]
)
def test_a_urdf_finds_its_meshes_by_any_kind_of_path(package, mesh):
    model = scenes.load_model(urdf(package, mesh.format(package)))
    assert model.nmesh == 2
    # The tip has the same mesh as the base, at twice the size.
    assert model.geom_aabb[2, 3:] == pytest.approx(2 * model.geom_aabb[0, 3:])


def test_a_checkout_that_was_never_installed_finds_its_own_meshes(package, monkeypatch):
    monkeypatch.delenv("AMENT_PREFIX_PATH")
    assert scenes.load_model(urdf(package, "package://arm/meshes/part.obj")).nmesh == 2


def test_links_of_a_urdf_stay_bodies_also_where_they_are_welded(package):
    model = scenes.load_model(urdf(package, "package://arm/meshes/part.obj"))
    assert Names(model).bodies == ["world", "base", "plate", "tip"]
    assert Names(model).joints == ["elbow"]


def test_a_urdf_that_asks_mujoco_to_weld_links_is_obeyed(package):
    extension = '<mujoco><compiler fusestatic="true"/></mujoco>'
    assert "plate" not in bodies(urdf(package, "package://arm/meshes/part.obj", extension))


def test_a_urdf_written_for_mujocos_meshdir_is_read(package):
    extension = '<mujoco><compiler meshdir="../meshes"/></mujoco>'
    assert scenes.load_model(urdf(package, "package://elsewhere/part.obj", extension)).nmesh == 2


def attaching(**files):
    """Return a scene that attaches the link ``base`` of each file and prefixes names with the file's key."""
    models = "".join(f'<model name="{key}" file="{file}"/>' for key, file in files.items())
    attached = "".join(f'<attach model="{key}" body="base" prefix="{key}_"/>' for key in files)
    return f"<mujoco><asset>{models}</asset><worldbody>{attached}</worldbody></mujoco>"


def test_attached_urdf_is_read_as_a_urdf_alone(folder, package):
    file = urdf(package, "package://arm/meshes/part.obj")
    alone = scenes.load_model(file)
    (folder / "deep").mkdir()
    for other in (folder / "arm.urdf", folder / "deep" / "arm.urdf"):  # different files with the same name
        other.write_text(file.read_text().replace("plate", f"plate_of_{other.parent.name}"))
    (folder / "scene.xml").write_text(attaching(a=file, b="arm.urdf", c="deep/arm.urdf"))
    (folder / "scene.mjcf").write_text(attaching(a="scene.xml").replace('"base"', '"c_base"'))
    model = scenes.load_model(folder / "scene.xml")
    assert Names(model).bodies[1:] == [
        f"{key}_{name}"
        for key, plate in (("a", "plate"), ("b", f"plate_of_{folder.name}"), ("c", "plate_of_deep"))
        for name in ("base", plate, "tip")
    ]
    assert model.ngeom == 3 * alone.ngeom
    for field in ("geom_size", "geom_pos"):
        assert getattr(model, field)[: alone.ngeom] == pytest.approx(getattr(alone, field))
    nested = scenes.load_model(folder / "scene.mjcf")
    assert Names(nested).bodies[1:] == ["a_c_base", "a_c_plate_of_deep", "a_c_tip"]


def test_wrong_mesh_of_an_attached_urdf_is_refused_with_its_file(folder, package):
    file = urdf(package, "package://arm/meshes/prat.obj")
    (folder / "scene.xml").write_text(attaching(a=file))
    with pytest.raises(SceneError) as error:
        scenes.load_model(folder / "scene.xml")
    assert str(error.value).startswith(f"{file}: mesh package://arm/meshes/prat.obj: ")


def test_what_a_configuration_adds_is_in_the_model(folder):
    spec = scenes.load_spec(folder / "cube.xml")
    spec.worldbody.add_geom(name="wall", type=mujoco.mjtGeom.mjGEOM_BOX, size=[1, 1, 1])
    assert Names(spec.compile()).geoms == ["wall", "cube/geom0"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujoco>\n<worldbody>\n<geom type='bx'/>\n", "{}: line 2: "),
        ("<mujoco>\n<worldbody>\n<geom type='bx'/></worldbody></mujoco>", "{}: line 3: 'geom': invalid"),
        ("<mujoco><worldbody><gem/></worldbody></mujoco>", "{}: line 1: 'gem': "),
        ("<html/>", "{}: not a scene: its root is <html>, not <mujoco> (MJCF) or <robot> (URDF)"),
        ("scene: x", "{}: not a scene: "),
        ("", "{}: not a scene: "),
        (b"<mujoco>\n<!-- \xe9 --></mujoco>", "{}: line 2 is not UTF-8"),
        ("<mujoco><include file='more.xml'/></mujoco>", "'include': Error opening file 'more.xml', in <"),
        (MESHED.format("no.obj"), "; files are relative to the scene's folder"),
        (MESHED.format("bad.stl"), "{}: line 1: 'm': stl_decoder: invalid header in STL file"),
        (MESHED.format("a.dae"), "; convert the mesh to STL or OBJ"),
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "the body a geom with enough mass"),
        (MJCF.replace("<body", "<body pos='0 nan 0'"), "{}: pos of body 'cube' is NaN"),
        (MJCF.replace("<geom", "<joint name='j' range='nan 1'/><geom"), "{}: range of joint 'j' is NaN"),
        ("<robot name='r'><link name='a'/><link name='a'/></robot>", "{}: link 'a' is defined twice"),
        ("<robot name='r'>\n<link name='a'>", "{}: broken XML: no element found: line 2"),
        ("<robot xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:include/></robot>", "{}: "),
        (URDF.format(mesh="package://nowhere/a.stl", extension=""), "/a.stl: no package 'nowhere' in "),
        (URDF.format(mesh="no.stl", extension=""), "{}: mesh no.stl: no such file: "),
    ],
)  # fmt: skip
def test_a_broken_scene_is_refused_in_one_line(tmp_path, text, message):
    file = tmp_path / "scene.xml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    for mesh in ("bad.stl", "a.dae"):
        (tmp_path / mesh).write_text("no mesh")
    with pytest.raises(SceneError) as error:
        scenes.load_model(file)
    assert message.format(file) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("scene", "message"),
    [
        ("cub.xml", "my.yaml: scene: no scene 'cub.xml' in {0}, and none is shipped under that name; did"),
        ("deep/cube.xml", "my.yaml: scene: no such file: {0}/deep/cube.xml: there is no folder {0}/deep"),
        ("{0}/cub.xml", "my.yaml: scene: no such file: {0}/cub.xml; did you mean 'cube.xml'?"),
        ("{0}", "my.yaml: scene: {0} is a folder; name the MJCF or URDF file in it"),
        ("package://nowhere/a.xml", "no package 'nowhere' in package_paths, AMENT_PREFIX_PATH"),
        ("http://example.org/a.xml", "cannot be fetched; give a path, a package:// or a file:// address"),
        ("file://scenes/a.xml", "my.yaml: scene: file://scenes/a.xml: names another machine"),
        ("~nobody/a.xml", "my.yaml: scene: no such file"),
        ("a" * 5000, "no scene 'aaa"),
        ("a\0b", "no scene 'a"),
    ],
)  # fmt: skip
def test_a_scene_that_is_not_there_is_refused_with_what_is(folder, scene, message):
    with pytest.raises(SceneError) as error:
        scenes.load_model(scene.format(folder), folder, "my.yaml")
    assert message.format(folder) in str(error.value)


def test_a_relative_path_without_a_base_is_refused_with_the_remedy():
    with raises(SceneError, "parameters: scene", "robot/hand.xml", "package://PACKAGE/FILE"):
        scenes.load_model("robot/hand.xml", None, "parameters")
