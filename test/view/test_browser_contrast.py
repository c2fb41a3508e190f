"""Contrast of all texts on the page, from the styles that headless Chromium computes.

The definitions are those of WCAG 2.2, https://www.w3.org/TR/WCAG22/#contrast-minimum.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.chromium import CHROMIUM, luminance, paused_frame, until, wait_for_text
from support.view_clients import SCENE, Recorder, pads_scene

from tactile_sim.view.content import ImageInfo, StageSwitch
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import Endpoint

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)
MIN_RATIO = 4.5
"""Minimum contrast ratio of level AA. It does not apply to inactive elements."""
TEXTS = """() => {
  const rgba = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, text = texts.currentNode.textContent.trim();
    const { width, height } = element.getBoundingClientRect();
    if (!text || !width || !height || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest("script, style, [data-disabled], :disabled, [inert]")) continue;
    const layers = [], { color, fill } = getComputedStyle(element);
    let opacity = 1;
    for (let node = element; node; node = node.parentElement) {
      const style = getComputedStyle(node);
      layers.unshift(rgba(style.backgroundColor));
      opacity *= Number(style.opacity);
    }
    const front = rgba(element.closest("svg") ? fill : color);
    if (opacity > 0) found.push({ text, layers, front: [...front.slice(0, 3), front[3] * opacity] });
  }
  return found;
}"""
"""Script that returns the visible texts with their colours and the backgrounds behind them, as RGBA."""


def low_contrasts(page):
    """Return the contrast ratios below `MIN_RATIO`, keyed by text, and the number of texts."""
    found, texts = {}, page.evaluate(TEXTS)
    for text in texts:
        color = np.zeros(3)
        for *rgb, alpha in text["layers"]:
            color = alpha * np.array(rgb) + (1.0 - alpha) * color
        *rgb, alpha = text["front"]
        shades = [luminance(color), luminance(alpha * np.array(rgb) + (1.0 - alpha) * color)]
        ratio = (max(shades) + 0.05) / (min(shades) + 0.05)
        if ratio < MIN_RATIO:
            found[text["text"]] = round(float(ratio), 2)
    return found, len(texts)


def test_all_texts_meet_wcag_aa(visit, tmp_path):
    scene = replace(
        pads_scene(("world", "box"), (0, 0), {"box": "box"}),
        shapes=SCENE.shapes,
        actuators=SCENE.actuators,
        control_ranges=SCENE.control_ranges,
        keyframes=SCENE.keyframes,
        actions=SCENE.actions,
        choices=(("skin.touch_function", ("normal", "pressure"), "normal"),),
        stages=(StageSwitch("skin.sensor.box.noise.enabled", "noise", ("box",), "Noise."),),
        images=(ImageInfo(1, 16, 8),),
        start_hints=("Paused at the start.",),
        output_folder=str(tmp_path),
    )
    viewer = Viewer(scene, Endpoint(port=0), Recorder())
    try:
        frame = paused_frame(0.0, readings=np.ones(1), forces=np.ones((1, 3)), enabled=np.array([True]))
        viewer.show(replace(frame, images=(np.zeros((8, 16), np.uint8),), fault="too fast"))
        page = visit(viewer.url, size=(900, 1700))
        wait_for_text(page, "too fast")
        page.add_style_tag(content=".mantine-Notifications-root { display: block !important }")
        for folder in ("Colour scale", "Camera", "Layers", "Record and save", "Skin", "Actuators (2)"):
            page.get_by_text(folder, exact=True).first.click()
        for folder in ("Bodies", "Sensor stages", "Click on a body"):
            page.get_by_text(folder).first.click()
        viewer.notify("a notice")
        wait_for_text(page, "a notice")
        page.keyboard.press("?")
        page.locator("#view-help").wait_for()
        page.evaluate("""() => {
          const banner = document.getElementById("connection-lost");
          [banner.hidden, banner.textContent] = [false, "lost"];
        }""")
        page.wait_for_timeout(1000)  # folders open slowly
        low, count = low_contrasts(page)
        assert count > 60 and low == {}
        page.get_by_label("reset to").click()
        page.get_by_role("option", name="high").wait_for()
        until(lambda: low_contrasts(page)[0] == {}, 5.0)
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("Control+k")
        page.get_by_text("Take a step").wait_for(timeout=20_000)
        until(lambda: low_contrasts(page)[0] == {}, 5.0)
    finally:
        viewer.close()
