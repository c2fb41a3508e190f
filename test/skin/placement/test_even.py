"""Evenly placed taxels on single geoms, compared with the geometry of each geom."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial import ConvexHull, cKDTree

from tactile_sim.skin import Skin
from tactile_sim.skin.placement.triangulate import triangulate

RNG = np.random.default_rng(7)
PEBBLE = RNG.normal(size=(60, 3)) * [0.1, 0.06, 0.04]
HULL = ConvexHull(PEBBLE)


def ellipsoid_area(size):
    """Return the area from Knud Thomsen's formula, which is accurate to 1.2 %."""
    a, b, c = size**1.6075
    return 4 * np.pi * ((a * b + b * c + c * a) / 3) ** (1 / 1.6075)


def capsule_gap(p, size):
    along = np.clip(p[:, 2], -size[1], size[1])
    return np.hypot(np.hypot(p[:, 0], p[:, 1]), p[:, 2] - along) - size[0]


# by type: function that returns the signed distance of points in the geom's frame, area, volume
GEOMETRY = {
    "sphere": (
        lambda p, s: np.linalg.norm(p, axis=1) - s[0],
        lambda s: 4 * np.pi * s[0] ** 2,
        lambda s: 4 / 3 * np.pi * s[0] ** 3,
    ),
    "capsule": (
        capsule_gap,
        lambda s: 4 * np.pi * s[0] ** 2 + 4 * np.pi * s[0] * s[1],
        lambda s: 4 / 3 * np.pi * s[0] ** 3 + 2 * np.pi * s[0] ** 2 * s[1],
    ),
    "cylinder": (
        lambda p, s: np.maximum(np.hypot(p[:, 0], p[:, 1]) - s[0], np.abs(p[:, 2]) - s[1]),
        lambda s: 2 * np.pi * s[0] ** 2 + 4 * np.pi * s[0] * s[1],
        lambda s: 2 * np.pi * s[0] ** 2 * s[1],
    ),
    "box": (
        lambda p, s: (np.abs(p) - s).max(axis=1),
        lambda s: 8 * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0]),
        lambda s: 8 * s.prod(),
    ),
    "ellipsoid": (
        lambda p, s: (np.linalg.norm(p / s, axis=1) - 1) * s.min(),
        ellipsoid_area,
        lambda s: 4 / 3 * np.pi * s.prod(),
    ),
    "mesh": (
        lambda p, s: (p @ HULL.equations[:, :3].T + HULL.equations[:, 3]).max(axis=1),
        lambda s: HULL.area,
        lambda s: HULL.volume,
    ),
}
KINDS = sorted(GEOMETRY)


def one_geom(kind, size, pose=True):
    """Return a model of one body with one geom, which is rotated and translated relative to the body."""
    place = 'pos=".1 -.2 .3" euler="20 50 -70"' if pose else ""
    vertices = " ".join(map(str, PEBBLE.ravel()))
    asset = f'<asset><mesh name="pebble" vertex="{vertices}"/></asset>' if kind == "mesh" else ""
    what = 'mesh="pebble"' if kind == "mesh" else f'size="{size[0]} {size[1]} {size[2]}"'
    return mujoco.MjModel.from_xml_string(
        f'<mujoco>{asset}<worldbody><body name="b"><freejoint/>'
        f'<geom type="{kind}" {what} {place}/></body></worldbody></mujoco>'
    )


def in_geom(model, positions):
    """Transform points from the body's frame to the geom's frame in which `GEOMETRY` is defined."""
    rotation, position = np.empty(9), model.geom_pos[0]
    mujoco.mju_quat2Mat(rotation, model.geom_quat[0])
    points = (positions - position) @ rotation.reshape(3, 3)
    if model.geom_type[0] == mujoco.mjtGeom.mjGEOM_MESH:
        # MuJoCo moves a mesh to its center of mass and principal axes.
        mujoco.mju_quat2Mat(rotation, model.mesh_quat[0])
        points = points @ rotation.reshape(3, 3).T + model.mesh_pos[0]
    return points


CASES = [
    pytest.param(kind, RNG.uniform(0.03, 0.12, 3), 0.014 / (k + 1), id=f"{kind}-{k}")
    for kind in KINDS
    for k in range(2)
]


@pytest.mark.parametrize("kind, size, spacing", CASES)
def test_taxels_are_on_the_surface_with_outward_normals(kind, size, spacing):
    outside, _, _ = GEOMETRY[kind]
    model = one_geom(kind, size)
    skin = Skin(model, {1: spacing})
    # The model stores mesh vertices as float32.
    tolerance = 1e-8 if kind == "mesh" else 1e-9
    assert np.abs(outside(in_geom(model, skin.positions), size)).max() < tolerance
    np.testing.assert_allclose(np.linalg.norm(skin.normals, axis=1), 1)
    assert outside(in_geom(model, skin.positions + 1e-4 * skin.normals), size).min() > 1e-5
    # A convex body is behind the tangent plane at each taxel.
    beyond = (skin.positions @ skin.normals.T) - np.einsum("ij,ij->i", skin.positions, skin.normals)
    assert beyond.max() < tolerance


