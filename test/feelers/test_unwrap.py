"""Unwrapping of meshes without UV coordinates."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from tactile_sim import _core
from tactile_sim.geometry.maps import unwrap


def staircase() -> np.ndarray:
    """Return two turns of a connected spiral ramp (t, 3, 3), which overlaps itself when seen from above."""
    turn = np.linspace(0, 4 * np.pi, 81)
    inner = np.stack([np.cos(turn), np.sin(turn), 0.1 * turn], axis=1)
    outer = inner * [2, 2, 1]
    a, b, c, d = inner[:-1], outer[:-1], outer[1:], inner[1:]
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def triangles(mesh: trimesh.Trimesh) -> np.ndarray:
    return np.asarray(mesh.vertices[mesh.faces], np.float32).astype(float)


MESHES = {
    "torus": triangles(trimesh.creation.torus(0.06, 0.02, major_sections=48, minor_sections=24)),
    "ball": triangles(trimesh.creation.icosphere(3, 0.05)),
    "pipe": triangles(trimesh.creation.annulus(0.03, 0.06, 0.1)),
    "ramp": staircase(),
    "one": np.random.default_rng(0).normal(size=(1, 3, 3)),
    "many": np.random.default_rng(0).normal(size=(200, 3, 3)),
}


def flat_areas(uv: np.ndarray) -> np.ndarray:
    a, b, c = np.moveaxis(uv, 1, 0)
    return ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2


@pytest.mark.parametrize("name", MESHES)
def test_triangles_do_not_overlap_and_are_all_on_the_map(name):
    uv, _ = unwrap(MESHES[name])
    assert uv.min() >= 0
    assert uv.max() <= 1
    side = 1500
    owner, row, *_ = _core.rasterize(uv * [side, -side] + [0, side], np.ones((side, side), bool))
    assert row == -1
    # The number of pixels is the total area of the triangles.
    assert (owner >= 0).mean() == pytest.approx(flat_areas(uv).sum(), rel=0.01)


@pytest.mark.parametrize("name", MESHES)
def test_triangles_keep_orientation_and_most_of_their_area(name):
    corners = MESHES[name]
    uv, size = unwrap(corners)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    share = flat_areas(uv * size) / (np.linalg.norm(across, axis=1) / 2)
    # Projected along the axis nearest to the normal, whose cosine is at least 1 / √3.
    assert share == pytest.approx(np.abs(across).max(axis=1) / np.linalg.norm(across, axis=1), rel=1e-6)
    assert share.min() > 1 / np.sqrt(3) - 1e-6


def test_triangles_without_an_area_are_accepted():
    corners = np.concatenate([MESHES["ball"], np.zeros((2, 3, 3))])
    uv, size = unwrap(corners)
    assert np.isfinite(uv).all()
    assert np.isfinite(size).all()
