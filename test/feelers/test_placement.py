"""Placement of feelers on a body."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from PIL import Image
from scipy.spatial import cKDTree
from support.errors import raises
from support.feeler_meshes import VISUAL, in_body, inline, one_mesh, scene

from tactile_sim.common.errors import ConfigError, SceneError
from tactile_sim.feelers.placement import place

SPACING = 0.01
KINDS = {
    "box": '<geom type="box" size=".1 .06 .03"/>',
    "sphere": '<geom type="sphere" size=".08"/>',
    "capsule": '<geom type="capsule" size=".04 .1"/>',
    "cylinder": '<geom type="cylinder" size=".05 .07"/>',
    "ellipsoid": '<geom type="ellipsoid" size=".07 .045 .035"/>',
}
AREAS = {
    "box": 8 * (0.1 * 0.06 + 0.06 * 0.03 + 0.03 * 0.1),
    "sphere": 4 * np.pi * 0.08**2,
    "capsule": 4 * np.pi * 0.04 * 0.14,
    "cylinder": 2 * np.pi * 0.05 * 0.19,
}
TORUS = trimesh.creation.torus(0.06, 0.02, major_sections=64, minor_sections=32)


def torus(uv: np.ndarray | None = None):
    return one_mesh(np.asarray(TORUS.vertices[TORUS.faces]), uv)


def distances(positions: np.ndarray) -> np.ndarray:
    """Return the distance of each position to its nearest neighbor [spacings]."""
    return cKDTree(positions).query(positions, 2)[0][:, 1] / SPACING


@pytest.mark.parametrize("kind", KINDS)
def test_spread_feelers_keep_the_spacing_and_have_a_pixel_each(kind):
    placed = place(scene("", KINDS[kind]), 1, spacing=SPACING)
    assert len(np.unique(placed.pixels)) == len(placed.pixels)
    assert placed.pixels.max() < placed.width * placed.height
    assert np.median(distances(placed.positions)) == pytest.approx(1, abs=0.08)
    assert (placed.lengths == 0.1).all()
    if kind in AREAS:
        assert len(placed.positions) == pytest.approx(AREAS[kind] / SPACING**2, rel=0.03)


def test_pixels_of_spread_feelers_match_their_uv():
    placed = place(scene("", KINDS["capsule"]), 1, spacing=SPACING)
    rows, columns = np.divmod(placed.pixels.astype(int), placed.width)
    assert (np.floor(placed.uv[:, 0] * placed.width) == columns).all()
    assert (np.floor((1 - placed.uv[:, 1]) * placed.height) == rows).all()


def test_box_divisible_by_the_spacing_has_a_full_grid():
    placed = place(scene("", '<geom type="box" size=".1 .1 .1"/>'), 1, spacing=SPACING)
    assert (placed.width, placed.height) == (80, 60)
    assert len(placed.pixels) == 6 * 20 * 20


def test_mesh_without_uv_gets_feelers_on_its_triangles():
    model = torus()
    placed = place(model, 1, spacing=SPACING)
    assert len(placed.positions) == pytest.approx(TORUS.area / SPACING**2, rel=0.06)
    nearest = distances(placed.positions)
    assert nearest.min() > 0.75
    assert nearest.max() < 1.7
    corners = in_body(model)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    # Each feeler is in the plane of a triangle with the same normal, also inside the hole.
    heights = np.abs(np.einsum("ti,nti->nt", across, placed.positions[:, None] - corners[None, :, 0]))
    same = placed.normals @ across.T > 1 - 1e-9
    assert np.where(same, heights, np.inf).min(axis=1).max() < 1e-9
    inward = ((placed.positions - corners.mean(axis=(0, 1))) * placed.normals).sum(axis=1) < 0
    assert inward.sum() > 0.1 * len(inward)


def test_overlapping_uv_does_not_affect_spread_feelers():
    uv = np.tile([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], (len(TORUS.faces), 1, 1))
    placed = place(torus(uv), 1, spacing=SPACING)
    assert len(np.unique(placed.pixels)) == len(placed.pixels)
    assert len(placed.positions) == pytest.approx(TORUS.area / SPACING**2, rel=0.06)


def test_feelers_inside_another_geom_of_the_body_are_omitted():
    two = '<geom type="sphere" size=".05"/><geom type="box" size=".03 .03 .03" pos="0 0 .05"/>'
    placed = place(scene("", two), 1, spacing=SPACING)
    ball = placed.positions[placed.geom_index == 0]
    cube = placed.positions[placed.geom_index == 1] - [0, 0, 0.05]
    assert len(ball) and len(cube)
    assert (np.abs(ball - [0, 0, 0.05]).max(axis=1) >= 0.03 - 1e-9).all()
    assert (np.linalg.norm(cube + [0, 0, 0.05], axis=1) >= 0.05 - 1e-9).all()


def test_touching_faces_of_two_geoms_have_no_feelers():
    two = '<geom type="box" size=".05 .05 .05"/><geom type="box" size=".05 .05 .05" pos="0 0 .1"/>'
    placed = place(scene("", two), 1, spacing=SPACING)
    assert len(placed.positions) == 10 * 100
    assert not (np.abs(placed.positions[:, 2] - 0.05) < 1e-6).any()


def test_flat_visual_mesh_gets_feelers_on_both_sides():
    square = np.array([[[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0]], [[0, 0, 0], [0.1, 0.1, 0], [0, 0.1, 0]]])
    placed = place(one_mesh(np.concatenate([square, square[:, ::-1]])), 1, spacing=SPACING)
    assert len(placed.positions) == pytest.approx(200, rel=0.1)
    assert np.linalg.norm(placed.normals.sum(axis=0)) < 0.1 * len(placed.normals)


def test_parts_are_stacked_in_the_image():
    two = '<geom type="sphere" size=".05"/><geom type="box" size=".03 .03 .03" pos="0 0 .2"/>'
    placed = place(scene("", two), 1, spacing=SPACING)
    ball, cube = placed.parts
    assert (ball.top, cube.top) == (0, ball.height)
    assert placed.height == ball.height + cube.height
    assert placed.width == max(ball.width, cube.width)
    rows, columns = np.divmod(placed.pixels.astype(int), placed.width)
    for k, part in enumerate(placed.parts):
        mine = placed.geom_index == k
        assert ((rows[mine] >= part.top) & (rows[mine] < part.top + part.height)).all()
        assert (columns[mine] < part.width).all()


def test_gray_pixels_are_shorter_feelers_and_black_pixels_none():
    model = scene("", '<geom type="box" size=".1 .1 .1"/>')
    image = np.zeros((3, 4), np.uint8)
    image[1] = 0, 51, 102, 255
    placed = place(model, 1, image=image, length=0.05)
    assert placed.pixels.tolist() == [5, 6, 7]
    assert placed.lengths == pytest.approx([0.01, 0.02, 0.05], abs=1e-12)


def test_only_white_pixels_of_a_colored_map_are_feelers():
    """Quote from Cortex: "The colors of the faces are irrelevant; only the white pixels specify feelers."."""
    model = scene("", KINDS["box"])
    image = np.zeros((24, 24, 3), np.uint8)
    image[..., 0], image[:, 12:] = 255, [0, 0, 255]  # red on the left, blue on the right
    image[10:13, 2:5] = 255
    placed = place(model, 1, image=image, length=0.05)
    assert set(zip(*np.divmod(placed.pixels, 24), strict=True)) == {
        (y, x) for y in (10, 11, 12) for x in (2, 3, 4)
    }
    assert (placed.lengths == 0.05).all()
    assert len(place(model, 1, image=image, white_only=False).pixels) > 200
    with raises(ConfigError, "white_only"):  # the remedy in the error
        place(model, 1, image=image[:9])


def test_white_pixels_outside_the_map_are_ignored():
    model = scene("", '<geom type="box" size=".1 .1 .1"/>')
    assert len(place(model, 1, image=np.ones((3, 4), bool)).pixels) == 6


HALF = np.array([[[0, 0], [1, 0], [0, 1]], [[0, 0], [0, 0], [0, 0]]])
"""UV coordinates of two triangles: one covers the lower left half of the map, the other is a single point."""
TWO_MESHES = inline(np.asarray(TORUS.vertices[TORUS.faces])[:2], HALF, "a")
TWO_MESHES += TWO_MESHES.replace('name="a"', 'name="b"')
TWO_GEOMS = (
    f'<geom name="left" type="mesh" mesh="a" {VISUAL}/>'
    f'<geom type="mesh" mesh="b" pos="1 0 0" {VISUAL}/><geom type="box" size=".1 .1 .1"/>'
)


def test_each_mesh_with_uv_has_an_image_named_after_its_geom(tmp_path):
    Image.fromarray(np.full((4, 4), 255, np.uint8)).save(tmp_path / "skin_left.png")
    Image.fromarray(np.full((8, 6), 255, np.uint8)).save(tmp_path / "skin_thing_geom1.png")
    placed = place(scene(TWO_MESHES, TWO_GEOMS), 1, image=tmp_path / "skin_{geom}.png")
    assert [(part.geom_id, part.top, part.width, part.height) for part in placed.parts] == [
        (0, 0, 4, 4),
        (1, 4, 6, 8),
    ]
    # Pixel centers in the lower left half: 4 + 3 + 2 + 1; for 6 x 8 those with x / 6 + y / 8 <= 1.
    inside = sum((x + 0.5) / 6 + (y + 0.5) / 8 <= 1 for x in range(6) for y in range(8))
    assert np.bincount(placed.geom_index).tolist() == [10, inside]


BAD = {
    "too many": (KINDS["box"], {"spacing": 1e-5}, ConfigError, ["1e-05", "8.6e+08", "1,000,000", "0.0003"]),
    "no spacing": (KINDS["box"], {}, ConfigError, ["spacing", "None"]),
    "negative": (KINDS["box"], {"spacing": -1.0}, ConfigError, ["spacing", "-1.0"]),
    "both": (KINDS["box"], {"spacing": 0.1, "image": np.ones((3, 4))}, ConfigError, ["image", "spacing"]),
    "length": (KINDS["box"], {"spacing": 0.1, "length": 0.0}, ConfigError, ["length", "0.0", "1e+06"]),
    "black": (KINDS["box"], {"image": np.zeros((3, 4))}, ConfigError, ["'thing'", "white"]),
    "white_only": (KINDS["box"], {"spacing": 0.1, "white_only": True}, ConfigError, ["white_only"]),
    "beside": (
        '<geom name="b" type="box" size="1 1 1"/>',
        {"image": np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 0, 1, 1]])},
        ConfigError,
        ["6 white", "'b'"],
    ),
    "two geoms": (
        '<geom name="a" size="1"/><geom name="b" size="2"/>',
        {"image": np.ones((3, 4))},
        ConfigError,
        ["2 geoms", "'a', 'b'", "{geom}"],
    ),
    "plane": ('<geom name="p" type="plane" size="1 1 1"/>', {"spacing": 0.1}, SceneError, ["'p'", "plane"]),
    "no geom": ("", {"spacing": 0.1}, SceneError, ["'thing'"]),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_placement_is_rejected_by_setting(case):
    geoms, how, error, facts = BAD[case]
    if case == "plane":
        model, body = scene("", KINDS["box"]), 0
        model = type(model).from_xml_string(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
    else:
        model, body = scene("", geoms), 1
    with raises(error, *facts) as caught:
        place(model, body, where="feelers.thing", **how)
    assert str(caught.value).startswith("feelers.thing: ")


def test_image_for_a_mesh_without_uv_is_rejected():
    with raises(SceneError, "'m'", "'skin'", "UV"):
        place(torus(), 1, image=np.ones((8, 8)))
