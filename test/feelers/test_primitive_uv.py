"""UV maps of primitives show each point of the surface once."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial import cKDTree
from support.feeler_meshes import scene

from tactile_sim.feelers.placement import place

SIZES = {
    "box": (0.1, 0.06, 0.03),
    "sphere": (0.08, 0, 0),
    "capsule": (0.04, 0.1, 0),
    "cylinder": (0.05, 0.07, 0),
    "ellipsoid": (0.07, 0.045, 0.035),
}
EVENLY_DENSE = [kind for kind in SIZES if kind != "ellipsoid"]


def model_of(kind: str) -> mujoco.MjModel:
    size = " ".join(map(str, SIZES[kind]))
    return scene("", f'<geom name="g" type="{kind}" size="{size}" pos=".1 .2 .3" euler="10 20 30"/>')


def outside(kind: str, p: np.ndarray) -> np.ndarray:
    """Return signed distances (n,) [m] from the surface of a geom, positive outside and exact nearby.

    Args:
        kind: Type of the geom.
        p: Points (n, 3) in the frame of the geom [m].
    """
    a, b, c = SIZES[kind]
    if kind == "box":
        return (np.abs(p) - [a, b, c]).max(axis=1)
    if kind == "cylinder":
        return np.maximum(np.hypot(p[:, 0], p[:, 1]) - a, np.abs(p[:, 2]) - b)
    if kind == "ellipsoid":
        k = np.linalg.norm(p / [a, b, c], axis=1)
        return (k - 1) * k / np.linalg.norm(p / np.square([a, b, c]), axis=1)
    along = np.clip(p[:, 2], -b, b) if kind == "capsule" else 0.0
    return np.linalg.norm(p - np.outer(along * np.ones(len(p)), [0, 0, 1]), axis=1) - a


def area(kind: str) -> float:
    a, b, c = SIZES[kind]
    return {
        "box": 8 * (a * b + b * c + c * a),
        "sphere": 4 * np.pi * a**2,
        "capsule": 4 * np.pi * a * (a + b),
        "cylinder": 2 * np.pi * a * (a + 2 * b),
    }[kind]


def in_geom(model: mujoco.MjModel, vectors: np.ndarray, origin: np.ndarray) -> np.ndarray:
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[0])
    return (vectors - origin) @ rotation.reshape(3, 3)


def feelers(kind: str, **how) -> tuple[np.ndarray, np.ndarray, object]:
    """Place feelers; return their positions and normals in the geom's frame, and the result of `place`."""
    model = model_of(kind)
    placed = place(model, 1, **how)
    positions = in_geom(model, placed.positions, model.geom_pos[0])
    return positions, in_geom(model, placed.normals, np.zeros(3)), placed


WHITE = {"painted": {"image": np.ones((240, 320), bool)}, "spread": {"spacing": 0.008}}


@pytest.mark.parametrize("how", WHITE)
@pytest.mark.parametrize("kind", SIZES)
def test_feelers_are_on_the_surface_and_point_outward(kind, how):
    positions, normals, _ = feelers(kind, **WHITE[how])
    assert np.abs(outside(kind, positions)).max() < 1e-9
    step = 1e-6
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1, abs=1e-12)
    # The normal is the gradient of the distance, so a step along it increases the distance by the step.
    assert outside(kind, positions + step * normals) == pytest.approx(step, rel=1e-3)


@pytest.mark.parametrize("kind", EVENLY_DENSE)
def test_all_pixels_have_the_same_area_on_the_surface(kind):
    _, _, coarse = feelers(kind, spacing=0.008)
    image = np.ones((8 * coarse.height, 8 * coarse.width), bool)
    positions, _, _ = feelers(kind, image=image)
    # Size of the map on the surface, which determines the area of a pixel.
    a, b, c = SIZES[kind]
    width, height = {
        "box": (4 * (a + b), 2 * c + 4 * b),
        "sphere": (np.sqrt(8) * a, 2 * np.sqrt(8) * a),
        "capsule": (2 * np.pi * a, 2 * np.sqrt(8) * a + 2 * b),
        "cylinder": (2 * np.pi * a, 4 * a + 2 * b),
    }[kind]
    pixel = width * height / image.size
    assert len(positions) * pixel == pytest.approx(area(kind), rel=0.01)
    # Any plane divides painted feelers in the same ratio as evenly spread ones.
    dense, _, _ = feelers(kind, spacing=0.002)
    for direction in np.random.default_rng(1).normal(size=(6, 3)):
        cut = np.quantile(dense @ direction, [0.25, 0.5, 0.75])
        assert np.mean(positions @ direction < cut[1]) == pytest.approx(0.5, abs=0.015)
        assert np.mean(positions @ direction < cut[0]) == pytest.approx(0.25, abs=0.015)


@pytest.mark.parametrize("kind", SIZES)
def test_map_shows_each_point_of_the_surface_once(kind):
    _, _, coarse = feelers(kind, spacing=0.008)
    image = np.ones((4 * coarse.height, 4 * coarse.width), bool)
    positions, _, painted = feelers(kind, image=image)
    anywhere, _, _ = feelers(kind, spacing=0.003)
    assert cKDTree(positions).query(anywhere)[0].max() < 0.004
    # Pixels that are distant on the map but close on the surface are on opposite sides of a cut.
    pairs = cKDTree(positions).query_pairs(1e-6, output_type="ndarray")
    assert len(pairs) <= 2 * (coarse.width + coarse.height)


def test_faces_of_a_box_are_arranged_as_documented():
    # A cube: each face is one of 4 x 3 fields.
    model = scene("", '<geom type="box" size="1 1 1"/>')
    faces = {(1, 0): "-x", (1, 1): "-y", (1, 2): "+x", (1, 3): "+y", (0, 1): "+z", (2, 1): "-z"}
    for (row, column), face in faces.items():
        image = np.zeros((3, 4), np.uint8)
        image[row, column] = 255
        placed = place(model, 1, image=image)
        expected = np.zeros(3)
        expected["xyz".index(face[1])] = 1 if face[0] == "+" else -1
        assert placed.positions == pytest.approx(expected[None], abs=1e-12)
        assert placed.normals == pytest.approx(expected[None], abs=1e-12)


@pytest.mark.parametrize("kind", SIZES)
def test_map_is_seen_from_outside(kind):
    """At each point, the map's right and up directions and the outward normal are a right-handed system."""
    positions, normals, placed = feelers(kind, image=np.ones((150, 120), bool))
    index = np.full((151, 121), -1)
    rows, columns = np.divmod(placed.pixels.astype(int), 120)
    index[rows, columns] = np.arange(len(rows))
    right, up = index[rows, columns + 1], index[rows - 1, columns]
    both = (right >= 0) & (up >= 0)
    smooth = both.copy()
    smooth[both] = (normals[right[both]] * normals[both]).sum(axis=1) > 0.7
    smooth[both] &= (normals[up[both]] * normals[both]).sum(axis=1) > 0.7
    turn = np.cross(positions[right[smooth]] - positions[smooth], positions[up[smooth]] - positions[smooth])
    along = (turn * normals[smooth]).sum(axis=1)
    assert smooth.sum() > 0.7 * len(rows)
    assert np.mean(along > 0) > 0.98
