"""Objects and markers in a robot's scene."""

import gc

import numpy as np
import pytest
from support.errors import raises

from tactile_sim.common.errors import SceneError
from tactile_sim.trifinger import collision_objects, sim_finger, trifinger_platform, visual_objects
from tactile_sim.trifinger.sim_finger import SimFinger

UPRIGHT = (0, 0, 0, 1)


@pytest.fixture
def finger():
    return SimFinger("trifingerpro")


def step(finger, steps):
    action = finger.Action(position=[0, 0.9, -1.7] * finger.number_of_fingers)
    for _ in range(steps):
        finger.append_desired_action(action)


def test_new_object_keeps_state(finger):
    first = collision_objects.Cube((0.05, 0, 0.1), pybullet_client_id=finger._pybullet_client_id)
    step(finger, 20)
    before = finger.get_observation(20)
    pose = first.get_state()
    second = collision_objects.ColoredCubeV2((-0.05, 0, 0.1), UPRIGHT, finger._pybullet_client_id)
    after = finger.get_observation(20)
    np.testing.assert_array_equal(before.position, after.position)
    np.testing.assert_array_equal(before.velocity, after.velocity)
    assert first.get_state() == pose
    step(finger, 1)
    assert first.get_state()[0][2] < pose[0][2] - 1e-4  # still falling
    assert second.get_state()[0][2] == pytest.approx(0.1, abs=2e-5)


@pytest.mark.parametrize(
    ("make", "mass", "half_height"),
    [
        (lambda number: collision_objects.Cube((0, 0, 0.04), pybullet_client_id=number), 0.08, 0.0325),
        (lambda number: collision_objects.ColoredCubeV2((0, 0, 0.04), UPRIGHT, number), 0.094, 0.0325),
        (
            lambda number: collision_objects.Cuboid(
                (0, 0, 0.02), UPRIGHT, (0.01, 0.04, 0.01), 0.08, (1, 0, 0, 1), number
            ),
            0.08,
            0.01,
        ),
    ],
)
def test_object_has_its_mass_and_rests_on_table(finger, make, mass, half_height):
    thing = make(finger._pybullet_client_id)
    step(finger, 400)
    assert thing.get_state()[0] == pytest.approx([0, 0, half_height], abs=1e-6)
    assert finger.physics.model.body(thing.name).mass[0] == pytest.approx(mass)


@pytest.mark.parametrize("height", [0.05, 0.12, 0.17])
def test_dropped_cube_stops_within_a_step(height):
    """The cube penetrates the table by at most its impact speed sqrt(2 g height) times the 1 ms time step."""
    finger = SimFinger("fingeredu", robot_position_offset=(0, 0, 0.5))
    cube = collision_objects.ColoredCubeV2((0, 0, 0.0325 + height), UPRIGHT, finger._pybullet_client_id)
    bottoms = []
    for _ in range(600):
        step(finger, 1)
        bottoms.append(cube.get_state()[0][2] - 0.0325)
    first = next(number for number, bottom in enumerate(bottoms) if bottom < 0)
    assert min(bottoms) > -np.sqrt(2 * 9.81 * height) * 0.001
    assert max(bottoms[first:]) < 2e-4
    assert bottoms[-1] == pytest.approx(0, abs=1e-6)


def thrown(finger, thing, velocity, spin):
    """Set the linear velocity [m/s] and the angular velocity [rad/s] of an object."""
    physics = finger.physics
    [dof] = physics.model.jnt_dofadr[physics.model.body(thing.name).jntadr]
    physics.data.qvel[dof : dof + 6] = [*velocity, *spin]
    physics.restart()


