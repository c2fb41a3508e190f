"""Which feelers a body gets, and what cannot be done."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from feeler_meshes import SEEN_ONLY, in_body, inline, one_mesh, scene
from PIL import Image
from scipy.spatial import cKDTree

from tactile_sim.errors import ConfigError, SceneError
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
    """To the nearest neighbour, in spacings."""
    return cKDTree(positions).query(positions, 2)[0][:, 1] / SPACING


@pytest.mark.parametrize("kind", KINDS)
def test_without_an_image_feelers_are_a_spacing_apart_and_have_a_pixel_each(kind):
    placed = place(scene("", KINDS[kind]), 1, spacing=SPACING)
    assert len(np.unique(placed.pixels)) == len(placed.pixels)
    assert placed.pixels.max() < placed.width * placed.height
    assert np.median(distances(placed.positions)) == pytest.approx(1, abs=0.08)
    assert (placed.lengths == 0.1).all()
    if kind in AREAS:
        assert len(placed.positions) == pytest.approx(AREAS[kind] / SPACING**2, rel=0.03)


def test_pixels_of_spread_feelers_are_where_their_uv_says():
    placed = place(scene("", KINDS["capsule"]), 1, spacing=SPACING)
    rows, columns = np.divmod(placed.pixels.astype(int), placed.width)
    assert (np.floor(placed.uv[:, 0] * placed.width) == columns).all()
    assert (np.floor((1 - placed.uv[:, 1]) * placed.height) == rows).all()


def test_a_box_that_its_spacing_divides_is_full_of_feelers():
    placed = place(scene("", '<geom type="box" size=".1 .1 .1"/>'), 1, spacing=SPACING)
    assert (placed.width, placed.height) == (80, 60)
    assert len(placed.pixels) == 6 * 20 * 20


def test_a_mesh_without_uv_is_covered_on_its_real_surface():
    model = torus()
    placed = place(model, 1, spacing=SPACING)
    assert len(placed.positions) == pytest.approx(TORUS.area / SPACING**2, rel=0.06)
    nearest = distances(placed.positions)
    assert nearest.min() > 0.75
    assert nearest.max() < 1.7
    corners = in_body(model)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    # On one of its triangles' planes, with that triangle's normal; the hole's side, too.
    heights = np.abs(np.einsum("ti,nti->nt", across, placed.positions[:, None] - corners[None, :, 0]))
    same = placed.normals @ across.T > 1 - 1e-9
    assert np.where(same, heights, np.inf).min(axis=1).max() < 1e-9
    inward = ((placed.positions - corners.mean(axis=(0, 1))) * placed.normals).sum(axis=1) < 0
    assert inward.sum() > 0.1 * len(inward)


def test_uv_that_lie_over_each_other_do_not_hinder_even_feelers():
    uv = np.tile([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], (len(TORUS.faces), 1, 1))
    placed = place(torus(uv), 1, spacing=SPACING)
    assert len(np.unique(placed.pixels)) == len(placed.pixels)
    assert len(placed.positions) == pytest.approx(TORUS.area / SPACING**2, rel=0.06)


def test_feelers_inside_of_a_sibling_are_left_out():
    two = '<geom type="sphere" size=".05"/><geom type="box" size=".03 .03 .03" pos="0 0 .05"/>'
    placed = place(scene("", two), 1, spacing=SPACING)
    ball = placed.positions[placed.geom_index == 0]
    cube = placed.positions[placed.geom_index == 1] - [0, 0, 0.05]
    assert len(ball) and len(cube)
    assert (np.abs(ball - [0, 0, 0.05]).max(axis=1) >= 0.03 - 1e-9).all()
    assert (np.linalg.norm(cube + [0, 0, 0.05], axis=1) >= 0.05 - 1e-9).all()


def test_where_two_geoms_lie_face_to_face_neither_has_feelers():
    two = '<geom type="box" size=".05 .05 .05"/><geom type="box" size=".05 .05 .05" pos="0 0 .1"/>'
    placed = place(scene("", two), 1, spacing=SPACING)
    assert len(placed.positions) == 10 * 100
    assert not (np.abs(placed.positions[:, 2] - 0.05) < 1e-6).any()


def test_a_mesh_that_is_only_seen_and_flat_is_covered_on_both_of_its_sides():
    square = np.array([[[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0]], [[0, 0, 0], [0.1, 0.1, 0], [0, 0.1, 0]]])
    placed = place(one_mesh(np.concatenate([square, square[:, ::-1]])), 1, spacing=SPACING)
    assert len(placed.positions) == pytest.approx(200, rel=0.1)
    assert np.linalg.norm(placed.normals.sum(axis=0)) < 0.1 * len(placed.normals)


def test_parts_stand_below_each_other_in_the_image():
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


def test_grey_is_shorter_and_black_is_none():
    model = scene("", '<geom type="box" size=".1 .1 .1"/>')
    image = np.zeros((3, 4), np.uint8)
    image[1] = 0, 51, 102, 255
    placed = place(model, 1, image=image, length=0.05)
    assert placed.pixels.tolist() == [5, 6, 7]
    assert placed.lengths == pytest.approx([0.01, 0.02, 0.05], abs=1e-12)


def test_only_the_white_pixels_of_a_coloured_map_are_feelers():
    """Cortex: "The colors of the faces are irrelevant; only the white pixels specify feelers."."""
    model = scene("", KINDS["box"])
    image = np.zeros((24, 24, 3), np.uint8)
    image[..., 0], image[:, 12:] = 255, [0, 0, 255]  # half of the map is red, half blue; a box has half of it
    image[10:13, 2:5] = 255
    placed = place(model, 1, image=image, length=0.05)
    assert set(zip(*np.divmod(placed.pixels, 24), strict=True)) == {
        (y, x) for y in (10, 11, 12) for x in (2, 3, 4)
    }
    assert (placed.lengths == 0.05).all()
    assert len(place(model, 1, image=image, white_only=False).pixels) > 200
    with pytest.raises(ConfigError, match="white_only"):  # names the remedy
        place(model, 1, image=image[:9])


def test_white_pixels_beside_the_map_are_ignored():
    model = scene("", '<geom type="box" size=".1 .1 .1"/>')
    assert len(place(model, 1, image=np.ones((3, 4), bool)).pixels) == 6


HALF = np.array([[[0, 0], [1, 0], [0, 1]], [[0, 0], [0, 0], [0, 0]]])
"""The map of two triangles: one is the lower left half, the other one is nowhere."""
TWO_MESHES = inline(np.asarray(TORUS.vertices[TORUS.faces])[:2], HALF, "a")
TWO_MESHES += TWO_MESHES.replace('name="a"', 'name="b"')
TWO_GEOMS = (
    f'<geom name="left" type="mesh" mesh="a" {SEEN_ONLY}/>'
    f'<geom type="mesh" mesh="b" pos="1 0 0" {SEEN_ONLY}/><geom type="box" size=".1 .1 .1"/>'
)


def test_each_uv_mesh_of_a_body_has_an_image_by_the_name_of_its_geom(tmp_path):
    Image.fromarray(np.full((4, 4), 255, np.uint8)).save(tmp_path / "skin_left.png")
    Image.fromarray(np.full((8, 6), 255, np.uint8)).save(tmp_path / "skin_thing_geom1.png")
    placed = place(scene(TWO_MESHES, TWO_GEOMS), 1, image=tmp_path / "skin_{geom}.png")
    assert [(part.geom_id, part.top, part.width, part.height) for part in placed.parts] == [
        (0, 0, 4, 4),
        (1, 4, 6, 8),
    ]
    # The centres in or on the lower left half: 4 + 3 + 2 + 1; for 6 x 8, x / 6 + y / 8 is at most 1.
    inside = sum((x + 0.5) / 6 + (y + 0.5) / 8 <= 1 for x in range(6) for y in range(8))
    assert np.bincount(placed.geom_index).tolist() == [10, inside]


BAD = {
    "too many": (
        KINDS["box"],
        {"spacing": 1e-5},
        ConfigError,
        "a spacing of 1e-05 m makes too many feelers, about 8.6e.08, at most 1,000,000; make it 0.0003",
    ),
    "no spacing": (KINDS["box"], {}, ConfigError, "there is no image and None is no spacing"),
    "negative": (KINDS["box"], {"spacing": -1.0}, ConfigError, "-1.0 is no spacing"),
    "both": (KINDS["box"], {"spacing": 0.1, "image": np.ones((3, 4))}, ConfigError, "leave out either"),
    "length": (KINDS["box"], {"spacing": 0.1, "length": 0.0}, ConfigError, "0.0 is no length; give metres"),
    "black": (KINDS["box"], {"image": np.zeros((3, 4))}, ConfigError, "no white pixels"),
    "white_only": (KINDS["box"], {"spacing": 0.1, "white_only": True}, ConfigError, "white_only"),
    "beside": (
        '<geom name="b" type="box" size="1 1 1"/>',
        {"image": np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 0, 1, 1]])},
        ConfigError,
        "none of the 6 white pixels of the array lies on the map of geom 'b'",
    ),
    "two geoms": (
        '<geom name="a" size="1"/><geom name="b" size="2"/>',
        {"image": np.ones((3, 4))},
        ConfigError,
        r"has 2 geoms to paint \('a', 'b'\); give an image for each, with {geom} in the path",
    ),
    "plane": ('<geom name="p" type="plane" size="1 1 1"/>', {"spacing": 0.1}, SceneError, "'p' is a plane"),
    "no geom": ("", {"spacing": 0.1}, SceneError, "body 'thing' has no geom to bear feelers"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_done_is_said_in_one_line(case):
    geoms, how, error, told = BAD[case]
    if case == "plane":
        model, body = scene("", KINDS["box"]), 0
        model = type(model).from_xml_string(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
    else:
        model, body = scene("", geoms), 1
    with pytest.raises(error, match=f"^feelers.thing: .*{told}") as caught:
        place(model, body, where="feelers.thing", **how)
    assert "\n" not in str(caught.value)


def test_an_image_for_a_mesh_without_uv_names_the_mesh_and_the_remedy():
    with pytest.raises(SceneError, match="mesh 'm' of geom 'skin' has no UV coordinates.* unwrap it"):
        place(torus(), 1, image=np.ones((8, 8)))
