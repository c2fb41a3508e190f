"""Bridged messages equal the node's messages with the same stamp."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from support.errors import raises  # noqa: E402
from support.published import published  # noqa: E402
from support.ros import PATIENCE, stamp  # noqa: E402

from tactile_sim import config  # noqa: E402
from tactile_sim.common.errors import ConfigError  # noqa: E402
from tactile_sim.ros import bridges  # noqa: E402
from tactile_sim.simulation import Simulation  # noqa: E402

PACKAGES = ("tactile_msgs", "ros_gz_interfaces", "xela_server_ros2")
SCENE = """
<mujoco><option timestep="0.002" cone="elliptic"/><worldbody>
  <body name="slope" euler="0 8 0">
    <geom name="board" type="box" size="1 1 .05" pos="0 0 -.05" friction=".7 .01 .001"/></body>
  <body name="box" pos="0 0 .1005" euler="0 8 0"><freejoint/>
    <geom name="shell" type="box" size=".1 .1 .1" mass="2" friction=".7 .01 .001"/></body>
</worldbody></mujoco>"""
WEIGHT = 2.0 * 9.81
TILT = np.radians(8)


@pytest.fixture(scope="module")
def touched(tmp_path_factory):
    """Return a simulation with all installed bridges and a box at rest on a slope."""
    scene = tmp_path_factory.mktemp("touched") / "scene.xml"
    scene.write_text(SCENE)
    installed = [package for package in PACKAGES if find_spec(package)]
    skin = {"scales": {"box": 0.05, "slope": 0.2}}
    simulation = Simulation(
        {"scene": str(scene), "skin": skin} | ({"bridges": installed} if installed else {})
    )
    simulation.step(500)
    return simulation


@pytest.fixture
def at_rest(touched):
    """Return a function that returns the messages of topics at the same stamp."""

    def last_of(*topics):
        found = published(touched, topics, 0)
        return [message for topic in topics for message in found[topic].values()]

    return last_of


@pytest.fixture
def layouts(at_rest):
    """Return the layouts of both bodies."""
    return {body: at_rest(f"tactile/{body}/layout")[0] for body in ("box", "slope")}


def package(name):
    return pytest.importorskip(f"{name}.msg", reason=f"{name} is not installed")


def test_tactile_states_are_pressing_forces_of_arrays(at_rest, layouts):
    package("tactile_msgs")
    state, box, slope = at_rest("tactile_states", "tactile/box/array", "tactile/slope/array")
    assert stamp(state) == stamp(box) == stamp(slope)
    published = dict(zip(state.sensors.name, state.sensors.values, strict=True))
    for array in (box, slope):
        layout = layouts[array.body]
        pressing = -np.sum(np.reshape(array.data, (-1, 3)) * np.reshape(layout.normals, (-1, 3)), axis=1)
        np.testing.assert_allclose(published[array.body], pressing, atol=1e-5)
    # The box is in the middle of the board, where all taxels face up.
    assert sum(published["slope"]) == pytest.approx(WEIGHT * np.cos(TILT), rel=0.01)


def test_tactile_contacts_sum_contacts_of_body(at_rest):
    package("tactile_msgs")
    bridged, ours = at_rest("tactile_contact_states", "contacts")
    found = bridged.contacts
    assert found.name == found.header.frame_id == ["slope", "box"]
    rotation = np.array([[np.cos(TILT), 0, np.sin(TILT)], [0, 1, 0], [-np.sin(TILT), 0, np.cos(TILT)]])
    on_box = np.sum(ours.contacts.wrench.force, axis=0) * (1 if ours.contacts.body2[0] == "box" else -1)
    np.testing.assert_allclose(rotation @ found.wrench.force[1], on_box, atol=0.02)
    np.testing.assert_allclose(rotation @ found.wrench.force[0], -on_box, atol=0.02)
    np.testing.assert_allclose(found.normal[0], [0, 0, 1], atol=1e-3)
    np.testing.assert_allclose(found.normal[1], [0, 0, -1], atol=1e-3)
    # It is below the box's center of mass, so on the slope it is not in the middle of the lower face.
    assert found.position[1][2] == pytest.approx(-0.1, abs=1e-3)
    assert found.position[1][0] == pytest.approx(0.1 * np.tan(TILT), rel=0.05)


@pytest.mark.parametrize(("body", "other"), [("box", "slope"), ("slope", "box")])
def test_gazebo_contacts_equal_contacts_with_sensor_first(at_rest, body, other):
    collisions = {"box": "box::shell", "slope": "slope::board"}
    package("ros_gz_interfaces")
    bridged, ours = at_rest(f"link/{body}/sensor/skin/contact", "contacts")
    assert stamp(bridged) == stamp(ours)
    found, contacts = bridged.contacts, ours.contacts
    assert len(found.collision1.name) == len(contacts.body1) >= 3
    assert set(found.collision1.name) == {collisions[body]}
    assert set(found.collision2.name) == {collisions[other]}
    turned = np.array([1.0 if name == body else -1.0 for name in contacts.body2])[:, None]
    for k in range(len(contacts.body1)):
        wrench = found.wrenches[k]
        np.testing.assert_allclose(wrench.body_1_wrench.force[0], turned[k] * contacts.wrench.force[k])
        np.testing.assert_allclose(wrench.body_2_wrench.force[0], -turned[k] * contacts.wrench.force[k])
        assert list(wrench.body_1_name.data) == [body]
        assert list(wrench.body_2_name.data) == [other]
        np.testing.assert_allclose(found.normals[k][0], turned[k] * contacts.normal[k])
        np.testing.assert_allclose(found.positions[k][0], contacts.position[k])
        assert found.depths[k] == pytest.approx([-contacts.distance[k]])
    # The normal has the direction of the force on the sensor, so it points up for the box.
    assert np.sign(found.normals[0][0][2]) == (1 if body == "box" else -1)


def test_xela_forces_equal_arrays_in_taxel_frames(at_rest, layouts):
    package("xela_server_ros2")
    stream, box, slope = at_rest("xServTopic", "tactile/box/array", "tactile/slope/array")
    sensors = stream.sensors
    assert sensors.model == ["slope", "box"]
    assert list(sensors.sensor_pos) == [1, 2]
    np.testing.assert_allclose(sensors.time, stamp(box) * 1e-9)
    for k, array in enumerate((slope, box)):
        forces = np.reshape(array.data, (-1, 3))
        normals = np.reshape(layouts[array.body].normals, (-1, 3))
        published = np.reshape(sensors.forces[k], (-1, 3))
        np.testing.assert_allclose(published[:, 2], -np.sum(forces * normals, axis=1), atol=1e-5)
        np.testing.assert_allclose(
            np.linalg.norm(published, axis=1), np.linalg.norm(forces, axis=1), atol=1e-5
        )
        facing_x = np.abs(normals[:, 2]) > 0.999
        np.testing.assert_allclose(published[facing_x, 0], forces[facing_x, 0], atol=1e-5)
        raw = np.reshape(sensors.taxels[k], (-1, 3)).astype(float)
        np.testing.assert_allclose((raw - 32768) * 0.001, published, atol=5.01e-4)


@pytest.fixture(params=PACKAGES)
def missing(request, tmp_path, monkeypatch):
    """Make a package of bridged messages fail to import, and return its name."""
    (tmp_path / request.param).mkdir()
    (tmp_path / request.param / "__init__.py").write_text("raise ImportError('not here')")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [*sys.modules]:
        if name.split(".")[0] == request.param or name.startswith("tactile_sim.ros.bridges."):
            monkeypatch.delitem(sys.modules, name)
    return request.param


def test_bridge_requires_its_package(missing):
    settings = config.from_mapping({"scene": "touch_cube.xml", "bridges": [missing]})
    with raises(ConfigError, "bridges", repr(missing)):
        bridges.require(settings)


def test_node_with_bridge_without_its_package_fails_in_one_line(ros):
    name = PACKAGES[0]
    ros.environment["PYTHONPATH"] = f"{ros.folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    (ros.folder / name).mkdir()
    (ros.folder / name / "__init__.py").write_text("raise ImportError('not here')")
    process = ros.start(
        "run", ros.config(scene="touch_cube.xml", bridges=[name], skin={"scales": {"cube": 0.05}})
    )
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    [line] = [line for line in output.splitlines() if "error" in line]
    assert "bridges" in line and repr(name) in line
    assert "Traceback" not in output
