"""Test the URDF that is generated from a scene: its links move like the bodies of the scene."""

import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
import pytest

from tactile_sim import Simulation
from tactile_sim.config import robot_description
from tactile_sim.scenes.generated_urdf import generated_urdf
from tactile_sim.scenes.urdf import UrdfOptions, read_robot

SCENE = """<mujoco><asset><mesh name="tetra" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset><worldbody>
  <geom name="floor" type="plane" size="0 0 .1"/>
  <body name="base" pos="1 2 3" euler="10 20 30"><geom type="box" size=".1 .2 .3"/>
    <body name="arm" pos=".3 0 0" euler="0 50 0">
      <joint name="shoulder" axis="0 1 0" pos="0 .1 .2" range="-1 2"/>
      <geom type="capsule" size=".02 .1"/>
      <body name="hand" pos="0 0 .4"><joint name="turn" axis="0 0 1"/><joint name="bend" axis="1 0 0"/>
        <geom type="mesh" mesh="tetra"/><geom type="ellipsoid" size=".1 .05 .02"/>
        <body name="finger" euler="90 0 0"><joint name="push" type="slide" axis="1 1 0" range="0 .1"/>
          <geom size=".03"/></body></body></body></body>
  <body name="ball" pos="0 0 1"><freejoint/><geom size=".1"/></body></worldbody>
  <equality><joint joint1="bend" joint2="turn" polycoef=".1 2 0 0 0"/></equality></mujoco>"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    from tactile_sim.scenes import meshes

    meshes.cache_folder.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield
    meshes.cache_folder.cache_clear()


def test_links_of_a_generated_urdf_move_as_the_bodies_do(tmp_path):
    simulation = Simulation(mujoco.MjSpec.from_string(SCENE), {"contacts": "all"})
    model, names = simulation.engine.model, simulation.names
    text = generated_urdf(model, names)
    copy = read_robot(tmp_path / "r.urdf", text, UrdfOptions()).spec.compile()
    data, other = mujoco.MjData(model), mujoco.MjData(copy)
    for joint, value in {"shoulder": 0.7, "turn": -0.4, "bend": 1.1, "push": 0.05}.items():
        data.joint(joint).qpos = other.joint(joint).qpos = value
    mujoco.mj_kinematics(model, data)
    mujoco.mj_kinematics(copy, other)
    for body in ("base", "arm", "hand", "finger"):
        assert other.body(body).xpos == pytest.approx(data.body(body).xpos, abs=1e-7)
        np.testing.assert_allclose(other.body(body).xmat, data.body(body).xmat, atol=1e-7)
        assert copy.body(body).mass == pytest.approx(model.body(body).mass)
    for joint in ("shoulder", "push"):
        assert copy.joint(joint).range == pytest.approx(model.joint(joint).range)
    robot = ElementTree.fromstring(text)
    kinds = {joint.get("name"): joint.get("type") for joint in robot.iterfind("joint")}
    assert kinds["turn"] == "continuous" and kinds["ball/joint0"] == "floating"
    mimic = robot.find("joint[@name='bend']/mimic")
    assert (mimic.get("joint"), float(mimic.get("multiplier")), float(mimic.get("offset"))) == (
        "turn",
        2,
        0.1,
    )
    # All geoms but the infinite floor; meshes become files.
    assert len(robot.findall(".//visual")) == model.ngeom - 1
    assert all(mesh.get("filename").startswith("file:///") for mesh in robot.iter("mesh"))


def test_a_urdf_is_described_as_it_was_given(tmp_path):
    text = """<robot name="r"><link name="base">
      <visual><geometry><mesh filename="looks.dae"/></geometry></visual>
      <collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""
    (tmp_path / "r.urdf").write_text(text)
    simulation = Simulation({"scene": str(tmp_path / "r.urdf"), "skin": {"scales": {"base": 0.02}}})
    described = robot_description(simulation.settings, simulation.engine.model, simulation.names)
    assert (
        ElementTree.fromstring(described).find(".//visual//mesh").get("filename")
        == (tmp_path / "looks.dae").as_uri()
    )


def test_ros2_control_blocks_of_robots_are_kept_with_their_prefix(tmp_path):
    text = """<robot name="r"><link name="base"/>
      <joint name="slide" type="prismatic"><parent link="base"/><child link="tip"/>
        <limit lower="0" upper="1" effort="1" velocity="1"/></joint>
      <link name="tip"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <ros2_control name="joints" type="system"><hardware><plugin>some/System</plugin></hardware>
        <joint name="slide"><command_interface name="position"/><param name="mimic">other</param></joint>
        <sensor name="tip_pad"><state_interface name="contact"/></sensor></ros2_control></robot>"""
    (tmp_path / "r.urdf").write_text(text)
    file = str(tmp_path / "r.urdf")
    robots = {
        "one": {"file": file, "prefix": "one_"},
        "two": {"file": file, "prefix": "two_", "position": [0.0, 1.0, 0.0]},
    }
    ball = {"shape": "sphere", "size": [0.1], "mass": 1.0, "position": [0.0, 0.0, 2.0]}
    simulation = Simulation({"robots": robots, "objects": {"ball": ball}, "contacts": "all"})
    described = robot_description(simulation.settings, simulation.engine.model, simulation.names)
    robot = ElementTree.fromstring(described)
    blocks = {block.get("name"): block for block in robot.findall("ros2_control")}
    assert set(blocks) == {"one_joints", "two_joints"}
    for prefix in ("one_", "two_"):
        block = blocks[f"{prefix}joints"]
        assert block.get("type") == "system"
        assert block.findtext("hardware/plugin") == "some/System"
        joint = block.find("joint")
        assert robot.find(f"joint[@name='{joint.get('name')}']/limit") is not None
        assert joint.get("name") == f"{prefix}slide"
        assert joint.findtext("param") == f"{prefix}other"
        assert joint.find("command_interface").get("name") == "position"
        assert block.find("sensor").get("name") == f"{prefix}tip_pad"
        assert block.find("sensor/state_interface").get("name") == "contact"
    assert robot.find("link[@name='ball']") is not None
