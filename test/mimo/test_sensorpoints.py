"""Points on primitives, compared with MIMo's rules and with its results."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.errors import raises

from tactile_sim import TactileSimError
from tactile_sim.mimo import sensorpoints as ours

FUNCTIONS = {
    "box": ours.spread_points_box,
    "sphere": ours.spread_points_sphere,
    "ellipsoid": ours.spread_points_ellipsoid,
    "pipe": ours.spread_points_pipe,
    "cylinder": ours.spread_points_cylinder,
    "capsule": ours.spread_points_capsule,
}
SIZES = {
    "box": [(0.1, 0.06, 0.031)],
    "sphere": [0.1],
    "ellipsoid": [(0.1, 0.05, 0.07)],
    "pipe": [0.2, 0.05],
    "cylinder": [0.2, 0.05],
    "capsule": [0.2, 0.05],
}


def sphere_count(resolution, radius):
    rings = math.ceil(math.pi * radius / resolution)
    around = [2 * math.pi * math.sin((i + 0.5) * math.pi / rings) * radius / resolution for i in range(rings)]
    return sum(round(n) for n in around)


def test_box_faces_share_grid_points_on_edges():
    # Points per axis: 2 * half / resolution rounded up, so 10, 6 and 4, minus interior points.
    points = ours.spread_points_box(0.02, np.array([0.1, 0.06, 0.04]))
    assert len(points) == 10 * 6 * 4 - 8 * 4 * 2
    assert len(np.unique(points, axis=0)) == len(points)
    np.testing.assert_allclose(np.unique(points[:, 0]), np.linspace(-0.1, 0.1, 10), rtol=0, atol=1e-15)


def test_thin_box_has_two_points_across():
    assert len(ours.spread_points_box(0.1, [0.1, 0.01, 0.01])) == 8


def test_sphere_has_rings_at_mid_latitudes_and_no_poles():
    points = ours.spread_points_sphere(0.013, 0.1)
    rings = math.ceil(math.pi * 0.1 / 0.013)
    np.testing.assert_allclose(
        np.unique(points[:, 2].round(9)),
        np.sort(0.1 * np.cos((np.arange(rings) + 0.5) * math.pi / rings)).round(9),
    )
    assert len(points) == sphere_count(0.013, 0.1)
    assert points[0, 1] == 0, "rings start at azimuth 0"
    assert points[0, 2] > 0, "rings start at the top"


def test_ellipsoid_is_a_scaled_sphere():
    unit = ours.spread_points_sphere(0.1, 1.0)
    np.testing.assert_allclose(
        ours.spread_points_ellipsoid(0.01, [0.03, 0.1, 0.05]), unit * [0.03, 0.1, 0.05], rtol=0, atol=1e-15
    )


def test_pipe_has_rings_from_end_to_end():
    points = ours.spread_points_pipe(0.03, 0.2, 0.05)
    rings, around = math.ceil(0.2 / 0.03) + 1, math.ceil(2 * math.pi * 0.05 / 0.03)
    assert len(points) == rings * around
    np.testing.assert_allclose(points[::around], [(0.05, 0, z) for z in np.linspace(-0.1, 0.1, rings)])


def test_pipe_of_zero_length_is_one_ring():
    assert set(ours.spread_points_pipe(0.01, 0, 0.05)[:, 2]) == {0}


def test_cylinder_adds_rings_on_alternating_caps():
    points = ours.spread_points_cylinder(0.03, 0.2, 0.1)
    side = len(ours.spread_points_pipe(0.03, 0.2, 0.1))
    # Radii 0, 1/3 and 2/3 of 0.1; the outermost ring belongs to the side.
    on_cap = 1 + math.floor(2 * math.pi / 30 / 0.03) + math.floor(2 * math.pi / 15 / 0.03)
    assert len(points) == side + 2 * on_cap
    np.testing.assert_allclose(points[side::2] * [1, 1, -1], points[side + 1 :: 2], rtol=0, atol=1e-15)
    np.testing.assert_allclose(points[side:, 2], 0.1 * np.resize([-1, 1], 2 * on_cap))


def test_capsule_adds_rings_on_alternating_hemispheres():
    points = ours.spread_points_capsule(0.02, 0.2, 0.05)
    side = len(ours.spread_points_pipe(0.02, 0.2, 0.05))
    rings = round(math.pi * 0.05 / 0.04)
    around = [round(2 * math.pi * math.sin(i * math.pi / (2 * rings)) * 0.05 / 0.02) for i in range(rings)]
    assert len(points) == side + 2 * (1 + sum(around))
    np.testing.assert_allclose(points[side : side + 2], [(0, 0, 0.15), (0, 0, -0.15)], rtol=0, atol=1e-15)


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_normals_are_unit_and_outward(kind):
    points, normals = FUNCTIONS[kind](0.012, *SIZES[kind], return_normals=True)
    assert normals.shape == points.shape
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, rtol=0, atol=1e-12)
    # All primitives are convex: no point is in front of the tangent plane at another point.
    height = points @ normals.T
    assert (height - np.diag(height)).max() < 1e-12


@pytest.mark.parametrize(
    ("kind", "sizes", "largest"),
    [
        ("box", [(0.1, 0.05, 0.02)], 0.1),
        ("sphere", [0.1], 0.1),
        ("ellipsoid", [(0.05, 0.1, 0.02)], 0.1),
        ("capsule", [0.2, 0.1], math.pi * 0.1),
        ("cylinder", [0.1, 0.1], 0.1),
    ],
)
def test_primitive_smaller_than_resolution_has_one_point(kind, sizes, largest):
    assert len(FUNCTIONS[kind](0.99 * largest, *sizes)) > 1
    for resolution in (1.01 * largest, math.inf):
        points, normals = FUNCTIONS[kind](resolution, *sizes, return_normals=True)
        np.testing.assert_array_equal(points, [[0, 0, 0]])
        np.testing.assert_array_equal(normals, [[0, 0, 1]])


def test_pipe_at_infinite_resolution_has_one_point():
    np.testing.assert_array_equal(ours.spread_points_pipe(math.inf, 0.2, 0.1), [[0, 0, 0]])


@pytest.mark.parametrize(
    ("kind", "arguments", "facts"),
    [
        ("sphere", [0, 0.1], ["spread_points_sphere", "resolution", "0"]),
        ("sphere", [math.nan, 0.1], ["resolution", "nan"]),
        ("sphere", ["fine", 0.1], ["resolution", "'fine'"]),
        ("sphere", [0.1, -1], ["radius", "-1"]),
        ("sphere", [0.1, math.inf], ["radius", "inf"]),
        ("sphere", [0.1, [1, 1]], ["radius", "[1, 1]"]),
        ("box", [0.1, [1, 1]], ["sizes", "[1, 1]"]),
        ("box", [0.1, 1.0], ["sizes", "1.0"]),
        ("ellipsoid", [0.1, [1, 0, 1]], ["radii", "[1, 0, 1]"]),
        ("pipe", [0.1, -1, 1], ["length", "-1"]),
        ("capsule", [1e-320, 0.1, 0.1], ["capsule", "resolution", "9.99989e-321"]),
        ("box", [1e-6, [1, 1, 1]], ["resolution", "1e-06", "0.0001"]),
    ],
)
def test_invalid_argument_is_rejected_by_name_and_value(kind, arguments, facts):
    with raises(TactileSimError, *facts):
        FUNCTIONS[kind](*arguments)


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_points_and_normals_equal_mimo(kind, mimo):
    theirs = getattr(mimo("mimoTouch.sensorpoints"), f"spread_points_{kind}")
    rng = np.random.default_rng(0)
    for _ in range(100):
        a, b, c = 0.1 * 10 ** rng.uniform(-0.7, 0.7, 3)
        resolution = max(a, b, c) / 10 ** rng.uniform(-0.5, 1.2)
        sizes = [np.array([a, b, c])] if kind in ("box", "ellipsoid") else [a] if kind == "sphere" else [a, b]
        points, normals = FUNCTIONS[kind](resolution, *sizes, return_normals=True)
        their_points, their_normals = theirs(resolution, *sizes, return_normals=True)
        np.testing.assert_allclose(points, their_points, rtol=0, atol=1e-12)
        np.testing.assert_allclose(normals, np.atleast_2d(their_normals), rtol=0, atol=1e-12)