@pytest.mark.parametrize(
    "make",
    [
        lambda number: collision_objects.ColoredCubeV2((0.1, 0.05, 1), UPRIGHT, number),
        lambda number: collision_objects.Cuboid(
            (0.1, 0.05, 1), UPRIGHT, (0.01, 0.04, 0.01), 0.08, pybullet_client_id=number
        ),
    ],
)
def test_spinning_object_flies_parabola(make):
    finger = SimFinger("fingeredu", link_drag=False)
    thing = make(finger._pybullet_client_id)
    thrown(finger, thing, (0.3, -0.2, 1.0), (3, -2, 5))
    step(finger, 200)
    # With semi-implicit time steps of h, it falls by g h² (1 + 2 + ... + n).
    expected = [0.1 + 0.06, 0.05 - 0.04, 1 + 0.2 - 9.81e-6 * 200 * 201 / 2]
    assert thing.get_state()[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("make", "pose"),
    [
        (
            lambda number: collision_objects.ColoredCubeV2((0, 0, 2), UPRIGHT, number),
            [0.57934695, 0.28967347, 2.0058291, 0.48227373, -0.32151582, 0.80378955, -0.13402235],
        ),
        (
            lambda number: collision_objects.Cuboid(
                (0, 0, 2), UPRIGHT, (0.01, 0.04, 0.02), 0.08, pybullet_client_id=number
            ),
            [0.57934695, 0.28967347, 2.0058291, 0.97201183, -0.1436309, 0.1801885, -0.045774224],
        ),
    ],
)
def test_thrown_object_moves_as_in_pybullet(finger, make, pose):
    """The expected poses after 0.6 s were recorded from trifinger_simulation 2.0.0."""
    thing = make(finger._pybullet_client_id)
    thrown(finger, thing, (1, 0.5, 3), (3, -2, 5))
    step(finger, 600)
    position, orientation = map(np.array, thing.get_state())
    assert position == pytest.approx(pose[:3], abs=1e-7)
    assert orientation * np.sign(orientation @ pose[3:]) == pytest.approx(pose[3:], abs=1e-7)


def test_object_without_mass_is_fixed(finger):
    wall = collision_objects.Cuboid(
        (0, 0, 0.3), UPRIGHT, (0.1, 0.1, 0.01), 0, pybullet_client_id=finger._pybullet_client_id
    )
    step(finger, 100)
    assert wall.get_state() == ([0, 0, 0.3], list(UPRIGHT))
    wall.set_state((0, 0, 0.4), UPRIGHT)
    assert wall.get_state()[0] == [0, 0, 0.4]


def test_markers_do_not_collide(finger):
    number = finger._pybullet_client_id
    balls = visual_objects.Marker(2, physicsClientId=number)
    box = visual_objects.CubeMarker(0.065, (0, 0, 0.0325), UPRIGHT, pybullet_client_id=number)
    cube = collision_objects.ColoredCubeV2((0, 0, 0.0325), UPRIGHT, number)
    balls.set_state([(0.1, 0, 0.1), (0, 0.1, 0.1)])
    box.set_state((0, 0, 0.05), (0, 0, 1, 0))
    with raises(ValueError, "position", "3"):
        box.set_state((0, 0, np.nan), UPRIGHT)
    step(finger, 100)
    data = finger.physics.data
    np.testing.assert_allclose(data.body(balls.names[1]).xpos, (0, 0.1, 0.1))
    np.testing.assert_allclose(data.body(box.name).xpos, (0, 0, 0.05))
    np.testing.assert_allclose(np.abs(data.body(box.name).xquat), (0, 0, 0, 1))
    assert cube.get_state()[0] == pytest.approx([0, 0, 0.0325], abs=2e-4)  # inside the marker


def test_objects_join_simulation_with_id():
    first, second = SimFinger("fingeredu"), SimFinger("fingeredu")
    assert first._pybullet_client_id != second._pybullet_client_id
    collision_objects.Cube(pybullet_client_id=second._pybullet_client_id)
    assert (first.physics.model.nq, second.physics.model.nq) == (3, 10)


def test_deleted_simulation_is_rejected():
    finger = SimFinger("fingeredu")
    number = finger._pybullet_client_id
    del finger
    gc.collect()
    with raises(ValueError, "pybullet_client_id", str(number)):
        collision_objects.Cube(pybullet_client_id=number)


