"""A scene with a red ball and cameras, and where the ball must appear in their images."""

from __future__ import annotations

import functools

import mujoco
import numpy as np
import pytest

from tactile_sim.scenes.renderer import Renderer, RenderingError, View

RADIUS = 0.05
SCENE = f"""
<mujoco><option timestep="0.01" gravity="0 0 0"/>
  <statistic extent="2" center="0 0 0"/>
  <visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/></visual>
  <asset><texture type="skybox" builtin="flat" rgb1="0 0 .2" rgb2="0 0 .2" width="8" height="8"/></asset>
  <worldbody>
    <camera name="front" pos="0 -2 0" euler="90 0 0" fovy="40"/>
    <camera name="shifted" pos="0 -2 0" euler="90 0 0" resolution="300 200" sensorsize="0.003 0.002"
      focalpixel="250 260" principalpixel="20 -10"/>
    <camera name="follower" pos="0 -2 0" mode="targetbody" target="ball"/>
    <camera name="flat" pos="0 -2 0" projection="orthographic"/>
    <body name="ball" pos="0.3 0 0.2"><joint name="rail" type="slide" axis="1 0 0"/>
      <geom size="{RADIUS}" rgba="1 0 0 1"/></body>
    <body name="turret" pos="0 -1.5 0.3"><joint name="pan" axis="0 0 1"/>
      <geom type="box" size=".01 .01 .01" rgba="0 0 1 1"/></body>
  </worldbody>
  <keyframe><key name="moving" qpos="-0.2 0.1" qvel="0.5 0.4"/></keyframe>
</mujoco>"""
TURRET = {
    "body": "turret",
    "position": [0.0, 0.05, 0.02],
    "orientation": [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)],  # z of the optical frame is y of the body
    "fovy": 60.0,
    "size": [200, 150],
}
"""Keys of a camera that looks along y of the body ``turret``, 5 cm in front of it."""


@functools.cache
def fault() -> str:
    """Return why this machine cannot render, or an empty string."""
    view = View(np.zeros(3), np.eye(3)[0], np.eye(3)[2], (-1, 1, -1, 1), 0.1, 1.0)
    try:
        Renderer(mujoco.MjModel.from_xml_string("<mujoco/>")).image(view, 2, 2)
    except RenderingError as error:
        return str(error)
    return ""


def require_opengl() -> None:
    """Skip the test if this machine cannot render."""
    if fault():
        pytest.skip(fault())


def red_pixels(color: np.ndarray) -> np.ndarray:
    """Return which pixels (height, width) of an image show the ball."""
    return (color[:, :, 0] > 200) & (color[:, :, 1] < 50)


def check_ball(color: np.ndarray, depth: np.ndarray | None, matrix: np.ndarray, center: np.ndarray) -> None:
    """Check that the ball is at its pixel and at its distance.

    Args:
        color: (height, width, 3) image.
        depth: (height, width) depth [m], or None.
        matrix: (3, 3) camera matrix.
        center: (3,) center of the ball in the optical frame [m].
    """
    shown = red_pixels(color)
    rows, columns = np.nonzero(shown)
    expected = matrix[:2] @ center / center[2]
    # The image of the sphere is an ellipse, whose center is slightly farther from that of the image.
    assert (columns.mean(), rows.mean()) == pytest.approx(expected, abs=0.3)
    area = np.pi * RADIUS**2 * matrix[0, 0] * matrix[1, 1] / center[2] ** 2
    assert shown.sum() == pytest.approx(area, abs=np.sqrt(np.pi * area))  # half of the pixels at its edge
    if depth is not None:
        column, row = np.rint(expected).astype(int)
        ray = np.linalg.solve(matrix, (column, row, 1.0))  # it meets the surface at z along the axis
        along, square = ray @ center / (ray @ ray), ray @ ray
        z = along - np.sqrt(along**2 - (center @ center - RADIUS**2) / square)
        # The ball consists of triangles, and the depth is that of a sample anywhere in the pixel.
        pixel = center[2] / matrix[0, 0]
        assert depth[row, column] == pytest.approx(z, abs=1e-3 + 0.5 * pixel**2 / RADIUS)
        assert np.isinf(depth[0, 0])
