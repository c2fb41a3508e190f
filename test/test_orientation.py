"""Holes in meshes."""

import numpy as np
import pytest
import trimesh

from tactile_sim.geometry.solids import hole_area

BOX = trimesh.creation.box((1.0, 2.0, 3.0)).apply_transform(
    trimesh.transformations.rotation_matrix(0.7, (1, 2, 3), (5, 5, 5))
)
SIDES = np.abs(BOX.face_normals @ BOX.face_normals[0]) > 0.9
ONE_SIDE = BOX.face_normals @ BOX.face_normals[0] > 0.9


@pytest.mark.parametrize(
    ("kept", "area"),
    [
        (np.ones(12, bool), 0.0),
        (~ONE_SIDE, BOX.area_faces[ONE_SIDE].sum()),
        (~SIDES, BOX.area_faces[SIDES].sum()),  # a tube: two holes with opposite normals
    ],
)
def test_area_of_holes_in_a_box(kept, area):
    assert hole_area(BOX.triangles[kept]) == pytest.approx(area)


def test_a_crack_is_no_hole():
    triangles = list(BOX.triangles)
    a, b, c = triangles.pop(0)
    middle = 0.5 * (a + b)  # a vertex that the neighbor does not have
    assert hole_area(np.array([*triangles, [a, middle, c], [middle, b, c]])) == pytest.approx(0.0, abs=1e-12)
