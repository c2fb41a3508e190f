"""Free lengths of free to fully covered feelers, compared with closed forms at various scene poses."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import trimesh
from support.errors import raises
from support.feelers import LENGTH, directions, feelers_at, load, mesh, turned

from tactile_sim.common.errors import ConfigError
from tactile_sim.feelers import Feelers

ATOL = 1e-7
"""Tolerance for height fields and for float32 meshes, which MuJoCo rotates into their inertial frame [m]."""
INSIDE = 0.2 * LENGTH
BLOCK = trimesh.creation.box((0.25, 0.25, 0.25))


def read(model, data, placed, **options) -> np.ndarray:
    """Check that free lengths do not depend on the pose of the whole scene, and return them."""
    feelers = Feelers(model, [placed], **options)
    free = feelers.read(data)
    for _ in turned(data):
        np.testing.assert_allclose(feelers.read(data), free, rtol=0, atol=ATOL)
    return free


def box_feelers(body: int, half: float, lengths=LENGTH):
    """Return feelers on a grid on the six faces of a box."""
    grid = np.linspace(-0.9 * half, 0.9 * half, 7)
    positions, normals = [], []
    for axis in range(3):
        for side in (-1, 1):
            place = np.full((len(grid), len(grid), 3), side * half)
            place[..., (axis + 1) % 3], place[..., (axis + 2) % 3] = np.meshgrid(grid, grid)
            positions.append(place.reshape(-1, 3))
            normals.append(np.tile(side * np.eye(3)[axis], (len(grid) ** 2, 1)))
    return feelers_at(body, np.concatenate(positions), np.concatenate(normals), lengths)


@pytest.mark.parametrize("tilt", ["0 0 0", "20 35 10"])
def test_plane_against_feelers_of_a_box(tilt):
    model, data = load(f'<geom type="plane" size=".01 .01 1"/><body euler="{tilt}"><freejoint/>'
                       '<geom type="box" size=".1 .1 .1"/></body>')  # fmt: skip
    placed = box_feelers(1, 0.1)
    roots, along = [rows @ data.xmat[1].reshape(3, 3).T for rows in (placed.positions, placed.normals)]
    seen = set()
    for height in np.linspace(0.401, -0.399, 33):  # no root is exactly in the plane
        data.qpos[2] = height
        mujoco.mj_kinematics(model, data)
        above = roots[:, 2] + height
        with np.errstate(divide="ignore"):
            expected = np.where(along[:, 2] < 0, np.clip(-above / along[:, 2], 0, LENGTH), LENGTH)
        expected[above - INSIDE * along[:, 2] <= 0] = 0.0
        free = read(model, data, placed)
        np.testing.assert_allclose(free, expected, rtol=0, atol=ATOL)
        seen.add(bool((free == LENGTH).all()) - bool((free == 0).all()))
    assert seen == {1, 0, -1}


def test_sphere_against_feelers_of_a_plane():
    radius = 0.15
    model, data = load(f'<geom type="plane" size="1 1 1"/><body><freejoint/><geom size="{radius}"/></body>')
    grid = np.linspace(-0.2, 0.2, 20)
    places = np.stack([*np.meshgrid(grid, grid), np.zeros((20, 20))], -1).reshape(-1, 3)
    off = np.hypot(places[:, 0], places[:, 1])
    below = np.sqrt(np.maximum(radius**2 - off**2, 0))
    for height in np.linspace(0.3, 0, 31):
        data.qpos[2] = height
        mujoco.mj_kinematics(model, data)
        expected = np.where(off < radius, np.clip(height - below, 0, LENGTH), LENGTH)
        np.testing.assert_allclose(
            read(model, data, feelers_at(0, places, [0, 0, 1])), expected, rtol=0, atol=ATOL
        )


def test_capsule_against_feelers_of_a_mesh():
    radius, half = 0.05, 0.1
    model, data = load(
        '<body><freejoint/><geom type="mesh" mesh="block"/></body>'
        f'<body><freejoint/><geom type="capsule" size="{radius} {half}"/></body>',
        mesh("block", BLOCK.vertices, BLOCK.faces),
    )
    grid = np.linspace(-0.12, 0.12, 24)  # no feeler just grazes the capsule
    places = np.stack([np.full((24, 24), 0.125), *np.meshgrid(grid, grid)], -1).reshape(-1, 3)
    beyond = np.maximum(np.abs(places[:, 2] - 0.06) - half, 0)
    rest = radius**2 - places[:, 1] ** 2 - beyond**2
    for distance in np.linspace(0.2, 0, 41):
        data.qpos[7:10] = 0.125 + distance, 0, 0.06
        mujoco.mj_kinematics(model, data)
        expected = np.where(rest > 0, np.clip(distance - np.sqrt(np.maximum(rest, 0)), 0, LENGTH), LENGTH)
        np.testing.assert_allclose(
            read(model, data, feelers_at(1, places, [1, 0, 0])), expected, rtol=0, atol=ATOL
        )


def test_mesh_against_feelers_of_a_capsule():
    radius = 0.05
    model, data = load(
        f'<body><freejoint/><geom type="capsule" size="{radius} .1"/></body>'
        '<body><freejoint/><geom type="mesh" mesh="block"/></body>',
        mesh("block", BLOCK.vertices, BLOCK.faces),
    )
    angle, z = (values.ravel() for values in np.meshgrid(np.linspace(-3, 3, 60), np.linspace(-0.1, 0.1, 9)))
    normals = np.column_stack([np.cos(angle), np.sin(angle), 0 * z])
    places = radius * normals + np.column_stack([0 * z, 0 * z, z])
    for gap in np.linspace(0.12, -0.04, 33):
        face = radius + gap
        data.qpos[7:10] = face + 0.125, 0, 0
        mujoco.mj_kinematics(model, data)
        with np.errstate(divide="ignore"):
            along = np.where(normals[:, 0] > 0, face / normals[:, 0], np.inf)
        across = np.abs(np.sin(angle)) * along
        hit = (across < 0.125) & (along < radius + LENGTH)
        expected = np.where(hit, np.clip(along - radius, 0, LENGTH), LENGTH)
        # A feeler that starts inside the block is completely covered.
        np.testing.assert_allclose(
            read(model, data, feelers_at(1, places, normals)), expected, rtol=0, atol=ATOL
        )


def test_height_fields_with_a_ramp_and_a_ditch():
    model, data = load(
        '<geom type="hfield" hfield="ramp"/><geom type="hfield" hfield="ditch" pos="0 0 2"/>'
        '<body><freejoint/><geom size=".05"/></body>',
        '<hfield name="ramp" nrow="2" ncol="3" size="1 .5 .4 .1" elevation="0 .5 1 0 .5 1"/>'
        '<hfield name="ditch" nrow="2" ncol="5" size="1 .5 .4 .1" elevation="1 1 0 1 1 1 1 0 1 1"/>',
    )
    normals = directions(500)
    placed = feelers_at(1, 0.05 * normals, normals)
    for height in np.linspace(0.5, 0, 21):
        data.qpos[:3] = 0, 0, height
        mujoco.mj_kinematics(model, data)
        # Height above the ramp z = 0.2 + 0.2 x at a root, and its change per meter along the feeler.
        above = height + 0.05 * normals[:, 2] - 0.2 - 0.2 * 0.05 * normals[:, 0]
        rate = normals[:, 2] - 0.2 * normals[:, 0]
        expected = np.where(rate < 0, np.clip(-above / rate, 0, LENGTH), LENGTH)
        expected[above - INSIDE * rate <= 0] = 0
        np.testing.assert_allclose(read(model, data, placed), expected, rtol=0, atol=ATOL)
    up, aside = feelers_at(1, [[0, 0, -0.05]], [0, 0, -1]), feelers_at(1, [[0.05, 0, 0]], [1, 0, 0])
    for height in np.linspace(0.2, 0.0, 11):
        data.qpos[:3] = 0, 0, 2.05 + height
        mujoco.mj_kinematics(model, data)
        np.testing.assert_allclose(read(model, data, up), [min(height, LENGTH)], rtol=0, atol=ATOL)
        wall = 0.5 * (height + 0.05) / 0.4 - 0.05
        np.testing.assert_allclose(read(model, data, aside), [np.clip(wall, 0, LENGTH)], rtol=0, atol=ATOL)


@pytest.mark.parametrize(
    "solid",
    [
        '<geom size="1"/>', '<geom type="box" size="1 1 1"/>', '<geom type="ellipsoid" size="1 2 3"/>',
        '<geom type="capsule" size="1 1"/>', '<geom type="cylinder" size="1 1"/>',
        '<geom type="mesh" mesh="block"/>', '<geom type="mesh" mesh="inwards"/>',
        '<geom type="plane" size="1 1 1" pos="0 0 1"/>', '<geom type="hfield" hfield="flat" pos="0 0 .5"/>',
    ],
)  # fmt: skip
def test_feelers_inside_a_solid_are_covered(solid):
    moving = "plane" not in solid and "hfield" not in solid
    model, data = load(
        f'<body>{"<freejoint/>" if moving else ""}{solid}</body><body><freejoint/><geom size=".1"/></body>',
        mesh("block", 8 * BLOCK.vertices, BLOCK.faces)
        + mesh("inwards", 8 * BLOCK.vertices, BLOCK.faces[:, ::-1]).replace("/>", ' inertia="shell"/>')
        + '<hfield name="flat" nrow="3" ncol="3" size="1 1 1 1" elevation="0 0 0 0 0 0 0 0 0"/>',
    )
    normals = directions(200)
    assert (read(model, data, feelers_at(2, 0.1 * normals, normals)) == 0).all()


def test_cavity_of_a_mesh_is_outside():
    vertices = np.concatenate([8 * BLOCK.vertices, 4 * BLOCK.vertices])
    faces = np.concatenate([BLOCK.faces, BLOCK.faces[:, ::-1] + len(BLOCK.vertices)])
    model, data = load(
        '<body><freejoint/><geom type="mesh" mesh="shell"/></body>'
        '<body><freejoint/><geom size=".45"/></body>',
        mesh("shell", vertices, faces),
    )
    normals = directions(300)
    expected = np.minimum(0.5 / np.abs(normals).max(axis=1) - 0.45, LENGTH)
    np.testing.assert_allclose(
        read(model, data, feelers_at(2, 0.45 * normals, normals)), expected, rtol=0, atol=ATOL
    )


def test_open_mesh_is_a_sheet_and_hulls_do_not_count():
    notch = trimesh.util.concatenate(
        [trimesh.creation.box((0.5, 0.5, 0.125), transform=trimesh.transformations.translation_matrix(place))
         for place in ((0, 0, 0.5), (0, 0, -0.5))]
    )  # fmt: skip
    model, data = load(
        '<body><freejoint/><geom type="mesh" mesh="notch"/></body><body><freejoint/><geom size=".25"/></body>'
        '<body pos="9 0 0"><freejoint/><geom type="mesh" mesh="open"/></body>'
        '<body pos="9 0 0"><freejoint/><geom size=".03125"/></body>',
        mesh("notch", notch.vertices, notch.faces)
        + mesh("open", BLOCK.vertices, BLOCK.faces[:-1]).replace("/>", ' inertia="shell"/>'),
    )
    between = read(
        model, data, feelers_at(2, [[0, 0, 0.25], [0.25, 0, 0], [0, 0, 0.375]], np.eye(3)[[2, 0, 2]])
    )
    np.testing.assert_allclose(between, [LENGTH, LENGTH, 0.4375 - 0.375], rtol=0, atol=ATOL)
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    within = read(model, data, feelers_at(4, 0.03125 * axes, axes))
    walls = np.where(within < LENGTH, 0.09375, LENGTH)
    np.testing.assert_allclose(within, walls, rtol=0, atol=ATOL)
    assert 4 <= np.sum(within < LENGTH) <= 6  # one of the twelve triangles is missing


def test_obstacle_behind_a_thin_body_does_not_cover_its_front():
    """Rays on the back of a 5 mm thick finger on a table start at its middle, not inside the table."""
    model, data = load('<geom type="box" size="1 1 1" pos="0 0 -1"/><body pos="0 0 .0025"><freejoint/>'
                       '<geom type="box" size=".05 .01 .0025"/></body>')  # fmt: skip
    placed = feelers_at(1, [[0, 0, 0.0025], [0, 0, -0.0025]], [[0, 0, 1], [0, 0, -1]])
    np.testing.assert_array_equal(read(model, data, placed), [LENGTH, 0])
    data.qpos[2] -= 0.001  # slightly pressed in
    mujoco.mj_kinematics(model, data)
    np.testing.assert_array_equal(read(model, data, placed), [LENGTH, 0])


def test_thickness_includes_all_geoms_of_the_body():
    """Stacked boxes form one body; a sheet below the middle of the stack does not cover its feelers."""
    layers = [f'<geom type="box" size=".1 .1 .005" pos="0 0 {z}"/>' for z in (-0.005, -0.015, -0.025, -0.035)]
    sheet = '<geom type="box" size="1 1 .0001" pos="0 0 -.0148"/>'
    for count, expected in ((1, LENGTH), (2, LENGTH), (3, 0), (4, 0)):
        model, data = load(f"<body><freejoint/>{''.join(layers[:count])}</body><body>{sheet}</body>")
        assert read(model, data, feelers_at(1, [[0, 0, 0]], [0, 0, 1])) == expected
    model, data = load(f"<body><freejoint/>{layers[0] + ''.join(layers[2:])}</body><body>{sheet}</body>")
    assert read(model, data, feelers_at(1, [[0, 0, 0]], [0, 0, 1])) == LENGTH  # a gap ends it


def test_obstacles_inside_the_body_cover_down_to_the_tolerance():
    model, data = load('<body><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
                       '<body><freejoint/><geom type="box" size=".1 .1 .0005"/></body>')  # fmt: skip
    placed = feelers_at(1, [[0, 0, 0.1]], [0, 0, 1], 0.05)
    for tolerance in (0, 0.2, 0.5):
        for depth in (0.004, 0.009, 0.012, 0.02, 0.024, 0.03):
            data.qpos[9] = 0.1 - depth
            mujoco.mj_kinematics(model, data)
            expected = 0 if depth < tolerance * 0.05 else 0.05
            assert read(model, data, placed, tolerance=tolerance) == expected
    data.qpos[9] = 0.1 + 0.02
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(read(model, data, placed, tolerance=0), 0.0195, rtol=0, atol=ATOL)


def test_no_bodies_and_bodies_without_feelers_are_allowed():
    model, data = load('<body><freejoint/><geom size=".1"/></body><body><freejoint/><geom size=".1"/></body>')
    assert Feelers(model, []).read(data).shape == (0,)
    feelers = Feelers(
        model, [feelers_at(1, np.empty((0, 3)), np.empty((0, 3))), feelers_at(2, [[0.1, 0, 0]], [1, 0, 0])]
    )
    assert list(feelers.offsets) == [0, 0, 1]
    assert feelers.read(data) == 0


@pytest.mark.parametrize("tolerance", [-0.1, np.nan, np.inf])
def test_invalid_tolerance_names_the_body(tolerance):
    model, _ = load('<body name="paw"><freejoint/><geom size=".1"/></body>')
    with raises(ConfigError, "paw", "tolerance", str(tolerance)):
        Feelers(model, [feelers_at(1, [[0.1, 0, 0]], [1, 0, 0])], tolerance=tolerance)


def test_number_of_tolerances_must_match_the_bodies():
    model, _ = load('<body><freejoint/><geom size=".1"/></body>')
    with raises(ConfigError, "tolerance", "1 bodies", "2"):
        Feelers(model, [feelers_at(1, [[0.1, 0, 0]], [1, 0, 0])], tolerance=[0.1, 0.2])
