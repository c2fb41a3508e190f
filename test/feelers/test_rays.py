"""Compare readings of random feelers near all types of geoms with MuJoCo's ray casts.

Feelers that start inside a geom must read 0; independent formulas detect these.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import trimesh
from support.feelers import feelers_at, load, mesh, numbers, turned

from tactile_sim.feelers import Feelers

TORUS = trimesh.creation.torus(0.1, 0.04, major_sections=24, minor_sections=12)
STAR = trimesh.creation.icosphere(subdivisions=2)
STAR.vertices *= 0.06 + 0.12 * np.random.default_rng(3).random((len(STAR.vertices), 1))
KINDS = {
    "sphere": '<geom size=".1"/>',
    "capsule": '<geom type="capsule" size=".05 .12"/>',
    "ellipsoid": '<geom type="ellipsoid" size=".05 .1 .2"/>',
    "cylinder": '<geom type="cylinder" size=".1 .08"/>',
    "box": '<geom type="box" size=".05 .1 .15"/>',
    "torus": '<geom type="mesh" mesh="torus"/>',
    "star": '<geom type="mesh" mesh="star"/>',
    "hfield": '<geom type="hfield" hfield="hills"/>',
    "plane": '<geom type="plane" size="0 0 1"/>',
}
ASSETS = (
    mesh("torus", TORUS.vertices, TORUS.faces)
    + mesh("star", STAR.vertices, STAR.faces)
    + '<hfield name="hills" nrow="9" ncol="13" size=".3 .2 .15 .05" elevation="'
    + " ".join(map(str, np.random.default_rng(4).random(9 * 13)))
    + '"/>'
)


def scene(kinds, seed: int) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return a scene with a small ball that carries the feelers, and geoms at random poses around it."""
    rng = np.random.default_rng(seed)
    bodies = '<body><freejoint/><geom size=".001"/></body>'
    for kind in kinds:
        place, turn = numbers(0.1 * rng.normal(size=3)), numbers(rng.uniform(0, 360, 3))
        bodies += f'<body pos="{place}" euler="{turn}">{KINDS[kind]}</body>'
    return load(bodies, ASSETS)


def random_feelers(seed: int, count: int = 800):
    """Return feelers with random positions and directions; they do not start on the body's surface."""
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return feelers_at(1, rng.uniform(-0.25, 0.25, (count, 3)), normals, rng.uniform(0.05, 0.3, count))


@pytest.mark.parametrize(
    "kinds", [*([kind] for kind in KINDS), list(KINDS)], ids=lambda kinds: "-".join(kinds)
)
def test_readings_equal_mujoco_rays_and_are_zero_inside(kinds):
    for seed in range(3):
        model, data = scene(kinds, seed)
        placed = random_feelers(seed)
        free = Feelers(model, [placed], tolerance=0).read(data)
        hit = np.array([
            mujoco.mj_ray(model, data, start, along, None, 1, 1, None)
            for start, along in zip(placed.positions, placed.normals, strict=True)
        ])  # fmt: skip
        hit = np.where(hit < 0, np.inf, hit)
        inside = np.any(
            [_inside(model, data, geom, placed.positions) for geom in range(1, model.ngeom)], axis=0
        )
        expected = np.where(inside, 0, np.minimum(hit, placed.lengths))
        assert 0.01 < np.mean(inside) < 0.99
        assert 0.01 < np.mean((free > 0) & (free < placed.lengths))
        np.testing.assert_allclose(free, expected, rtol=0, atol=1e-6)


