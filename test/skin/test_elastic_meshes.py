"""`elastic_foundation` under meshes: like primitives of the same shape, also with faulty triangles."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from support.pressing import (
    STIFFNESS,
    THICKNESS,
    TOP,
    mesh_asset,
    overlap_of,
    overlap_with,
    pressed,
    sense,
)


def paraboloid(radius_x, radius_y):
    """Return a pressure function, up to a factor, for 10 N on a surface with these radii of curvature [m]."""
    depth = np.sqrt(10 * THICKNESS / STIFFNESS / (np.pi * np.sqrt(radius_x * radius_y)))
    return lambda x, y: np.clip(depth - x**2 / (2 * radius_x) - y**2 / (2 * radius_y), 0, None)


TWINS = {
    "box": (
        'type="box" size=".02 .015 .01"',
        trimesh.creation.box((0.04, 0.03, 0.02)),
        0.01,
        lambda x, y: 1.0 * ((abs(x) < 0.02) & (abs(y) < 0.015)),
    ),
    "sphere": ('type="sphere" size=".03"', trimesh.creation.icosphere(5, 0.03), 0.03, paraboloid(0.03, 0.03)),
    "cylinder": (
        'type="cylinder" size=".02 .01"',
        trimesh.creation.cylinder(0.02, 0.02, sections=128),
        0.01,
        lambda x, y: 1.0 * (np.hypot(x, y) < 0.02),
    ),
    "capsule": (
        'type="capsule" size=".02 .01"',
        trimesh.creation.capsule(0.02, 0.02, (64, 64)),
        0.03,
        paraboloid(0.02, 0.02),
    ),
    "ellipsoid": (
        'type="ellipsoid" size=".04 .03 .02"',
        trimesh.creation.icosphere(5, 1.0).apply_scale((0.04, 0.03, 0.02)),
        0.02,
        paraboloid(0.04**2 / 0.02, 0.03**2 / 0.02),
    ),
}
"""Primitive, mesh of the same shape, height of its center above its lowest point [m], and pressure."""


@pytest.mark.parametrize(("spacing", "least"), [(0.004, 0.93), (0.001, 0.98)])
@pytest.mark.parametrize("shape", TWINS)
def test_mesh_reads_like_the_primitive_of_the_same_shape(shape, spacing, least):
    primitive, mesh, height, pressure = TWINS[shape]
    mesh = trimesh.Trimesh(mesh.vertices - mesh.bounds.mean(axis=0), mesh.faces)
    readings, plate = [], f'<geom type="box" size=".025 .025 {TOP}"/>'
    for geom, assets in ((primitive, ""), ('type="mesh" mesh="twin"', mesh_asset("twin", mesh))):
        skin, loads = pressed(geom, (1, 0.5, -10), plate, spacing, assets=assets)
        loads.other_position[:, 2] += height
        readings.append(sense(skin, loads))
        assert readings[-1].sum() == pytest.approx(10)
        assert overlap_of(skin, readings[-1], pressure) > least
    assert overlap_with(*readings) > 0.99


def shell(vertices, faces, turned=()):
    """Return a mesh asset in which the triangles with the indices ``turned`` face the opposite way."""
    faces = faces.copy()
    faces[turned] = faces[turned][:, ::-1]
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    return mesh_asset("mesh", mesh).replace("<mesh ", '<mesh inertia="shell" ')


BOX = trimesh.creation.box((0.04, 0.03, 0.02))
HALVES = trimesh.util.concatenate(
    [trimesh.creation.box(bounds=((x, -0.015, -0.01), (x + 0.02, 0.015, 0.01))) for x in (-0.02, 0)]
)
LOOSE = BOX.vertices[BOX.faces].reshape(-1, 3) * (1 + 1e-6 * np.random.default_rng(0).random((36, 1)))
PRESSED = np.flatnonzero(BOX.face_normals[:, 2] < -0.5)[:1]
TURNED = {
    "none": shell(BOX.vertices, BOX.faces),
    "one": shell(BOX.vertices, BOX.faces, PRESSED),
    "half": shell(BOX.vertices, BOX.faces, slice(0, None, 2)),
    "all": shell(BOX.vertices, BOX.faces, slice(None)),
    "all of one half": shell(HALVES.vertices, HALVES.faces, slice(12)),
    "one without neighbors": shell(LOOSE, np.arange(36).reshape(12, 3), PRESSED),
}
"""Meshes of a box of 40 x 30 x 20 mm, by the triangles that face inward."""


@pytest.mark.parametrize("depth", [0.001, 0.012])
@pytest.mark.parametrize("which", TURNED)
def test_mesh_reads_like_the_box_at_any_depth_with_any_triangles_turned(which, depth):
    readings = []
    for geom, assets in (('type="box" size=".02 .015 .01"', ""), ('type="mesh" mesh="mesh"', TURNED[which])):
        skin, loads = pressed(geom, (1, 0.5, -10), assets=assets, at=(0.004, 0, TOP))
        loads.other_position[:] += [-0.004, 0, 0.01 - depth]  # the layer's thickness plus a spacing is 6 mm
        readings.append(sense(skin, loads))
        spread, _ = skin.shares(loads, "elastic_foundation")
        center = (spread.force[:, 2:] * spread.point).sum(axis=0) / spread.force[:, 2].sum()
        np.testing.assert_allclose(center[:2], [0.004, 0], atol=1e-8)
    assert overlap_with(*readings) > 0.99


OPEN_TOP, OPEN_BOTTOM = (BOX.faces[BOX.face_normals[:, 2] * side < 0.5] for side in (1, -1))
VERTICES = f'<mesh name="mesh" vertex="{" ".join(map(str, BOX.vertices.ravel()))}"/>'


@pytest.mark.parametrize(
    "assets", [shell(BOX.vertices, OPEN_TOP), VERTICES], ids=["open", "without triangles"]
)
def test_mesh_that_is_open_or_has_no_triangles_reads_like_a_box(assets):
    readings = []
    for geom in ('type="box" size=".02 .015 .01"', 'type="mesh" mesh="mesh"'):
        skin, loads = pressed(geom, (1, 0.5, -10), assets=assets)
        loads.other_position[:, 2] += 0.01
        readings.append(sense(skin, loads))
    assert readings[0].sum() == pytest.approx(10)
    np.testing.assert_allclose(readings[1], readings[0], rtol=0, atol=1e-3)


def test_mesh_that_is_open_below_loses_nothing():
    skin, loads = pressed('type="mesh" mesh="mesh"', (0, 0, -10), assets=shell(BOX.vertices, OPEN_BOTTOM))
    loads.other_position[:, 2] += 0.01
    reading = sense(skin, loads)
    assert np.isfinite(reading).all()
    assert reading.sum() == pytest.approx(10)
