"""The page in the browser: viser's page with the styles and scripts in static/."""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from tactile_sim.figures.colors import DARK
from tactile_sim.view.viser_internals import PROTOCOL

STATIC = Path(__file__).parent / "static"
VIEW = (
    "view.css",
    "strip.css",
    "connection.js",
    "images.js",
    "scene.js",
    "tree.js",
    "panel.js",
    "strip.js",
    "seek.js",
    "hint.js",
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


@lru_cache(maxsize=2)
def with_scripts(page: bytes, gzipped: bool) -> bytes:
    """Add the files of `VIEW` to the head of viser's page, which may be compressed."""
    text = gzip.decompress(page) if gzipped else page
    head, tag, rest = text.partition(b"<head>")
    changed = head + tag + assets(VIEW, protocol=PROTOCOL).encode() + rest
    return gzip.compress(changed) if gzipped else changed
