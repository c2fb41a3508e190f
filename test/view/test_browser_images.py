"""Tactile images in headless Chromium that replace each other quickly."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from support.chromium import CHROMIUM, paused_frame, until
from support.view_clients import pads_scene

from tactile_sim.view.content import ImageInfo
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import Endpoint

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)
SCENE = pads_scene(("world", "box"), (0, 0), {"box": "box"})


@pytest.fixture
def view():
    opened = []

    def open_one(scene):
        opened.append(Viewer(scene, Endpoint(port=0), None))
        return opened[-1]

    yield open_one
    for viewer in opened:
        viewer.close()


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
