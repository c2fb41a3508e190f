#!/usr/bin/env python3
"""Generate the pictures of commands in docs/start.md: python tools/terminal_pictures.py. It needs Chromium.

Each picture shows the command and its output, or the first and last lines of a long output.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from html import escape
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
COMMANDS = {
    "start_demo": "tactile_sim demo hand --duration 6",
    "start_info": "tactile_sim info hand --short",
    "start_python": "python examples/first_skin.py",
}
"""Commands to run in a shell, by name of the figure."""
FIRST, LAST, WIDTH = 14, 14, 130
"""Maximum number of lines shown from the beginning and the end of the output, and of characters per line."""
PAGE = """<body style="margin: 0; background: #14171c"><pre style="margin: 0; padding: 14px 18px;
color: #d6dce5; display: inline-block; font: 14px/1.35 'DejaVu Sans Mono', monospace">{}</pre></body>"""
COLORS = 64
"""Number of colors in the PNG files, limited to reduce their size."""


def output(command: str) -> list[str]:
    """Return the lines that a command prints, without the path of this folder."""
    environment = os.environ | {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "COLUMNS": str(WIDTH)}
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    done = subprocess.run(command.split(), check=True, cwd=ROOT, env=environment, **pipe)
    lines = [line.replace(str(ROOT), "~/tactile_sim")[:WIDTH] for line in done.stdout.splitlines()]
    return [*lines[:FIRST], "...", *lines[-LAST:]] if len(lines) > FIRST + LAST else lines


def main() -> None:
    """Run each command and save a picture of its output."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("tools/terminal_pictures.py: chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 400})
        for name, command in COMMANDS.items():
            lines = "\n".join(map(escape, output(command)))
            page.set_content(PAGE.format(f'<b style="color: #ffb454">$ {command}</b>\n{lines}'))
            picture = Image.open(BytesIO(page.locator("pre").screenshot())).convert("RGB")
            path = IMAGES / f"{name}.png"
            picture.quantize(COLORS).save(path, optimize=True)
            print(f"{path} ({path.stat().st_size // 1000} kB)")
        browser.close()


if __name__ == "__main__":
    main()
