"""Successive frames in headless Chromium: poses and colours change together, and all images load."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from support.chromium import CHROMIUM, paused_frame, until
from support.view_clients import pads_scene

from tactile_sim.view.content import ImageInfo, Shape
from tactile_sim.view.scene.primitives import box
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import Endpoint

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)
CORNERS = np.array([[-0.1, -0.12, -0.1], [0.1, -0.12, -0.1], [0.0, -0.12, 0.1]])
SCENE = replace(
    pads_scene(("world", "box"), (0, 0), {"box": "box"}),
    shapes=(Shape("box", 1, *box([0.2] * 3), np.ones(4)),),
    taxel_counts=np.array([3]),
    taxel_positions=CORNERS,
    taxel_normals=np.tile([0.0, -1.0, 0.0], (3, 1)),
    taxel_ids=np.arange(3),
    taxel_triangles=np.array([[0, 1, 2]]),
)
HEIGHT = 0.05
"""Height of the box while it is in contact [m]."""
EACH = 10
"""Minimum number of images with contact, and of images without."""
MOST_MIXED = 0.15
"""Largest share of images that mix two frames. On a busy machine, viser's server rarely sends half a frame.

If colours were late by one image, half of the images or more would mix two frames where each image is new.
"""
RECORD = """() => {
  const nodes = window.__viserMutable?.nodeRefFromName ?? {}, body = nodes["/box"];
  const mesh = nodes["/box/skin"]?.children.find((node) => node.isMesh);
  if (!mesh?.geometry.attributes.color) return false;
  window.drawn = [];
  mesh.onBeforeRender = () => {
    window.drawn.push([body.position.z > 0, mesh.geometry.attributes.color.array[0] > 100]);
  };
  return true;
}"""
"""Script that records, at each drawing of the skin, whether the body is raised and its taxels are bright."""


@pytest.fixture
def view():
    opened = []

    def open_one(scene):
        opened.append(Viewer(scene, Endpoint(port=0), None))
        return opened[-1]

    yield open_one
    for viewer in opened:
        viewer.close()


def test_pose_and_colours_of_a_body_change_in_the_same_frame(view, visit):
    viewer = view(SCENE)

    def show(contact):
        frame = paused_frame(0.0, readings=np.full(3, float(contact)), taxel_scale=1.0)
        frame.body_positions[1, 2] = HEIGHT * contact
        viewer.show(frame)

    show(False)
    page = visit(viewer.url)
    until(lambda: page.evaluate(RECORD))
    contacts, drawn = itertools.cycle((True, False)), []

    def both_drawn():
        show(next(contacts))
        drawn[:] = page.evaluate("window.drawn")
        raised = sum(raised for raised, _ in drawn)
        return min(raised, len(drawn) - raised) >= EACH

    until(both_drawn)  # changes 10 times per second, faster than a busy machine draws
    assert np.mean([raised != lit for raised, lit in drawn]) < MOST_MIXED


def test_fast_images_cause_no_errors(view, visit):
    viewer = view(replace(SCENE, images=(ImageInfo(1, 16, 8),)))
    frame = paused_frame(0.0, readings=np.zeros(3))
    viewer.show(replace(frame, images=(np.zeros((8, 16), np.uint8),)))
    page = visit(viewer.url)
    errors = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("requestfailed", lambda request: errors.append(request.url))
    image = page.locator("img[src^='blob:']")
    image.wait_for()
    for k in range(100):
        viewer.show(replace(frame, images=(np.full((8, 16), k + 1, np.uint8),)))
        time.sleep(0.01)
    read = """(image) => {
      const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      return context.getImageData(1, 1, 1, 1).data[0];
    }"""
    until(lambda: image.evaluate(read) == 100)
    assert errors == []
