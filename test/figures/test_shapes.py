"""Test the single color in which a geom is drawn, depending on its material and texture."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.geometry.shapes import geom_colors

SCENE = """
<mujoco>
  <asset>
    <texture name="tiles" type="2d" builtin="checker" rgb1="1 0 0" rgb2="0 0 1" width="64" height="64"/>
    <material name="tiled" texture="tiles" rgba=".5 1 1 .8"/>
    <material name="paint" rgba=".1 .2 .3 .4"/>
  </asset>
  <worldbody>
    <geom type="sphere" size=".1"/>
    <geom type="sphere" size=".1" rgba="1 0 0 .5"/>
    <geom type="sphere" size=".1" material="paint"/>
    <geom type="sphere" size=".1" material="paint" rgba="0 1 0 1"/>
    <geom type="sphere" size=".1" material="tiled"/>
  </worldbody>
</mujoco>"""


def test_own_color_overrides_the_material_and_textures_multiply_by_their_mean():
    colors = geom_colors(mujoco.MjModel.from_xml_string(SCENE))
    # The tiles are half red and half blue, so their mean is (1/2, 0, 1/2).
    tiled = [0.25, 0, 0.5, 0.8]
    expected = [[0.5, 0.5, 0.5, 1], [1, 0, 0, 0.5], [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1], tiled]
    np.testing.assert_allclose(colors, expected, atol=5e-3)