def test_deleted_objects_and_markers_are_removed(finger):
    number = finger._pybullet_client_id
    kept = collision_objects.Cube((0.05, 0, 0.5), pybullet_client_id=number)
    removed = [
        collision_objects.ColoredCubeV2((-0.05, 0, 0.5), UPRIGHT, number),
        visual_objects.Marker(3, physicsClientId=number),
        visual_objects.CubeMarker(0.01, (0, 0, 0.5), UPRIGHT, pybullet_client_id=number),
    ]
    bodies = finger.physics.model.nbody
    step(finger, 1)
    removed.clear()
    gc.collect()
    before, pose = finger.get_observation(1), kept.get_state()
    step(finger, 1)
    assert finger.physics.model.nbody == bodies - 5
    seen = finger.get_observation(1)
    assert seen.position.tolist() == before.position.tolist()
    assert seen.velocity.tolist() == before.velocity.tolist()
    assert kept.get_state()[0][2] == pytest.approx(pose[0][2] - 2 * 9.81e-6, abs=1e-8)  # its second step


@pytest.mark.parametrize(
    ("number", "size", "expected"),
    [
        (2, {"radius": 0.01}, [0.01, 0.01, 0.01]),
        (3, {"halfExtents": (0.01, 0.02, 0.03)}, [0.01, 0.02, 0.03]),
        (4, {"radius": 0.01, "length": 0.06}, [0.01, 0.01, 0.03]),
        (7, {"radius": 0.01, "length": 0.06}, [0.01, 0.01, 0.04]),
    ],
)
def test_marker_shapes_and_sizes(number, size, expected):
    finger = SimFinger("fingeredu")
    mark = visual_objects.ObjectMarker(
        number, (0, 0, 0.3), UPRIGHT, pybullet_client_id=finger._pybullet_client_id, **size
    )
    model = finger.physics.model
    assert model.geom_aabb[model.geom(mark.name).id][3:] == pytest.approx(expected)
    with raises(ValueError, "shape_type", "width"):
        visual_objects.ObjectMarker(number, (0, 0, 0.3), UPRIGHT, width=1)
    with raises(ValueError, "shape_type", "5"):
        visual_objects.ObjectMarker(5, (0, 0, 0.3), UPRIGHT)


def test_mesh_is_fixed_and_supports_objects(finger, tmp_path):
    (tmp_path / "block.obj").write_text(
        "".join(f"v {x} {y} {z}\n" for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0, 0.05))
    )
    number = finger._pybullet_client_id
    body = collision_objects.import_mesh(
        tmp_path / "block.obj", (0.5, 0, 0.1), color_rgba=(1, 0, 0, 1), pybullet_client_id=number
    )
    cube = collision_objects.Cube((0.5, 0, 0.19), pybullet_client_id=number)
    step(finger, 300)
    assert finger.physics.model.body(body).pos.tolist() == [0.5, 0, 0.1]
    assert cube.get_state()[0] == pytest.approx([0.5, 0, 0.1 + 0.05 + 0.0325], abs=1e-3)
    with raises(ValueError, "is_concave"):
        collision_objects.import_mesh("bowl.stl", (0, 0, 0), is_concave=True)


def test_invalid_edit_keeps_scene(finger):
    step(finger, 1)
    model = finger.physics.model
    for _ in range(2):
        with raises(SceneError, "nowhere.stl"):
            collision_objects.import_mesh(
                "/nowhere.stl", (0, 0, 0), pybullet_client_id=finger._pybullet_client_id
            )
    assert finger.physics.model is model
    step(finger, 1)
    collision_objects.Cube(pybullet_client_id=finger._pybullet_client_id)


def test_int_to_rgba():
    assert trifinger_platform.int_to_rgba is sim_finger.int_to_rgba
    assert sim_finger.int_to_rgba(0xFF0033) == (1.0, 0.0, 0.2, 1.0)
    assert sim_finger.int_to_rgba(0x0000FF, alpha=0) == (0.0, 0.0, 1.0, 0.0)
    assert sim_finger.int_to_rgba(0xAA00FF00) == (0.0, 1.0, 0.0, 1.0)  # the last three bytes
