"""Test the map of a whole skin: a hand of capsules with known rest positions, and shipped scenes."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim.figures import colors
from tactile_sim.figures.skin_map import GAP, MARGIN, RestPose, SkinMap, limbs, pad_parents, separate

FINGERS = {"little": -0.03, "ring": -0.01, "middle": 0.01, "index": 0.03}
RADIUS, LENGTH, SPACING = 0.008, 0.024, 0.003


def cylinder(radius, length, spacing):
    """Return points on and outward normals of a cylinder along z."""
    around, along = round(2 * np.pi * radius / spacing), round(length / spacing)
    angle, height = np.meshgrid(
        np.arange(around) / around * 2 * np.pi, np.linspace(-0.5, 0.5, along) * length
    )
    normals = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1).reshape(-1, 3)
    return radius * normals + np.outer(height.ravel(), [0, 0, 1]), normals


UPRIGHT = np.eye(3)


def hand(turn=UPRIGHT) -> RestPose:
    """Return a hand in the x-z plane, rotated: a palm, four fingers along z, and a thumb along x."""
    names, parents, parts = ["palm"], [0], []
    points, normals = cylinder(0.03, 0.06, 0.004)
    parts.append((points * [1, 0.3, 1], normals))
    for finger, x in FINGERS.items():
        for k in range(3):  # the distances between the phalanges are smaller than their lengths
            names.append(f"{finger}_{k}")
            parents.append(0 if k == 0 else len(names) - 2)
            points, normals = cylinder(RADIUS, LENGTH, SPACING)
            parts.append((points + [x, 0.005 * k, 0.045 + 0.018 * k], normals))
    for k in range(2):
        names.append(f"thumb_{k}")
        parents.append(0 if k == 0 else len(names) - 2)
        points, normals = cylinder(RADIUS, LENGTH, SPACING)
        parts.append((points[:, [2, 1, 0]] + [0.05 + 0.02 * k, 0, 0], normals[:, [2, 1, 0]]))
    spacings = np.array([0.004] + [SPACING] * (len(parts) - 1))
    positions, directions = (np.concatenate(each) @ turn.T for each in zip(*parts, strict=True))
    counts = np.array([len(points) for points, _ in parts])
    return RestPose(names, counts, np.array(parents), positions, directions, spacings)


def quarter(axis):
    """Return the rotation by 90 degrees about an axis."""
    a, b = [k for k in range(3) if k != axis]
    turn = np.eye(3)
    turn[a, a] = turn[b, b] = 0
    turn[a, b], turn[b, a] = -1, 1
    return turn


@pytest.fixture(params=[None, 0, 1, 2], ids=["upright", "x", "y", "z"])
def posed(request):
    return hand(UPRIGHT if request.param is None else quarter(request.param))


def centers_of(pose, chart):
    return dict(zip(pose.names, chart.centers, strict=True))


def test_fingers_have_the_order_of_their_rest_positions(posed):
    chart = SkinMap(posed)
    centers = centers_of(posed, chart)
    starts = posed.starts
    right = posed.positions @ chart.axes[0]
    for k in range(3):
        names = [f"{finger}_{k}" for finger in FINGERS]
        rest = [right[starts[pad] : starts[pad + 1]].mean() for pad in map(posed.names.index, names)]
        assert np.argsort([centers[name][0] for name in names]).tolist() == np.argsort(rest).tolist()


def test_distal_parts_are_above_proximal_ones_and_the_palm_is_at_the_bottom(posed):
    centers = centers_of(posed, SkinMap(posed))
    for finger in FINGERS:
        heights = [-centers[name][1] for name in ("palm", *(f"{finger}_{k}" for k in range(3)))]
        assert heights == sorted(heights)


def test_thumb_is_beside_the_palm(posed):
    centers = centers_of(posed, SkinMap(posed))
    first, second = (np.abs(centers[name] - centers["palm"]) for name in ("thumb_0", "thumb_1"))
    assert first[0] > first[1] and second[0] > first[0]


def test_pads_do_not_overlap_and_are_inside_the_image(posed):
    chart = SkinMap(posed)
    apart = np.abs(chart.centers[:, None] - chart.centers)
    free = (apart >= chart.halves[:, None] + chart.halves - 1e-6).any(axis=2)
    assert (free | np.eye(len(free), dtype=bool)).all()
    assert (chart.centers - chart.halves >= 0).all()
    assert (chart.centers[:, 0] + chart.halves[:, 0] <= chart.width / 2).all()
    assert (chart.centers[:, 1] + chart.halves[:, 1] <= chart.height).all()


def test_all_pads_have_the_same_scale(posed):
    zooms = SkinMap(posed).zooms
    assert zooms.max() == zooms.min() > 0


def test_each_taxel_is_drawn_in_one_place():
    pose = hand()
    chart = SkinMap(pose)
    assert np.unique(chart.taxels).tolist() == list(range(len(pose.positions)))
    assert len(np.unique(chart.pixels)) == len(chart.pixels)
    rows, columns = np.divmod(chart.pixels, chart.width)
    diameter = SPACING * chart.zooms[0] * 1.5
    for taxel in range(0, len(pose.positions), 7):
        own = chart.taxels == taxel
        assert np.ptp(rows[own]) <= diameter and np.ptp(columns[own]) <= diameter


def test_front_and_back_show_the_taxels_that_face_them():
    pose = hand()
    chart = SkinMap(pose)
    in_back = chart.pixels % chart.width >= chart.width / 2
    facing = (pose.normals @ chart.axes[2])[chart.taxels]
    assert (facing[in_back] < 0.0).all() and (facing[~in_back] > -0.1).all()


def test_stacked_map_has_the_back_below_the_front():
    pose = hand()
    beside, stacked = SkinMap(pose), SkinMap(pose, stacked=True)
    assert (stacked.width, stacked.height) == (beside.width // 2, 2 * beside.height)
    facing = (pose.normals @ stacked.axes[2])[stacked.taxels]
    in_back = stacked.pixels // stacked.width >= beside.height
    assert (facing[in_back] < 0.0).all() and (facing[~in_back] > -0.1).all()
    assert len(np.unique(stacked.taxels)) == len(pose.positions)


def test_only_touched_taxels_glow():
    pose = hand()
    chart = SkinMap(pose)
    readings = np.zeros(len(pose.positions))
    dark = chart.image(readings, 1.0)
    readings[[5, 300]] = 1.0, np.nan
    bright = chart.image(readings, 1.0)
    changed = np.flatnonzero((bright != dark).any(axis=2).ravel())
    assert changed.tolist() == sorted(chart.pixels[chart.taxels == 5].tolist())
    assert (bright.reshape(-1, 3)[changed] == colors.colors(1.0, 1.0)).all()


def test_cylinder_is_unrolled():
    radius, spacing = 0.005, 0.001
    points, normals = cylinder(radius, 0.03, spacing)
    pose = RestPose(("a",), np.array([len(points)]), np.array([0]), points, normals, np.array([spacing]))
    chart = SkinMap(pose)
    quarter = radius * np.pi / 2  # of the circumference, which is shown on each side of the middle
    half = (chart.halves[0, 0] - GAP / 2) / chart.zooms[0] - MARGIN * spacing
    assert half == pytest.approx(quarter, rel=0.05)


def test_unreadable_parts_make_a_grid():
    points, normals = cylinder(1.0, 3.0, 0.2)
    small = points / 1000
    pose = RestPose(
        ("robot", "finger"),
        np.array([len(points)] * 2),
        np.array([0, 0]),
        np.concatenate([points, small + [0, 0, 3]]),
        np.concatenate([normals, normals]),
        np.array([0.2, 0.0002]),
    )
    chart = SkinMap(pose)
    assert chart.zooms[1] == pytest.approx(1000 * chart.zooms[0], rel=0.01)
    assert len(np.unique(chart.taxels)) == 2 * len(points)


def test_one_sided_skin_has_no_back():
    xy = np.stack(np.meshgrid(range(8), range(5)), axis=-1).reshape(-1, 2) * 0.005
    points = np.column_stack([xy, np.zeros(len(xy))])
    one = RestPose(
        ("pad",), np.array([40]), np.array([0]), points, np.tile([0, 0, 1.0], (40, 1)), np.array([0.005])
    )
    chart = SkinMap(one)
    assert chart.centers[0, 0] == pytest.approx(chart.width / 2, abs=5)
    assert len(np.unique(chart.taxels)) == 40


def test_parents_skip_bodies_without_pads():
    # bodies: world, hand, joint without skin, finger with two pads
    assert pad_parents(np.array([1, 3, 3]), np.array([0, 0, 1, 2])).tolist() == [0, 0, 0]
    assert pad_parents(np.array([1, 3]), np.zeros(0)).tolist() == [0, 1]


def test_limbs_end_at_branches():
    assert limbs(np.array([0, 0, 1, 2, 0, 4])).tolist() == [0, 1, 1, 1, 4, 4]


def test_boxes_at_the_same_place_are_separated():
    placed = separate(np.zeros((6, 2)), np.ones((6, 2)), np.arange(6))
    apart = np.abs(placed[:, None] - placed)
    assert ((apart >= 2 - 1e-6).any(axis=2) | np.eye(6, dtype=bool)).all()
