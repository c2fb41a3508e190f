"""What feelers and skins show as images."""

from __future__ import annotations

import numpy as np
import pytest
from feeler_meshes import scene

from tactile_sim.drawing.colors import colors
from tactile_sim.feelers.image import image
from tactile_sim.feelers.placement import place
from tactile_sim.feelers.skin_image import BACKGROUND, SkinImage, mappable
from tactile_sim.skin import Skin

CUBE = '<geom type="box" size=".1 .1 .1"/>'


def test_free_feelers_are_black_and_covered_ones_white():
    painted = np.zeros((3, 4), np.uint8)
    painted[1] = 255, 255, 51, 255
    placed = place(scene("", CUBE), 1, image=painted, length=0.1)
    free = np.array([0.1, 0.04, 0.01, 0.0])
    expected = np.zeros((3, 4), np.uint8)
    expected[1] = 0, 153, 128, 255  # 255 · (1 − free / length), the third is 0.02 m long
    assert (image(placed, free) == expected).all()


def test_each_pixel_of_a_skin_shows_the_taxel_that_is_nearest_on_its_side():
    model = scene("", '<geom type="box" size=".1 .1 .002"/>')
    skin = Skin(model, {1: 0.02})
    shown = SkinImage(model, skin, 0)
    top = skin.normals[:, 2] > 0.5
    picture = shown.image(np.where(top, 1.0, 0.0), 1.0)
    assert picture.shape == (shown.height, shown.width, 3)
    # Upper face in the middle of the upper part of the cross, the lower one below it.
    quarter, half = shown.height // 4, shown.width // 4
    full, none = colors(np.array([1.0, 0.0]), 1.0)
    assert (picture[quarter, half] == full).all()
    assert (picture[3 * quarter, half] == none).all()
    assert (picture[0, -1] == BACKGROUND).all()


def test_all_taxels_of_a_skin_are_shown_and_nearest_ones_at_their_place():
    model = scene("", '<geom type="capsule" size=".04 .1"/>')
    skin = Skin(model, {1: 0.01})
    shown = SkinImage(model, skin, 0)
    assert set(shown.taxels.tolist()) == set(range(len(skin.positions)))
    assert len(np.unique(shown.pixels)) == len(shown.pixels)
    whole = place(model, 1, image=np.ones((shown.height, shown.width), bool))
    assert (whole.pixels == shown.pixels).all()
    away = np.linalg.norm(whole.positions[:, None] - skin.positions, axis=2)
    assert away[np.arange(len(away)), shown.taxels] == pytest.approx(away.min(axis=1), abs=1e-12)


def test_a_skin_of_several_geoms_has_their_maps_below_each_other():
    model = scene("", CUBE + '<geom type="sphere" size=".05" pos="0 0 .15"/>')
    skin = Skin(model, {1: 0.02})
    shown = SkinImage(model, skin, 0)
    ball = skin.geom_index[shown.taxels] == 1
    rows = shown.pixels // shown.width
    assert rows[ball].max() >= shown.height * 0.9 and rows[~ball].min() < shown.height * 0.5


def test_planes_and_height_fields_have_no_image():
    model = type(scene("", CUBE)).from_xml_string(
        '<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset><worldbody>'
        '<geom type="plane" size="1 1 1"/><geom type="hfield" hfield="h"/><geom size="1"/>'
        "</worldbody></mujoco>"
    )
    assert [mappable(model, [geom]) for geom in range(3)] == [False, False, True]
    assert not mappable(model, [])
    assert not mappable(model, [0, 2])
