"""Surfaces of pads without a grid."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim.view.scene.taxel_surface import taxel_surface

SPACING = 0.01
FLAT = np.array([0.0, 0.0, 1.0])


def on_plane(cells):
    """Return positions (n, 3) and normals (n, 3) of taxels on a flat grid, at integer coordinates (n, 2)."""
    places = np.array(cells, float) * SPACING
    return np.pad(places, ((0, 0), (0, 1))), np.tile(FLAT, (len(places), 1))


def area_vectors(positions, triangles):
    a, b, c = np.moveaxis(positions[triangles], 1, 0)
    return np.cross(b - a, c - a) / 2


def test_surface_covers_the_pad_and_faces_outward():
    positions, normals = on_plane([(x, y) for x in range(4) for y in range(3)])
    tilted = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])  # z becomes y
    triangles = taxel_surface(positions @ tilted, normals @ tilted, SPACING)
    area = area_vectors(positions @ tilted, triangles)
    np.testing.assert_allclose(area.sum(axis=0), 6 * SPACING**2 * FLAT @ tilted, atol=1e-12)
    assert (area @ (FLAT @ tilted) > 0).all()


def test_surface_does_not_bridge_a_gap():
    positions, normals = on_plane([(x, y) for x in (0, 1, 2, 6, 7, 8) for y in (0, 1)])
    triangles = taxel_surface(positions, normals, SPACING)
    assert np.linalg.norm(area_vectors(positions, triangles), axis=1).sum() == pytest.approx(4 * SPACING**2)


def test_pads_that_cannot_be_projected_have_no_surface():
    angle = np.linspace(0.0, np.pi, 12)
    arch = np.stack([np.cos(angle), np.zeros(12), np.sin(angle)], axis=1)
    arch = np.concatenate([arch, arch + [0.0, SPACING, 0.0]])
    alone = on_plane([(0, 0), (1, 0), (0, 1), (9, 9)])
    line = on_plane([(0, 0), (1, 0), (2, 0)])
    for positions, normals in ((arch, arch * [1, 0, 1]), alone, line, on_plane([(0, 0)])):
        assert len(taxel_surface(positions, normals, SPACING)) == 0
