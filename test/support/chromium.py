"""Helpers that operate a view in headless Chromium with software rendering and inspect its page.

Screenshots are written to the folder TACTILE_SIM_SCREENSHOTS, if it is set.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from tactile_sim.view.content import ViewFrame

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SOFTWARE = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox",
            "--disable-gpu-compositing"]  # fmt: skip
WIDTH, HEIGHT, PANEL = 720, 440, 324
"""Size of the window and width of the panel [CSS px]."""
SCALE = 0.5
"""Pixels of the screen per CSS pixel, small because of software rendering."""
PATIENCE = 90_000
"""Timeout of all waits [ms]."""
LIGHT = """
const context = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (type, options) {
  return context.call(this, type, { ...options, antialias: false });
};
Object.defineProperty(Object.prototype, "castShadow", { get: () => false, set() {} });
"""
"""Script that makes a page draw without antialiasing and shadows, which take most of the processor time."""
BLIND = """
for (const name of ["drawArrays", "drawArraysInstanced", "drawElements", "drawElementsInstanced"])
  WebGL2RenderingContext.prototype[name] = () => {};
"""
"""Script that makes a page draw nothing in its scene. Everything else works, also the pointer."""


@contextmanager
def own_chromium(profile):
    """Start Chromium with its own settings and yield the address at which Playwright can connect to it.

    A browser that Playwright starts reports all tabs as visible and runs their timers without delay.

    Args:
        profile: Path of an empty folder for the browser's files.
    """
    size = f"--window-size={WIDTH},{HEIGHT // 2}"  # it draws without pause, beside other tests
    options = ["--headless", "--remote-debugging-port=0", f"--user-data-dir={profile}", size, "about:blank"]
    process = subprocess.Popen([CHROMIUM, *SOFTWARE, *options], stderr=subprocess.DEVNULL)
    port = profile / "DevToolsActivePort"
    try:
        until(lambda: port.exists() and len(port.read_text().splitlines()) == 2)
        yield f"http://127.0.0.1:{port.read_text().splitlines()[0]}"
    finally:
        process.terminate()
        process.wait()


def screenshot(page, name):
    """Return an image of the scene without the panel, (height, width, 3) uint8."""
    taken = page.screenshot()
    if folder := os.environ.get("TACTILE_SIM_SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, f"{name}.png").write_bytes(taken)
    pixels = np.asarray(Image.open(BytesIO(taken)).convert("RGB"))
    return pixels[:, : pixels.shape[1] * (WIDTH - PANEL) // WIDTH]


def drawn(page, name):
    """Wait until the scene is drawn and unchanged for half a second; return its `screenshot`."""
    shots = [screenshot(page, name)]

    def settled():
        page.wait_for_timeout(500)
        shots.append(screenshot(page, name))
        covered = (shots[-1] != shots[-1][:, :1]).any(axis=2).mean()  # the background changes only downwards
        return covered > 0.02 and np.array_equal(shots[-1], shots[-2])

    until(settled)
    return shots[-1]


def active_pixels(pixels):
    """Return the number of bright orange and yellow pixels: many during contact, otherwise none."""
    red, _, blue = np.moveaxis(pixels.astype(int), 2, 0)
    return int(((red > 170) & (red > blue + 60)).sum())


def luminance(pixels):
    """Return the relative luminance of sRGB pixels.

    Source: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance.
    """
    share = pixels / 255.0
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def contrast(lit, unlit):
    """Compare an image with glowing taxels to one without.

    Returns:
        Number of pixels that differ, and the upper quartile of their WCAG contrast ratios.
    """
    changed = np.abs(lit.astype(int) - unlit).max(axis=2) > 12
    ratio = (luminance(lit[changed]) + 0.05) / (luminance(unlit[changed]) + 0.05)
    return int(changed.sum()), float(np.percentile(ratio, 75)) if changed.any() else 1.0


def until(condition, patience=PATIENCE / 1000):
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def seconds(page):
    """Return the simulation time shown in the panel [s]."""
    return float(re.search(r"([\d.]+) s", page.get_by_text(re.compile(r"^[\d.]+ s$")).inner_text())[1])


def field(page, label):
    """Return the text field with this label."""
    parent = page.get_by_text(label, exact=True).locator("xpath=ancestor::div[.//input][1]")
    return parent.locator("xpath=.//input[not(@type='hidden')]")


def enter(page, label, text):
    field(page, label).fill(text)
    page.keyboard.press("Enter")


def unfold(page, title, exact=False):
    """Open a folder of the panel. A click with the mouse would wait for several drawn frames."""
    page.get_by_text(title, exact=exact).first.dispatch_event("click")


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def wait_for_text(page, text):
    page.get_by_text(text).first.wait_for()


def paused_frame(time, **fields):
    upright = np.array([[1.0, 0.0, 0.0, 0.0]] * 2)
    return ViewFrame(time, np.zeros((2, 3)), upright, controls=np.array([0.25, 3.0]), paused=True, **fields)
