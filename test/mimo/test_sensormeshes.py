"""Compare the sensor meshes of primitives with those that MIMo makes."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import trimesh
from support.errors import raises

from tactile_sim import TactileSimError
from tactile_sim.mimo import sensormeshes as ours
from tactile_sim.mimo import sensorpoints

FUNCTIONS = {
    "box": ours.mesh_box,
    "sphere": ours.mesh_sphere,
    "ellipsoid": ours.mesh_ellipsoid,
    "pipe": ours.mesh_pipe,
    "cylinder": ours.mesh_cylinder,
    "capsule": ours.mesh_capsule,
}
CLOSED = {
    "box": [(0.1, 0.06, 0.031)],
    "sphere": [0.1],
    "ellipsoid": [(0.1, 0.05, 0.07)],
    "cylinder": [0.2, 0.05],
    "capsule": [0.2, 0.05],
}


@pytest.mark.parametrize("resolution", [0.008, 0.03, 0.05])
@pytest.mark.parametrize("kind", CLOSED)
def test_meshes_are_closed_convex_hulls(kind, resolution):
    mesh = FUNCTIONS[kind](resolution, *CLOSED[kind])
    assert isinstance(mesh, trimesh.Trimesh)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.euler_number == 2, "one piece without a hole"
    assert mesh.volume == pytest.approx(mesh.convex_hull.volume, rel=1e-9)


@pytest.mark.parametrize("kind", ["box", "sphere", "ellipsoid", "pipe"])
def test_vertices_equal_points(kind):
    sizes = CLOSED.get(kind, [0.2, 0.05])
    points = getattr(sensorpoints, f"spread_points_{kind}")(0.012, *sizes)
    np.testing.assert_array_equal(FUNCTIONS[kind](0.012, *sizes).vertices, points)


def test_cylinder_caps_share_their_outer_ring_with_the_side():
    vertices = ours.mesh_cylinder(0.03, 0.2, 0.1).vertices
    side = len(sensorpoints.spread_points_pipe(0.03, 0.2, 0.1))
    on_cap = 1 + math.ceil(2 * math.pi / 30 / 0.03) + math.ceil(2 * math.pi / 15 / 0.03)
    assert len(vertices) == side + 2 * on_cap
    np.testing.assert_allclose(vertices[side:, 2], np.repeat([0.1, -0.1], on_cap))


def test_capsule_hemispheres_share_the_equator_with_the_side():
    vertices = ours.mesh_capsule(0.02, 0.2, 0.05).vertices
    side = len(sensorpoints.spread_points_pipe(0.02, 0.2, 0.05))
    rings = math.ceil(math.pi * 0.05 / 0.04)
    around = [math.ceil(2 * math.pi * math.sin(i * math.pi / (2 * rings)) * 2.5) for i in range(1, rings)]
    assert len(vertices) == side + 2 * (1 + sum(around))
    np.testing.assert_allclose(vertices[side], [0, 0, 0.15])


def test_pipe_is_open_at_both_ends():
    mesh = ours.mesh_pipe(0.02, 0.2, 0.05)
    assert mesh.is_winding_consistent
    assert mesh.euler_number == 0
    assert (mesh.face_normals * mesh.triangles_center * [1, 1, 0]).sum(axis=1).min() > 0


@pytest.mark.parametrize(
    ("kind", "sizes", "largest"),
    [
        ("box", [(0.1, 0.05, 0.02)], 0.1 / 0.75),
        ("sphere", [0.1], 0.1),
        ("ellipsoid", [(0.05, 0.1, 0.02)], 0.1),
        ("capsule", [0.2, 0.1], math.pi * 0.1),
        ("cylinder", [0.1, 0.1], 0.1),
        ("cylinder", [1.0, 0.1], 0.2),
    ],
)
def test_primitive_smaller_than_resolution_is_one_vertex(kind, sizes, largest):
    assert len(FUNCTIONS[kind](0.99 * largest, *sizes).vertices) > 1
    for resolution in (1.01 * largest, math.inf):
        mesh = FUNCTIONS[kind](resolution, *sizes)
        assert isinstance(mesh, trimesh.PointCloud)
        np.testing.assert_array_equal(mesh.vertices, [[0, 0, 0]])


def test_pipe_too_small_for_triangles_keeps_its_vertices():
    assert len(ours.mesh_pipe(0.1, 0, 0.1).faces) == 0
    assert len(ours.mesh_pipe(0.1, 0.2, 0.01).vertices) == 3


def test_invalid_argument_is_rejected_by_name():
    with raises(TactileSimError, "mesh_box", "sizes", "0.1"):
        ours.mesh_box(0.01, 0.1)


def test_trimesh_is_imported_on_first_use():
    code = "import sys, tactile_sim.mimo.sensormeshes; sys.exit('trimesh' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_vertices_equal_mimo(kind, mimo):
    theirs = getattr(mimo("mimoTouch.sensormeshes"), f"mesh_{kind}")
    rng = np.random.default_rng(0)
    for _ in range(40):
        a, b, c = 0.1 * 10 ** rng.uniform(-0.7, 0.7, 3)
        resolution = max(a, b, c) / 10 ** rng.uniform(-0.5, 1.0)
        sizes = [np.array([a, b, c])] if kind in ("box", "ellipsoid") else [a] if kind == "sphere" else [a, b]
        mesh, their_mesh = FUNCTIONS[kind](resolution, *sizes), theirs(resolution, *sizes)
        np.testing.assert_allclose(mesh.vertices, their_mesh.vertices, rtol=0, atol=1e-12)
        if kind != "pipe" and len(mesh.vertices) > 1:
            assert mesh.volume == pytest.approx(their_mesh.volume, rel=1e-9)