@pytest.mark.parametrize("kind, size, spacing", CASES)
def test_number_and_area_of_taxels_match_the_spacing(kind, size, spacing):
    area = GEOMETRY[kind][1](size)
    skin = Skin(one_geom(kind, size), {1: spacing})
    if area / spacing**2 > 500:
        assert len(skin.positions) == pytest.approx(area / spacing**2, rel=0.05)
    assert skin.areas.sum() == pytest.approx(area, rel=0.015)
    assert skin.areas.min() > 0.3 * spacing**2
    assert skin.areas.max() < 2 * spacing**2


@pytest.mark.parametrize("kind, size, spacing", CASES)
def test_neighbors_are_about_one_spacing_apart(kind, size, spacing):
    positions = Skin(one_geom(kind, size), {1: spacing}).positions
    distance = cKDTree(positions).query(positions, k=2)[0][:, 1] / spacing
    assert distance.min() > 0.65
    assert distance.max() < 1.3
    assert 0.8 < np.median(distance) < 1.1


@pytest.mark.parametrize("kind, size, spacing", CASES)
def test_triangles_are_closed_and_wound_outward(kind, size, spacing):
    skin = Skin(one_geom(kind, size), {1: spacing})
    triangles = skin.pads[0].triangles.astype(int)
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    directed = set(map(tuple, sides))
    # In a closed mesh, each edge occurs once in each direction. A sphere has V - E + F = 2.
    assert len(directed) == len(sides)
    assert all((b, a) in directed for a, b in directed)
    assert len(skin.positions) - len(sides) // 2 + len(triangles) == 2
    a, b, c = np.moveaxis(skin.positions[triangles], 1, 0)
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    assert 0.9 * GEOMETRY[kind][2](size) < volume < 1.0000001 * GEOMETRY[kind][2](size)


@pytest.mark.parametrize("kind", KINDS)
def test_geom_smaller_than_spacing_has_a_few_taxels_on_its_surface(kind):
    size = np.array([0.03, 0.02, 0.04])
    model = one_geom(kind, size)
    skin = Skin(model, {1: 1.0})
    assert 6 <= len(skin.positions) <= 8
    assert np.abs(GEOMETRY[kind][0](in_geom(model, skin.positions), size)).max() < 1e-8
    assert len(skin.pads[0].triangles) >= 4


@pytest.mark.parametrize("size", [(0.1, 0.08, 0.001), (0.3, 0.004, 0.003)])
@pytest.mark.parametrize("kind", ["box", "cylinder", "ellipsoid", "capsule"])
def test_geom_thinner_than_spacing_has_no_gaps(kind, size):
    size = np.array(size[::-1] if kind in ("capsule", "cylinder") else size)
    if kind == "cylinder":
        size[0] = 0.003
    skin = Skin(one_geom(kind, size, pose=False), {1: 0.01})
    rng = np.random.default_rng(1)
    # Points on the closed mesh of the taxels approximate the surface.
    corners = skin.positions[skin.pads[0].triangles.astype(int)]
    weights = rng.dirichlet(np.ones(3), 2000)
    points = np.einsum("nk,nki->ni", weights, corners[rng.integers(len(corners), size=2000)])
    assert cKDTree(skin.positions).query(points)[0].max() < 0.02


@pytest.mark.parametrize("limit", ["", 'maxhullvert="12"'])
def test_skin_of_a_mesh_is_mujocos_collision_shape(limit):
    vertices = " ".join(map(str, PEBBLE.ravel()))
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset><mesh name="pebble" vertex="{vertices}" {limit}/></asset><worldbody>
        <body name="b"><geom type="mesh" mesh="pebble"/></body>
        <body name="probe" mocap="true"><geom size=".001"/></body></worldbody></mujoco>"""
    )
    skin, data = Skin(model, {1: 0.02}), mujoco.MjData(model)
    for taxel in range(0, len(skin.positions), 5):
        data.mocap_pos[0] = skin.positions[taxel] + 0.01 * skin.normals[taxel]
        mujoco.mj_kinematics(model, data)
        assert mujoco.mj_geomDistance(model, data, 0, 1, 1.0, None) == pytest.approx(0.009, abs=1e-6)


def test_coplanar_points_have_no_triangles():
    square = np.array([[1.0, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0]])
    assert len(triangulate(square, np.tile([0.0, 0, 1], (4, 1)))) == 0


def test_placement_is_deterministic():
    for kind in KINDS:
        model = one_geom(kind, np.array([0.05, 0.06, 0.07]))
        np.testing.assert_array_equal(Skin(model, {1: 0.01}).positions, Skin(model, {1: 0.01}).positions)


def test_box_has_taxels_on_edges_and_corners():
    size = np.array([0.05, 0.05, 0.05])
    skin = Skin(one_geom("box", size, pose=False), {1: 0.01})
    on_faces = (np.abs(np.abs(skin.positions) - size) < 1e-12).sum(axis=1)
    assert (on_faces == 3).sum() == 8
    assert (on_faces == 2).sum() == 12 * 9
    np.testing.assert_allclose(np.abs(skin.normals[on_faces == 3]), 1 / np.sqrt(3))
