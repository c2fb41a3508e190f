"""Feelers painted on the UV map of a mesh."""

from __future__ import annotations

from fractions import Fraction

import mujoco
import numpy as np
import pytest
from support.errors import raises
from support.feeler_meshes import VISUAL, in_body, inline, one_mesh, scene

from tactile_sim.common.errors import SceneError
from tactile_sim.feelers.placement import place

RNG = np.random.default_rng(3)
WIDTH, HEIGHT = 97, 61


def soup(side: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Return random triangles, each in a separate cell of the UV map; on the map, about half are mirrored.

    Returns:
        Corners (t, 3, 3) [m] and UV coordinates of the corners (t, 3, 2).
    """
    corners = RNG.normal(size=(side**2, 3, 3)) * 0.1
    cell = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 1, 2)
    return corners, (cell + RNG.random((side**2, 3, 2))) / side


def exact_count(uv: np.ndarray, white: np.ndarray) -> int:
    """Count white pixels whose centers are in a triangle or on its edge, in rational arithmetic."""
    height, width = white.shape
    count = 0
    for row, column in np.argwhere(white).tolist():
        x, y = Fraction(2 * column + 1, 2 * width), 1 - Fraction(2 * row + 1, 2 * height)
        near = (uv.min(axis=1) <= [float(x) + 1e-9, float(y) + 1e-9]).all(axis=1)
        near &= (uv.max(axis=1) >= [float(x) - 1e-9, float(y) - 1e-9]).all(axis=1)
        count += any(_inside(triangle, x, y) for triangle in uv[near])
    return count


def _inside(triangle: np.ndarray, x: Fraction, y: Fraction) -> bool:
    points = [(Fraction(u), Fraction(v)) for u, v in triangle.tolist()]
    sides = []
    for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1], strict=True):
        sides.append((bx - ax) * (y - ay) - (by - ay) * (x - ax))
    return all(side >= 0 for side in sides) or all(side <= 0 for side in sides)


def compiled_uv(model: mujoco.MjModel) -> np.ndarray:
    """Return the UV coordinates (t, 3, 2) of all triangles of the model's mesh; v points up."""
    uv = model.mesh_texcoord[model.mesh_facetexcoord].astype(float)
    return np.stack([uv[..., 0], 1.0 - uv[..., 1]], axis=-1)


def test_mapping_to_the_surface_and_back_returns_the_pixel():
    model = one_mesh(*soup())
    placed = place(model, 1, image=np.full((HEIGHT, WIDTH), 255, np.uint8))
    corners, uv = in_body(model), compiled_uv(model)
    rows, columns = np.divmod(placed.pixels.astype(int), WIDTH)
    back = np.full((len(rows), 2), np.nan)
    for k, position in enumerate(placed.positions):
        # The feeler is in the plane of a triangle and inside it.
        sides = corners[:, 1:] - corners[:, :1]
        gram = np.einsum("tik,tjk->tij", sides, sides)
        weights = np.linalg.solve(gram, np.einsum("tik,tk->ti", sides, position - corners[:, 0])[..., None])
        weights = np.column_stack([1 - weights[:, :, 0].sum(axis=1), weights[:, :, 0]])
        off = np.linalg.norm(np.einsum("tk,tki->ti", weights, corners) - position, axis=1)
        face = np.argmin(np.where(weights.min(axis=1) > -1e-9, off, np.inf))
        assert off[face] < 1e-12
        u, v = weights[face] @ uv[face]
        back[k] = u * WIDTH, (1 - v) * HEIGHT
    assert len(rows) > 300
    assert back == pytest.approx(np.stack([columns + 0.5, rows + 0.5], axis=1), abs=1e-9)
    assert placed.uv * [WIDTH, -HEIGHT] + [0, HEIGHT] == pytest.approx(back, abs=1e-9)


def test_each_white_pixel_in_a_triangle_is_a_feeler():
    model = one_mesh(*soup())
    white = RNG.random((HEIGHT, WIDTH)) < 0.4
    placed = place(model, 1, image=white)
    assert len(placed.pixels) == exact_count(compiled_uv(model), white)
    assert len(np.unique(placed.pixels)) == len(placed.pixels)
    assert white.ravel()[placed.pixels].all()


def test_feelers_are_uniform_on_a_uniform_map():
    # A square of 0.2 m covers half of the map, so each of its 40 x 20 pixels has an area of 0.2² / 800 m².
    uv = np.array([[[0, 0], [1, 0], [1, 0.5]], [[0, 0], [1, 0.5], [0, 0.5]]], float)
    corners = np.array([[[0, 0, 0], [0.2, 0, 0], [0.2, 0, 0.2]], [[0, 0, 0], [0.2, 0, 0.2], [0, 0, 0.2]]])
    placed = place(one_mesh(corners, uv), 1, image=np.ones((40, 40), bool))
    assert len(placed.positions) == 800
    assert placed.spacing == pytest.approx(0.2 / 40, rel=1e-6)
    for share in (0.25, 0.5, 0.75):
        # A vertical line divides the feelers in the same ratio as the map.
        assert np.mean(placed.uv[:, 0] < share) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("mirrored", [False, True])
def test_pixels_on_a_shared_edge_count_once_and_normals_point_outward(mirrored):
    # The diagonal goes through the centers of 16 pixels.
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
    space = np.concatenate([square, np.zeros((4, 1))], axis=1)[:, [0, 2, 1]] * 0.1
    faces = [[0, 1, 2], [0, 2, 3]]
    uv = square[:, ::-1] if mirrored else square
    placed = place(one_mesh(space[faces], uv[faces]), 1, image=np.ones((16, 16), bool))
    assert len(placed.pixels) == 256
    # The winding in the xz plane is from x to z, so -y of the mesh is outward, also on a mirrored map.
    model = one_mesh(space[faces], uv[faces])
    a, b, c = in_body(model)[0]
    outward = np.cross(b - a, c - a)
    outward /= np.linalg.norm(outward)
    assert placed.normals == pytest.approx(np.tile(outward, (256, 1)), abs=1e-12)


def test_pixels_on_the_border_or_a_common_corner_count_once():
    # A fan around the center of 5 x 5 pixels; its border goes through the centers of others.
    ring = np.array([[-2, -2], [0, -2], [2, -2], [2, 0], [2, 2], [0, 2], [-2, 2], [-2, 0]]) / 5 + 0.5
    ring = np.round(ring * 1024) / 1024
    fan = np.stack([np.tile([0.5, 0.5], (8, 1)), ring, np.roll(ring, -1, axis=0)], axis=1)
    corners = np.concatenate([fan, fan[..., :1] * fan[..., 1:]], axis=2)
    model = one_mesh(corners, fan)
    white = np.ones((5, 5), bool)
    assert len(place(model, 1, image=white).pixels) == exact_count(compiled_uv(model), white)


def test_only_overlaps_at_white_pixels_are_rejected():
    corners, uv = soup(3)
    uv[4] = uv[7]
    model = one_mesh(corners, uv)
    image = np.ones((60, 60), bool)
    with raises(SceneError, "triangles 4 and 7", "'m'", "'skin'") as caught:
        place(model, 1, image=image, where="here")
    assert str(caught.value).startswith("here: ")
    image[:, 20:] = False
    assert len(place(model, 1, image=image).pixels) > 0


def test_triangle_without_an_area_on_the_map_has_no_pixels():
    corners, uv = soup(3)
    uv[1] = uv[1, :1] + np.linspace(0, 1, 3)[:, None] * (uv[1, 1] - uv[1, 0])
    model = one_mesh(corners, uv)
    white = np.ones((60, 60), bool)
    placed = place(model, 1, image=white)
    assert np.isfinite(placed.positions).all()
    assert abs(placed.positions).max() < 10
    assert len(placed.pixels) == exact_count(np.delete(compiled_uv(model), 1, axis=0), white)


@pytest.mark.parametrize("how", [{"image": np.ones((HEIGHT, WIDTH), bool)}, {"spacing": 0.02}])
def test_whole_repeats_of_the_image_do_not_change_feelers(how):
    corners, uv = soup()
    uv = np.round(uv * 4096) / 4096  # exact in float32, moved or not
    moved = uv + RNG.integers(-5, 6, (len(uv), 1, 2))
    still, repeated = place(one_mesh(corners, uv), 1, **how), place(one_mesh(corners, moved), 1, **how)
    assert len(still.pixels) > 300
    assert (repeated.pixels == still.pixels).all()
    assert repeated.uv == pytest.approx(still.uv, abs=1e-12)
    assert repeated.positions == pytest.approx(still.positions, abs=1e-12)


def test_triangles_across_the_border_continue_at_the_opposite_side():
    # A square of 1 m extends on the map from (0.5, -0.25) to (1.5, 0.75), so it is as large as the image.
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
    faces = [[0, 1, 2], [0, 2, 3]]
    corners = np.concatenate([square, np.zeros((4, 1))], axis=1)[faces]
    placed = place(one_mesh(corners, (square + [0.5, -0.25])[faces]), 1, image=np.ones((8, 8), bool))
    assert placed.pixels.tolist() == list(range(64))
    model = one_mesh(corners, square[faces])
    unmoved = place(model, 1, image=np.ones((8, 8), bool))
    expected = unmoved.positions.reshape(8, 8, 3)
    # It is moved by half a map to the left and a quarter up.
    expected = np.roll(expected, (2, 4), axis=(0, 1)).reshape(-1, 3)
    assert placed.positions == pytest.approx(expected, abs=1e-6)


def test_triangle_that_spans_the_image_twice_overlaps_itself():
    corners, uv = soup(2)
    uv[2] = [[0, 0], [3, 0], [0, 3]]
    image = np.zeros((8, 8), bool)
    image[0, 0] = True  # the corner that the other triangles do not cover
    with raises(SceneError, "triangles 2 and 2", "'m'"):
        place(one_mesh(corners, uv), 1, image=image)
    uv[2] *= 1e30
    with raises(SceneError, "triangle 2", "'m'", "u must", "3e+30"):
        place(one_mesh(corners, uv), 1, image=image)


BRICK = np.array([[x, y, z] for x in (0.3, 0.5) for y in (0.1, 0.4) for z in (-0.2, 0.05)])
SIDES = ["0132", "4675", "0451", "2376", "0264", "1573"]


def brick_obj() -> str:
    """Return the OBJ of a box far from its origin; each side fills one of 3 x 2 cells of the map."""
    lines = [f"v {x} {y} {z}" for x, y, z in BRICK]
    faces = []
    for k, side in enumerate(SIDES):
        for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
            lines.append(f"vt {(k % 3 + u) / 3:.9f} {(k // 3 + v) / 2:.9f}")
        faces.append("f " + " ".join(f"{int(c) + 1}/{4 * k + j + 1}" for j, c in enumerate(side)))
    return "\n".join(lines + faces)


@pytest.mark.parametrize("scale", [1, -1])
def test_feelers_on_an_obj_are_where_the_file_maps_them(tmp_path, scale):
    (tmp_path / "brick.obj").write_text(brick_obj())
    mesh = f'<mesh name="brick" file="brick.obj" scale="{scale} 1 1"/>'
    model = scene(mesh, '<geom type="mesh" mesh="brick"/>', str(tmp_path))
    for k, side in enumerate(SIDES):
        a, b, _, d = BRICK[[int(c) for c in side]] * [scale, 1, 1]
        # One pixel of 2 x 2 in each cell; row 0 is the top row.
        for up in (0, 1):
            for right in (0, 1):
                image = np.zeros((4, 6), np.uint8)
                image[3 - (2 * (k // 3) + up), 2 * (k % 3) + right] = 255
                placed = place(model, 1, image=image)
                expected = a + (b - a) * (0.25 + right / 2) + (d - a) * (0.25 + up / 2)
                assert placed.positions == pytest.approx(expected[None], abs=1e-6)
                middle = BRICK.mean(axis=0) * [scale, 1, 1]
                assert np.abs(placed.normals).max() == pytest.approx(1, abs=1e-6)
                assert (placed.normals[0] * (expected - middle)).sum() > 0.09


def test_inline_mesh_has_row_0_at_v_0():
    # As for textures in MuJoCo, v of texcoord in MJCF points down.
    corners = np.array([[[0, 0, 0], [1, 0, 0], [1, 0, 1]], [[0, 0, 0], [1, 0, 1], [0, 0, 1]]], float)
    down = np.array([[[0, 1], [1, 1], [1, 0]], [[0, 1], [1, 0], [0, 0]]], float)
    model = scene(inline(corners, down * [1, -1] + [0, 1]), f'<geom type="mesh" mesh="m" {VISUAL}/>')
    image = np.zeros((4, 4), bool)
    image[0, 1] = True
    assert place(model, 1, image=image).positions == pytest.approx(np.array([[0.375, 0, 0.875]]), abs=1e-6)
