"""Tactile images of feelers and skins."""

from __future__ import annotations

import numpy as np
import pytest
from support.feeler_meshes import scene

from tactile_sim.feelers import image
from tactile_sim.feelers.placement import place
from tactile_sim.figures.colors import colors
from tactile_sim.figures.images import BACKGROUND, SkinImage, mappable
from tactile_sim.skin import Skin

CUBE = '<geom type="box" size=".1 .1 .1"/>'


def test_free_feelers_are_black_and_covered_feelers_white():
    painted = np.zeros((3, 4), np.uint8)
    painted[1] = 255, 255, 51, 255
    placed = place(scene("", CUBE), 1, image=painted, length=0.1)
    free = np.array([0.1, 0.04, 0.01, 0.0])
    expected = np.zeros((3, 4), np.uint8)
    expected[1] = 0, 153, 128, 255  # 255 · (1 − free / length); the third feeler is 20 mm long
    assert (image(placed, free) == expected).all()


def test_skin_pixels_show_taxels_on_their_side():
    model = scene("", '<geom type="box" size=".1 .1 .002"/>')
    skin = Skin(model, {1: 0.02})
    shown = SkinImage(model, skin, 0)
    top = skin.normals[:, 2] > 0.5
    pixels = shown.image(np.where(top, 1.0, 0.0), 1.0)
    assert pixels.shape == (shown.height, shown.width, 3)
    # The upper face is in the middle of the upper part of the cross, the lower face below it.
    quarter, half = shown.height // 4, shown.width // 4
    full, none = colors(np.array([1.0, 0.0]), 1.0)
    assert (pixels[quarter, half] == full).all()
    assert (pixels[3 * quarter, half] == none).all()
    assert (pixels[0, -1] == BACKGROUND).all()


def test_skin_image_shows_every_taxel_at_its_position():
    model = scene("", '<geom type="capsule" size=".04 .1"/>')
    skin = Skin(model, {1: 0.01})
    shown = SkinImage(model, skin, 0)
    assert set(shown.taxels.tolist()) == set(range(len(skin.positions)))
    assert len(np.unique(shown.pixels)) == len(shown.pixels)
    whole = place(model, 1, image=np.ones((shown.height, shown.width), bool))
    assert (whole.pixels == shown.pixels).all()
    away = np.linalg.norm(whole.positions[:, None] - skin.positions, axis=2)
    assert away[np.arange(len(away)), shown.taxels] == pytest.approx(away.min(axis=1), abs=1e-12)


def test_maps_of_several_geoms_are_stacked():
    model = scene("", CUBE + '<geom type="sphere" size=".05" pos="0 0 .15"/>')
    skin = Skin(model, {1: 0.02})
    shown = SkinImage(model, skin, 0)
    ball = skin.geom_index[shown.taxels] == 1
    rows = shown.pixels // shown.width
    assert rows[ball].max() >= shown.height * 0.9 and rows[~ball].min() < shown.height * 0.5


def test_planes_and_height_fields_are_not_mappable():
    model = type(scene("", CUBE)).from_xml_string(
        '<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset><worldbody>'
        '<geom type="plane" size="1 1 1"/><geom type="hfield" hfield="h"/><geom size="1"/>'
        "</worldbody></mujoco>"
    )
    assert [mappable(model, [geom]) for geom in range(3)] == [False, False, True]
    assert not mappable(model, [])
    assert not mappable(model, [0, 2])
