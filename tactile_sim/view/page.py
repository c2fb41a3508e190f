"""The page in the browser: viser's page with the styles and scripts in static/."""

from __future__ import annotations

import gzip
import json
import re
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from tactile_sim.figures.colors import DARK
from tactile_sim.view.viser_internals import PROTOCOL

STATIC = Path(__file__).parent / "static"
TAXELS = "781c6d", "ed6925", "781c6d", "ed6925", "fcffa4", "ed6925", "781c6d", "ed6925", "781c6d"
ICON = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>"
    "<rect width='16' height='16' rx='3' fill='%2314171c'/>"
    + "".join(
        f"<circle cx='{4 + 4 * (k % 3)}' cy='{4 + 4 * (k // 3)}' r='1.6' fill='%23{color}'/>"
        for k, color in enumerate(TAXELS)
    )
    + "</svg>"
)
"""Icon of the page: nine taxels, of which the middle one is touched."""
VIEW = (
    "view.css",
    "strip.css",
    "frames.js",
    "connection.js",
    "images.js",
    "scene.js",
    "pointer.js",
    "send.js",
    "tree.js",
    "panel.js",
    "strip.js",
    "seek.js",
    "hud.js",
    "loading.js",
)
"""Files of the page of a view."""


def assets(names: tuple[str, ...], **settings: Any) -> str:
    """Return files in static/ as HTML. The scripts read the settings from the object ``tactileSim``."""
    values = json.dumps(settings).replace("<", "\\u003c")  # in strings only
    parts = [
        f"<script>const tactileSim = {values};</script>",
        f"<style>:root {{ --data: {DARK.data}; --ink: {DARK.ink}; --grid: {DARK.grid} }}</style>",
    ]
    for name in names:
        tag = "style" if name.endswith(".css") else "script"
        parts.append(f"<{tag}>\n{(STATIC / name).read_text(encoding='utf-8')}</{tag}>\n")
    return "\n".join(parts)


@lru_cache(maxsize=4)
def with_scripts(page: bytes, gzipped: bool, settings: str) -> bytes:
    """Add the files of `VIEW`, a title and an icon to viser's page, which may be compressed.

    The settings are a JSON object with the name of the scene (``scene``), the number of its meshes
    (``meshes``), what the page waits for after them (``waiting``), and whether users can pull bodies
    (``pulls``).
    """
    values = json.loads(settings)
    text = (gzip.decompress(page) if gzipped else page).decode()
    text = text.replace("<title>Viser</title>", f"<title>{escape(values['scene'])} - tactile_sim</title>", 1)
    text = re.sub(r"(rel=\"icon\"\s+href=)\"[^\"]*\"", lambda found: f'{found[1]}"{ICON}"', text, count=1)
    added = assets(VIEW, protocol=PROTOCOL, **values)
    changed = text.replace("<head>", f"<head>{added}", 1).encode()
    return gzip.compress(changed) if gzipped else changed
