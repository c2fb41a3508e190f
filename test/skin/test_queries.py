"""Queries for the taxels near a point, compared with a brute-force search."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from support.errors import raises

from tactile_sim import SceneError
from tactile_sim.skin import Skin

SPACING = 0.01


def skin_of(geoms, spacing=SPACING, **options):
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><body><freejoint/>{geoms}</body></worldbody></mujoco>"
    )
    return Skin(model, {1: spacing}, **options)


@pytest.fixture(scope="module")
def dumbbell():
    """Return a skin that is one patch on a capsule, a ball and a box."""
    return skin_of(
        '<geom type="capsule" size=".015 .06" euler="20 70 0"/><geom size=".03" pos=".05 .02 .02"/>'
        '<geom type="box" size=".03 .02 .03" pos="-.05 0 0"/>'
    )


def points_about(skin, count, seed=0):
    """Return random points (count, 3) on the skin, near it, inside it and far away."""
    rng = np.random.default_rng(seed)
    start = skin.positions[rng.integers(len(skin.positions), size=count)]
    return start + rng.normal(size=(count, 3)) * rng.choice([0, 0.003, 0.02, 1], (count, 1))


def straight(skin, points):
    return np.linalg.norm(skin.positions - points[:, None], axis=2)


@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_the_k_nearest_are_those_of_a_full_sort(dumbbell, k):
    points = points_about(dumbbell, 300)
    taxels, distances = dumbbell.k_nearest_taxels(0, points, k)
    all_of_them = straight(dumbbell, points)
    np.testing.assert_allclose(distances, np.sort(all_of_them, axis=1)[:, :k], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(np.take_along_axis(all_of_them, taxels, 1), distances, rtol=1e-12, atol=1e-15)
    assert all(len(set(row)) == k for row in taxels)


def test_of_equally_near_taxels_the_first_is_first():
    skin = skin_of('<geom type="box" size=".1 .1 .1"/>')
    taxels, distances = skin.k_nearest_taxels(0, np.zeros((1, 3)), 6)
    assert np.ptp(distances) < 1e-15
    np.testing.assert_array_equal(taxels[0], np.sort(taxels[0]))


def test_more_taxels_than_there_are_gives_all(dumbbell):
    taxels, distances = dumbbell.k_nearest_taxels(0, np.zeros(3), 10**6)
    np.testing.assert_array_equal(np.sort(taxels[0]), np.arange(len(dumbbell.positions)))
    assert (np.diff(distances[0]) >= 0).all()


def test_the_nearest_taxel_of_points_at_once_is_that_of_each(dumbbell):
    points = points_about(dumbbell, 50, seed=1)
    taxels, distances = dumbbell.nearest_taxels(0, points)
    np.testing.assert_array_equal(taxels, straight(dumbbell, points).argmin(axis=1))
    for point, taxel, distance in zip(points, taxels, distances, strict=True):
        assert [each.item() for each in dumbbell.nearest_taxels(0, point)] == [taxel, distance]


def test_taxels_within_a_distance_are_those_that_join_the_nearest_one_inside_it(dumbbell):
    points = points_about(dumbbell, 200, seed=2)
    limits = np.random.default_rng(2).uniform(0.5, 5, len(points)) * SPACING
    begin, beside = dumbbell.neighbors
    edges = np.repeat(np.arange(len(dumbbell.positions)), np.diff(begin)), beside
    graph = coo_array((np.ones(len(beside)), edges), shape=2 * (len(dumbbell.positions),)).tocsr()
    cut_off = 0
    found = dumbbell.taxels_within(0, points, limits)
    for (taxels, distances), limit, distance in zip(found, limits, straight(dumbbell, points), strict=True):
        ball = np.flatnonzero(distance <= limit)
        if len(ball):
            _, part = connected_components(graph[ball][:, ball], directed=False)
            joined = ball[part == part[np.argmin(distance[ball])]]
            cut_off += len(ball) - len(joined)
        else:
            joined = ball
        np.testing.assert_array_equal(np.sort(taxels), joined)
        np.testing.assert_allclose(distances, np.sort(distance[joined]), rtol=1e-12, atol=1e-15)
    assert cut_off > 0


def test_no_point_has_no_taxel_and_a_far_one_has_none_within_reach(dumbbell):
    assert dumbbell.taxels_within(0, np.empty((0, 3)), 0.1) == []
    assert dumbbell.k_nearest_taxels(0, np.empty((0, 3)), 3)[0].shape == (0, 3)
    ((taxels, distances),) = dumbbell.taxels_within(0, [1.0, 0, 0], 0.1)
    assert len(taxels) == len(distances) == 0


def test_each_geom_is_asked_by_itself_where_skins_are_on_geoms():
    skin = skin_of(
        '<geom size=".03"/><geom type="box" size=".01 .02 .03" pos=".02 0 0" euler="10 20 30"/>', kind="geom"
    )
    assert list(skin.patch_ids) == [0, 1]
    points = points_about(skin, 50)
    for patch in (0, 1):
        own = slice(*skin.patch_offsets[patch : patch + 2])
        expected = np.linalg.norm(skin.positions[own] - points[:, None], axis=2).argmin(axis=1)
        np.testing.assert_array_equal(skin.nearest_taxels(patch, points)[0], expected)
        for taxels, _ in skin.taxels_within(patch, points, 0.03):
            assert (taxels < own.stop - own.start).all()


@pytest.mark.parametrize("distance", ["euclidean", "surface"])
def test_points_far_away_do_no_harm(distance):
    skin = skin_of('<geom size=".03"/>', distance=distance)
    taxels, _ = skin.k_nearest_taxels(0, [1e300, 0, 0], 3)
    assert len(set(taxels[0])) == 3
    skin.taxels_within(0, [1e300, 0, 0], 0.02)
    ((taxels, _),) = skin.taxels_within(0, [0.03, 0, 0], 0.02)
    assert len(taxels) > 5


class TestAlongTheSurface:
    def test_on_a_flat_part_it_is_the_straight_distance(self):
        skin = skin_of('<geom type="box" size=".1 .1 .02"/>', distance="surface")
        for point in np.random.default_rng(0).uniform(-0.04, 0.04, (10, 3)) * [1, 1, 0] + [0, 0, 0.02]:
            ((taxels, distances),) = skin.taxels_within(0, point, 0.05)
            assert len(taxels) > 60
            expected = np.linalg.norm(skin.positions[taxels] - point, axis=1)
            np.testing.assert_allclose(distances, expected, atol=1e-12)

    @pytest.mark.parametrize(("spacings", "exactness"), [(2, 0.04), (4, 0.02), (10, 0.005)])
    def test_on_a_sphere_it_is_that_of_great_circles(self, spacings, exactness):
        radius = spacings * SPACING
        skin = skin_of(f'<geom size="{radius}"/>', distance="surface")
        directions = np.random.default_rng(1).normal(size=(20, 3))
        points = radius * directions / np.linalg.norm(directions, axis=1, keepdims=True)
        for point, (taxels, distances) in zip(points, skin.taxels_within(0, points, 0.05), strict=True):
            expected = radius * np.arccos(np.clip(skin.positions[taxels] @ point / radius**2, -1, 1))
            far = expected > SPACING
            np.testing.assert_allclose(distances[far], expected[far], rtol=exactness)
            np.testing.assert_allclose(distances, expected, atol=exactness * 0.05)

    def test_over_the_edge_of_a_box_it_is_that_on_the_unfolded_box(self):
        skin = skin_of('<geom type="box" size=".1 .1 .1"/>', distance="surface")
        rng = np.random.default_rng(3)
        over = 0
        for x, y in rng.uniform([-0.05, 0.06], [0.05, 0.1], (30, 2)):
            ((taxels, distances),) = skin.taxels_within(0, [x, y, 0.1], 0.05)
            there = skin.positions[taxels]
            across = np.where(there[:, 2] < 0.1 - 1e-9, 0.1 - y + 0.1 - there[:, 2], there[:, 1] - y)
            np.testing.assert_allclose(distances, np.hypot(there[:, 0] - x, across), atol=0.2 * SPACING)
            over += (there[:, 2] < 0.1 - 1e-9).sum()
        assert over > 100

    def test_the_other_face_of_a_plate_is_as_far_as_the_way_around_its_rim(self):
        skin = skin_of('<geom type="box" size=".1 .1 .0005"/>', distance="surface")
        ((taxels, _),) = skin.taxels_within(0, [0, 0, 0.0005], 0.05)
        assert (skin.positions[taxels, 2] > 0).all()
        taxels, distances = skin.k_nearest_taxels(0, [0, 0, 0.0005], len(skin.positions))
        middle_below = np.argmin(np.linalg.norm(skin.positions[taxels[0]] - [0, 0, -0.0005], axis=1))
        assert distances[0, middle_below] == pytest.approx(0.2, abs=0.01)

    def test_what_no_path_leads_to_comes_last_and_infinitely_far(self):
        skin = skin_of('<geom size=".02"/><geom size=".02" pos=".1 0 0"/>', distance="surface")
        taxels, distances = skin.k_nearest_taxels(0, [0, 0, 0.02], len(skin.positions))
        np.testing.assert_array_equal(np.sort(taxels[0]), np.arange(len(skin.positions)))
        beyond = skin.positions[taxels[0], 0] > 0.05
        np.testing.assert_array_equal(np.isinf(distances[0]), beyond)
        assert 0 < beyond.sum() == np.flatnonzero(beyond)[-1] - np.flatnonzero(beyond)[0] + 1


@pytest.mark.parametrize("patch", [1, -1])
def test_unknown_patches_are_rejected(dumbbell, patch):
    for query in (dumbbell.k_nearest_taxels, dumbbell.taxels_within):
        with raises(SceneError, "patch", str(patch)):
            query(patch, np.zeros(3), 1)
