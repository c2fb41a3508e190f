"""Several geoms of a body that form one skin."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from support.errors import raises

from tactile_sim import SceneError
from tactile_sim.common.names import Names
from tactile_sim.skin import Skin
from tactile_sim.skin.placement.merge import Placement, merge
from tactile_sim.skin.placement.surface import Surface

TETRAHEDRON = '<asset><mesh name="tetra" vertex="0 0 0  .2 0 0  0 .2 0  0 0 .2"/></asset>'


def body_of(geoms, asset="", extra=""):
    """Return a model whose body 1 has these geoms."""
    return mujoco.MjModel.from_xml_string(
        f'<mujoco>{asset}<worldbody><geom name="floor" type="plane" size="1 1 .1"/>'
        f'<body name="b"><freejoint/>{geoms}</body></worldbody>{extra}</mujoco>'
    )


def in_box(points, half, center=(0, 0, 0)):
    return (np.asarray(half) - np.abs(points - np.asarray(center))).min(axis=1)


def neighbors(skin, taxel):
    """Return the taxels that are within three spacings of a taxel and connected to it along the surface."""
    (around,) = skin.taxels_within(0, skin.positions[taxel], 3 * skin.spacings[0])
    return around[0]


SIBLINGS = {
    "sphere": ('type="sphere" size=".1"', lambda p: 0.1 - np.linalg.norm(p, axis=1)),
    "capsule": (
        'type="capsule" size=".05 .1"',
        lambda p: 0.05 - np.linalg.norm(p - np.clip(p, -0.1, 0.1) * [0, 0, 1], axis=1),
    ),
    "cylinder": (
        'type="cylinder" size=".08 .06"',
        lambda p: np.minimum(0.08 - np.hypot(p[:, 0], p[:, 1]), 0.06 - np.abs(p[:, 2])),
    ),
    "ellipsoid": (
        'type="ellipsoid" size=".1 .05 .12"',
        lambda p: (1 - np.linalg.norm(p / [0.1, 0.05, 0.12], axis=1)) * 0.05,
    ),
    "box": ('type="box" size=".1 .05 .07"', lambda p: in_box(p, (0.1, 0.05, 0.07))),
    "mesh": (
        'type="mesh" mesh="tetra"',
        lambda p: np.minimum(p.min(axis=1), (0.2 - p.sum(axis=1)) / np.sqrt(3)),
    ),
}


@pytest.mark.parametrize("kind", SIBLINGS)
def test_no_taxel_is_inside_another_geom(kind):
    attributes, depth = SIBLINGS[kind]
    model = body_of(
        f'<geom {attributes}/><geom type="box" size=".15 .03 .03" pos=".05 .02 .01"/>', TETRAHEDRON
    )
    skin = Skin(model, {1: 0.01})
    first, second = skin.positions[skin.geom_index == 0], skin.positions[skin.geom_index == 1]
    assert in_box(first, (0.15, 0.03, 0.03), (0.05, 0.02, 0.01)).max() < 1e-4
    assert depth(second).max() < 1e-4
    assert len(first) > 50
    assert len(second) > 50


def test_geom_inside_another_has_no_taxels():
    skin = Skin(body_of('<geom type="box" size=".1 .1 .1"/><geom type="sphere" size=".05"/>'), {1: 0.02})
    assert set(skin.geom_index) == {0}
    assert len(skin.positions) == len(
        Skin(body_of('<geom type="box" size=".1 .1 .1"/>'), {1: 0.02}).positions
    )


def test_two_equal_boxes_have_the_skin_of_one():
    box = '<geom type="box" size=".1 .1 .1" euler="10 20 30"/>'
    twice, once = Skin(body_of(box + box), {1: 0.02}), Skin(body_of(box), {1: 0.02})
    np.testing.assert_array_equal(twice.positions, once.positions)


def test_no_taxels_where_two_boxes_touch_face_to_face():
    boxes = '<geom type="box" size=".1 .1 .1"/><geom type="box" size=".05 .05 .05" pos="0 0 .15"/>'
    skin = Skin(body_of(boxes), {1: 0.01})
    in_plane = np.abs(skin.positions[:, 2] - 0.1) < 1e-9
    under_the_small_one = (np.abs(skin.positions[:, :2]) < 0.05 - 1e-6).all(axis=1)
    assert not (in_plane & under_the_small_one).any()
    # Exposed area: 6 faces minus one covered patch, plus 5 faces.
    assert skin.areas.sum() == pytest.approx(6 * 0.04 - 0.01 + 5 * 0.01, rel=0.05)


def test_skin_is_connected_across_geoms():
    capsule = '<geom type="capsule" size=".05" fromto="0 0 0 {} 0 0"/>'
    skin = Skin(body_of(capsule.format(0.2) + '<geom type="sphere" size=".07" pos=".2 0 0"/>'), {1: 0.01})
    crossing = [t for t in range(len(skin.positions)) if len(set(skin.geom_index[neighbors(skin, t)])) == 2]
    # The seam is a circle with a circumference of about 2 pi 0.05, with 3 spacings on each side.
    assert len(crossing) > 100


def test_skin_is_not_connected_between_plates_one_spacing_apart():
    plates = '<geom type="box" size=".1 .1 .001"/><geom type="box" size=".1 .1 .001" pos="0 0 .012"/>'
    skin = Skin(body_of(plates), {1: 0.01})
    for taxel in range(len(skin.positions)):
        assert len(set(skin.geom_index[neighbors(skin, taxel)])) == 1


def test_body_with_all_taxels_inside_geoms_keeps_the_least_deep():
    model = body_of('<geom type="sphere" size=".1"/><geom type="sphere" size=".08" pos=".02 0 0"/>')

    def center_only(shape, spacing):
        return Surface(shape.position[None], np.eye(3)[:1], np.ones(1), np.empty((0, 3), np.int64))

    kept = merge(model, 1, 0.5, Placement(center_only), Names(model))
    # The first center is 0.06 deep in the second sphere, the second one 0.08 in the first.
    np.testing.assert_allclose(kept.positions, [[0, 0, 0]])


def test_only_geoms_that_can_collide_have_taxels():
    geoms = (
        '<geom name="bone" type="sphere" size=".05"/>'
        '<geom name="picture" type="box" size=".2 .2 .2" contype="0" conaffinity="0"/>'
    )
    assert list(Skin(body_of(geoms), {1: 0.02}).pads[0].geom_ids) == [1]
    paired = body_of(geoms, extra='<contact><pair geom1="floor" geom2="picture"/></contact>')
    assert list(Skin(paired, {1: 0.02}).pads[0].geom_ids) == [1, 2]


@pytest.mark.parametrize(
    "geoms, body, facts",
    [
        ('<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>', 1, ["'b'", "geom"]),
        ('<geom size=".1" contype="0" conaffinity="0"/>', 1, ["'b'", "contype"]),
        ('<geom size=".1"/>', 0, ["'world'", "'floor'", "plane"]),
    ],
)
def test_body_that_cannot_have_a_skin_is_rejected(geoms, body, facts):
    with raises(SceneError, *facts):
        Skin(body_of(geoms), {body: 0.02})


@pytest.mark.parametrize("spacing", [0.0, -0.01, float("nan"), float("inf")])
def test_invalid_spacing_is_rejected(spacing):
    with raises(SceneError, "skin.scales.b", f"{spacing:g}"):
        Skin(body_of('<geom size=".1"/>'), {1: spacing})


def test_world_body_can_have_a_skin():
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><geom type="box" size=".1 .1 .1" pos="0 0 1"/></worldbody></mujoco>'
    )
    skin = Skin(model, {0: 0.05})
    assert skin.pads[0].name == "world"
    assert skin.positions[:, 2].min() == pytest.approx(0.9)


def test_bodies_are_in_id_order():
    spec = mujoco.MjSpec.from_string("<mujoco><worldbody/></mujoco>")
    for name in "abc":
        spec.worldbody.add_body(name=name).add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.1])
    model = spec.compile()
    skin = Skin(model, {3: 0.05, 1: 0.1})
    assert [body.name for body in skin.pads] == ["a", "c"]
    assert [(body.start, body.stop) for body in skin.pads] == [(0, 26), (26, 26 + 98)]
    np.testing.assert_array_equal(skin.pad_index, [0] * 26 + [1] * 98)
    np.testing.assert_array_equal(skin.offsets, [0, 26, 124])