def _inside(model, data, geom: int, points: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of the points (n, 3) in the world frame [m] that are inside a geom.

    It is computed from the geom's equation, or from the solid angles of its triangles if it is a mesh.
    """
    p = (points - data.geom_xpos[geom]) @ data.geom_xmat[geom].reshape(3, 3)
    size, kind = model.geom_size[geom], mujoco.mjtGeom(model.geom_type[geom])
    if kind == mujoco.mjtGeom.mjGEOM_PLANE:
        return p[:, 2] < 0
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return np.linalg.norm(p, axis=1) < size[0]
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return np.linalg.norm(p / size, axis=1) < 1
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return (np.abs(p) < size).all(axis=1)
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return (np.hypot(p[:, 0], p[:, 1]) < size[0]) & (np.abs(p[:, 2]) < size[1])
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        over = np.maximum(np.abs(p[:, 2]) - size[1], 0)
        return np.linalg.norm(np.column_stack([p[:, :2], over]), axis=1) < size[0]
    if kind == mujoco.mjtGeom.mjGEOM_HFIELD:
        return _in_hills(model, p)
    mesh_id = model.geom_dataid[geom]
    vertices = model.mesh_vert[model.mesh_vertadr[mesh_id] :][: model.mesh_vertnum[mesh_id]].astype(float)
    faces = model.mesh_face[model.mesh_faceadr[mesh_id] :][: model.mesh_facenum[mesh_id]]
    a, b, c = np.moveaxis(vertices[faces] - p[:, None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
    # A. van Oosterom, J. Strackee, The Solid Angle of a Plane Triangle, 1983.
    above = np.einsum("pti,pti->pt", a, np.cross(b, c))
    below = la * lb * lc + (a * b).sum(-1) * lc + (b * c).sum(-1) * la + (c * a).sum(-1) * lb
    return np.abs(np.arctan2(above, below).sum(axis=1) / (2 * np.pi)) > 0.5


def _in_hills(model, p: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of the points between the height field's base and its triangulated surface."""
    rows, columns = model.hfield_nrow[0], model.hfield_ncol[0]
    x, y, height, base = model.hfield_size[0]
    i, j = (p[:, 0] + x) / (2 * x) * (columns - 1), (p[:, 1] + y) / (2 * y) * (rows - 1)
    c, r = np.clip(i.astype(int), 0, columns - 2), np.clip(j.astype(int), 0, rows - 2)
    i, j = i - c, j - r
    h = height * model.hfield_data.reshape(rows, columns).astype(float)
    first, last = h[r, c], h[r + 1, c + 1]
    ground = np.where(
        i > j,
        (1 - i) * first + (i - j) * h[r, c + 1] + j * last,
        (1 - j) * first + (j - i) * h[r + 1, c] + i * last,
    )
    return (np.abs(p[:, 0]) < x) & (np.abs(p[:, 1]) < y) & (p[:, 2] > -base) & (p[:, 2] < ground)


def test_readings_are_invariant_to_the_pose_of_the_scene():
    model, data = scene(list(KINDS), 5)
    placed = random_feelers(5, 3000)
    feelers = Feelers(model, [placed])
    free = feelers.read(data)
    for _ in turned(data, count=8):
        np.testing.assert_allclose(feelers.read(data), free, rtol=0, atol=1e-7)


def test_readings_do_not_depend_on_the_tree():
    """Readings are the same if each feeler is alone in its bounding volume tree."""
    model, data = scene(list(KINDS), 6)
    placed = random_feelers(6, 300)
    free = Feelers(model, [placed]).read(data)
    alone = [
        feelers_at(1, placed.positions[k], placed.normals[k], placed.lengths[k]) for k in range(len(free))
    ]  # fmt: skip
    np.testing.assert_array_equal(Feelers(model, alone).read(data), free)


def test_rays_through_edges_and_corners_of_a_mesh_hit_once():
    """Feelers pass through the vertices and edges of a subdivided cube, from inside and outside."""
    block = trimesh.creation.box((0.25, 0.25, 0.25)).subdivide().subdivide()
    model, data = load(
        '<body><geom type="mesh" mesh="block"/></body>'
        '<body pos="-.25 0 0"><freejoint/><geom size=".001"/></body>',
        mesh("block", block.vertices, block.faces),
    )  # fmt: skip
    grid = np.linspace(-0.125, 0.125, 17)[1:-1]
    y, z = (values.ravel() for values in np.meshgrid(grid, grid))
    # The body with the feelers is 0.25 m in front of the block, which is from 0.125 to 0.375 m in its frame.
    for x, expected in ((0.0625, 0.0625), (-0.25, 0.3), (0.1875, 0), (0.36, 0), (0.4, 0.3)):
        placed = feelers_at(2, np.column_stack([np.full(len(y), x), y, z]), [1, 0, 0], 0.3)
        free = Feelers(model, [placed], tolerance=0).read(data)
        np.testing.assert_allclose(free, expected, rtol=0, atol=1e-7)
