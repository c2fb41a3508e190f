"""Test the closed skin around several geoms: areas, volumes and normals, also for random bodies."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial import cKDTree
from support.errors import raises

from tactile_sim import SceneError
from tactile_sim.common.names import Names
from tactile_sim.skin import PLACEMENTS
from tactile_sim.skin.placement.merge import merge, separate
from tactile_sim.skin.placement.shapes import Shape

SPACING = 0.01
KINDS = ["sphere", "capsule", "cylinder", "ellipsoid", "box", "mesh"]


def body_of(geoms, asset=""):
    return mujoco.MjModel.from_xml_string(
        f'<mujoco>{asset}<worldbody><body name="b"><freejoint/>'
        f'<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{geoms}</body></worldbody></mujoco>'
    )


def skin_of(model, spacing=SPACING):
    return merge(model, 1, spacing, PLACEMENTS["even"], Names(model))


def shapes_of(model):
    return [Shape.of_geom(model, geom) for geom in range(model.ngeom)]


def random_body(seed, scale=1.0, move=0.0):
    """Return a body of two to six random geoms that measure 1.5 to 8 spacings; some are on a grid."""
    rng = np.random.default_rng(seed)
    geoms, assets = [], []
    for k in range(rng.integers(2, 7)):
        kind = rng.choice(KINDS)
        size, position = rng.uniform(1.5, 8, 3), rng.uniform(-6, 6, 3)
        turn = rng.normal(size=4) if rng.random() < 0.6 else [1, 0, 0, 0]
        if rng.random() < 0.3:
            size, position = np.ceil(size), np.round(position)
        what = f'type="{kind}" size="{text(size * SPACING * scale)}"'
        if kind == "mesh":
            corners = rng.normal(size=(30, 3)) * size * 0.6
            assets.append(f'<mesh name="m{k}" vertex="{text(corners * SPACING * scale)}"/>')
            what = f'type="mesh" mesh="m{k}"'
        geoms.append(f'<geom {what} pos="{text(position * SPACING * scale + move)}" quat="{text(turn)}"/>')
    return body_of("".join(geoms), f"<asset>{''.join(assets)}</asset>")


def text(values):
    return " ".join(f"{value:.17g}" for value in np.ravel(values))


def check_closed(skin, characteristic=None):
    """Assert that the triangles of a skin form closed surfaces and that each taxel has a triangle.

    Args:
        skin: The skin.
        characteristic: Expected Euler characteristic; None to skip this check.
    """
    triangles = skin.triangles.astype(int)
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    directed = set(map(tuple, sides))
    assert len(directed) == len(sides)
    assert all((b, a) in directed for a, b in directed)
    assert len(np.unique(triangles)) == len(skin.positions)
    if characteristic is not None:
        assert len(skin.positions) - len(sides) // 2 + len(triangles) == characteristic


def volume(skin):
    a, b, c = np.moveaxis(skin.positions[skin.triangles.astype(int)], 1, 0)
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


def on_triangles(skin, each=8):
    """Return points on the triangles and the outward normals of these triangles."""
    corners = skin.positions[skin.triangles.astype(int)]
    weights = np.random.default_rng(0).dirichlet(np.ones(3), each)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    return np.einsum("wk,tki->twi", weights, corners).reshape(-1, 3), np.repeat(normals, each, axis=0)


def test_area_of_two_spheres_is_that_of_two_caps():
    first, second, apart = 0.1, 0.08, 0.12
    skin = skin_of(body_of(f'<geom size="{first}"/><geom type="sphere" size="{second}" pos="0 0 {apart}"/>'))
    # Height of the plane of the intersection circle above the first center.
    height = (apart**2 + first**2 - second**2) / (2 * apart)
    area = 2 * np.pi * (first * (first + height) + second * (second + apart - height))
    check_closed(skin, characteristic=2)
    assert skin.areas.sum() == pytest.approx(area, rel=2e-3)
    assert len(skin.positions) == pytest.approx(area / SPACING**2, rel=0.03)
    # Taxels are on that circle, about one spacing apart.
    on_both = np.abs(np.linalg.norm(skin.positions, axis=1) - first) < 1e-9
    on_both &= np.abs(np.linalg.norm(skin.positions - [0, 0, apart], axis=1) - second) < 1e-9
    assert on_both.sum() == pytest.approx(2 * np.pi * np.sqrt(first**2 - height**2) / SPACING, rel=0.2)
    assert np.abs(skin.positions[on_both, 2] - height).max() < 1e-9


def test_area_of_a_sphere_with_arms():
    sphere, arm, length = 0.1, 0.03, 0.2
    ends = [(length, 0, 0), (0, length, 0), (0, 0, length), (0, 0, -length)]
    arms = (f'<geom type="capsule" size="{arm}" fromto="0 0 0 {text(end)}"/>' for end in ends)
    skin = skin_of(body_of(f'<geom size="{sphere}"/>' + "".join(arms)))
    root = np.sqrt(sphere**2 - arm**2)
    per_arm = 2 * np.pi * (arm * (length - root) + arm**2 - sphere * (sphere - root))
    check_closed(skin, characteristic=2)
    assert skin.areas.sum() == pytest.approx(4 * np.pi * sphere**2 + 4 * per_arm, rel=2e-3)


def test_two_boxes_touching_face_to_face_form_an_l():
    lying, standing = '<geom type="box" size=".1 .03 .03"/>', '<geom type="box" size=".03 .03 .05" {}/>'
    skin = skin_of(body_of(lying + standing.format('pos=".07 0 .08" euler="0 0 90"')))
    check_closed(skin, characteristic=2)
    assert skin.areas.sum() == pytest.approx(8 * (0.006 + 0.0009) + 4 * 0.06 * 0.1, rel=2e-3)
    assert volume(skin) == pytest.approx(8 * (9e-5 + 4.5e-5), rel=2e-3)
    # Normals are those of a face, or their mean at an edge, but not at the concave edge of the L.
    at_inner_edge = (np.abs(skin.positions[:, 0] - 0.04) < 1e-9) & (
        np.abs(skin.positions[:, 2] - 0.03) < 1e-9
    )
    inner = skin.normals[at_inner_edge & (np.abs(skin.positions[:, 1]) < 0.029)]
    assert len(inner) >= 4
    upright, sideways = np.abs(inner - [0, 0, 1]).max(axis=1), np.abs(inner - [-1, 0, 0]).max(axis=1)
    assert np.minimum(upright, sideways).max() < 1e-9


def test_two_flush_boxes_form_one_bar():
    boxes = '<geom type="box" size=".1 .05 .05"/><geom type="box" size=".1 .05 .05" pos="{} 0 0"/>'
    for shift, length in ((0.2, 0.4), (0.13, 0.33)):
        skin = skin_of(body_of(boxes.format(shift)))
        check_closed(skin, characteristic=2)
        assert skin.areas.sum() == pytest.approx(4 * 0.1 * length + 2 * 0.01, rel=3e-3)
        assert volume(skin) == pytest.approx(0.01 * length, rel=3e-3)


def test_thin_plates_that_meet_have_taxels_on_both_sides():
    plates = '<geom type="box" size=".1 .1 .001"/><geom type="box" size=".001 .1 .05" pos="0 0 .05"/>'
    skin = skin_of(body_of(plates))
    check_closed(skin, characteristic=2)
    half = skin.normals[skin.geom_index == 1, 0]
    assert (half > 0.9).sum() > 150
    assert (half < -0.9).sum() > 150
    assert skin.areas.sum() == pytest.approx(8 * (0.01 + 2e-4) + 0.198 * 0.2 + 0.004 * 0.099, rel=3e-3)


def test_separate_geoms_keep_their_own_skins():
    ball, box = '<geom size=".05"/>', '<geom type="box" size=".04 .05 .06" pos=".2 0 0"/>'
    both, one, other = (skin_of(body_of(geoms)) for geoms in (ball + box, ball, box))
    np.testing.assert_array_equal(both.positions, np.concatenate([one.positions, other.positions]))
    np.testing.assert_array_equal(both.areas, np.concatenate([one.areas, other.areas]))
    check_closed(both, characteristic=4)
    assert (both.geom_index[both.edges[:, 0]] == both.geom_index[both.edges[:, 1]]).all()


def test_hollow_of_six_plates_has_taxels_inside_and_outside():
    plates = "".join(
        f'<geom type="box" size=".05 .05 .005" pos="{text(0.045 * sign * np.eye(3)[axis])}" '
        f'zaxis="{text(np.eye(3)[axis])}"/>'
        for axis in range(3)
        for sign in (-1, 1)
    )
    skin = skin_of(body_of(plates))
    check_closed(skin, characteristic=4)
    assert skin.areas.sum() == pytest.approx(6 * (0.1**2 + 0.08**2), rel=5e-3)
    assert volume(skin) == pytest.approx(0.1**3 - 0.08**3, rel=5e-3)


def test_geoms_across_a_narrow_gap_are_neighbors_without_triangles():
    boxes = '<geom type="box" size=".05 .05 .05"/><geom type="box" size=".05 .05 .05" pos=".103 0 0"/>'
    skin = skin_of(body_of(boxes))
    check_closed(skin, characteristic=4)
    assert (skin.geom_index[skin.edges[:, 0]] != skin.geom_index[skin.edges[:, 1]]).sum() > 20


@pytest.mark.parametrize("seed", range(14))
def test_random_body_has_one_even_closed_skin(seed):
    model = random_body(seed)
    skin, shapes = skin_of(model), shapes_of(model)
    check_closed(skin)
    assert (np.diff(skin.geom_index.astype(int)) >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(skin.normals, axis=1), 1)
    assert skin.areas.min() > 0
    for geom, shape in enumerate(shapes):
        own = skin.geom_index == geom
        assert np.abs(shape.depth(skin.positions[own])).max(initial=0) < 1e-9
        assert shape.depth(skin.positions[~own]).max(initial=-1) < 2.1e-3 * SPACING
        assert shape.depth(skin.positions[own] + 1e-3 * SPACING * skin.normals[own]).max(initial=-1) < 0
    nearest = cKDTree(skin.positions).query(skin.positions, k=2)[0][:, 1] / SPACING
    assert np.quantile(nearest, 0.01) > 0.45
    assert 0.9 < np.median(nearest) < 1.05
    points, normals = on_triangles(skin)
    distance, taxel = cKDTree(skin.positions).query(points, k=12)
    assert distance[:, 0].max() < 1.1 * SPACING
    # Near every point, there is a taxel that faces the same direction.
    facing = np.einsum("ni,nki->nk", normals, skin.normals[taxel]) > -0.3
    assert np.where(facing, distance, np.inf).min(axis=1).max() < 2 * SPACING


@pytest.mark.parametrize("seed", range(4))
def test_volume_of_the_skin_is_that_of_the_geoms(seed):
    model = random_body(seed)
    skin, shapes = skin_of(model, SPACING / 2), shapes_of(model)
    low, high = skin.positions.min(axis=0) - SPACING, skin.positions.max(axis=0) + SPACING
    points = np.random.default_rng(seed).uniform(low, high, (200_000, 3))
    filled = np.max([shape.depth(points) for shape in shapes], axis=0) > 0
    # Flat triangles cut off about h²/6r of a curved surface; sampling is accurate to 0.5 %.
    assert volume(skin) == pytest.approx(filled.mean() * np.prod(high - low), rel=0.03)


@pytest.mark.parametrize("scale, move", [(1e-3, 0.0), (1e3, 0.0), (1.0, 100.0)])
def test_skin_is_independent_of_size_and_position(scale, move):
    plain, other = skin_of(random_body(2)), skin_of(random_body(2, scale, move), SPACING * scale)
    check_closed(other)
    assert len(other.positions) == pytest.approx(len(plain.positions), abs=5)
    assert other.areas.sum() / scale**2 == pytest.approx(plain.areas.sum(), rel=1e-4)


def test_forty_geoms_form_one_skin():
    rng = np.random.default_rng(0)
    geoms = (
        f'<geom type="{rng.choice(KINDS[:5])}" size="{text(rng.uniform(0.01, 0.04, 3))}" '
        f'pos="{text(rng.uniform(-0.08, 0.08, 3))}" quat="{text(rng.normal(size=4))}"/>'
        for _ in range(40)
    )
    skin = skin_of(body_of("".join(geoms)))
    check_closed(skin)
    assert len(np.unique(skin.geom_index)) > 20


@pytest.mark.parametrize("seed", range(20, 26))
def test_geoms_smaller_than_spacing_form_a_closed_skin(seed):
    model = random_body(seed)
    skin = skin_of(model, 0.2)
    check_closed(skin)
    assert 4 <= len(skin.positions) <= 60


@pytest.mark.parametrize("seed", range(3))
def test_normals_point_out_of_very_thin_meshes(seed):
    rng = np.random.default_rng(seed)
    size = [0.004 * SPACING, 0.5 * SPACING, 8 * SPACING]
    leaf = text(rng.normal(size=(30, 3)) * size)
    model = body_of(
        f'<geom type="mesh" mesh="leaf"/><geom size="{2 * SPACING}"/>',
        f'<asset><mesh name="leaf" inertia="convex" vertex="{leaf}"/></asset>',
    )
    skin, shape = skin_of(model), Shape.of_geom(model, 0)
    check_closed(skin)
    own = skin.geom_index == 0
    assert own.sum() > 20
    ahead = skin.positions[own] + 1e-5 * shape.thickness * skin.normals[own]
    assert shape.depth(ahead).max() < 0


def test_skin_of_a_body_is_deterministic():
    first, second = skin_of(random_body(5)), skin_of(random_body(5))
    np.testing.assert_array_equal(first.positions, second.positions)
    np.testing.assert_array_equal(first.triangles, second.triangles)


def test_separate_geoms_keep_all_their_taxels():
    model = body_of('<geom size=".05"/><geom size=".05" pos=".05 0 0"/>')
    both = separate(model, 1, SPACING, PLACEMENTS["even"], Names(model))
    check_closed(both, characteristic=4)
    assert both.areas.sum() == pytest.approx(8 * np.pi * 0.05**2)
    assert (both.geom_index[both.edges[:, 0]] == both.geom_index[both.edges[:, 1]]).all()


def test_unsupported_geom_is_named():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 1" elevation="0 1 1 0"/></asset>'
        '<worldbody><geom name="rock" size=".1"/><geom name="land" type="hfield" hfield="hills"/></worldbody>'
        "</mujoco>"
    )
    with raises(SceneError, "'land'", "height field"):
        merge(model, 0, SPACING, PLACEMENTS["even"], Names(model))
