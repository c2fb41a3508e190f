#!/usr/bin/env python3
"""Generate the figures of docs/view.md: python tools/view_pictures.py. It needs Chromium, but no display."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tactile_sim.common.processes import Child

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
SOFTWARE = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
HINTS = ".mantine-Notifications-root { display: none }"
"""Style sheet that hides the notification about the missing GPU."""
SIZE = {"width": 1200, "height": 760}
PATIENCE = 240.0
"""Maximum time to wait for the browser [s]."""
SETTLE = 4000
"""Time to render the scene in software [ms]."""


def plain(page: Page) -> None:
    """Keep the initial view."""


def transparent(page: Page) -> None:
    """Show the bodies transparently."""
    page.get_by_label("transparent").check()
    page.mouse.move(0.0, 0.0)  # otherwise the tooltip covers the legend


PICTURES: dict[str, tuple[str, int, Callable[[Page], None]]] = {
    "view_infant": ("infant", 1450, plain),
    "view_hand": ("hand", 2700, plain),
    "view_transparent": ("touch_cube", 600, transparent),
}
"""Configuration, number of time steps and function that prepares the page, by name of the figure."""


def take(page: Page, steps: int, prepare: Callable[[Page], None]) -> Image.Image:
    """Return a screenshot of the page after a number of time steps."""
    press = page.get_by_role("button")
    press.filter(has_text=re.compile("^Pause$")).click()
    page.get_by_text("paused").wait_for()
    press.filter(has_text=re.compile("^Reset$")).click()
    page.get_by_text(re.compile("reset.*paused")).wait_for()
    page.get_by_text("steps per click").locator("xpath=ancestor::div[.//input][1]//input").fill(str(steps))
    press.filter(has_text=re.compile("^Step$")).click()
    prepare(page)
    page.wait_for_timeout(SETTLE)
    return Image.open(BytesIO(page.screenshot())).convert("RGB")


def main() -> None:
    """Open each scene in the browser and save a screenshot."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("tools/view_pictures.py: chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=SOFTWARE)
        for name, (config, steps, prepare) in PICTURES.items():
            with Child("view", config, "--port", "0") as view:
                if not view.wait_for("web view: ", PATIENCE):
                    sys.exit(f"tools/view_pictures.py: cannot view {config}: {view.last_lines[-1:]}")
                [line] = [line for line in view.last_lines if line.startswith("web view: ")]
                page = browser.new_page(viewport=SIZE)
                page.set_default_timeout(1000 * PATIENCE)
                page.goto(line.split()[-1])
                page.add_style_tag(content=HINTS)
                take(page, steps, prepare).save(IMAGES / f"{name}.jpg", quality=88)
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
