"""Generate the table of presets in docs/pads.md: python tools/presets.py."""

from __future__ import annotations

import re
from pathlib import Path

from tactile_sim import presets

PAGE = Path(__file__).resolve().parent.parent / "docs" / "pads.md"
KEYS = ("layout", "axes", "range", "resolution", "rate")
START, END = "<!-- presets -->\n", "<!-- end of presets -->"


def page() -> str:
    """Return the page with an up-to-date table."""
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    after = rest.split(END)[1]
    return f"{before}{START}{table()}{END}{after}"


def table() -> str:
    """Return the table as Markdown."""
    lines = ["| preset | sensor | layout | axes | range | resolution | rate | sources |", "|" + "---|" * 8]
    for name in presets.names():
        preset = presets.load(name)
        layout = [preset.figures[key] for key in ("layout", "pitch", "poses") if key in preset.figures]
        cells = ["; ".join(map(_shown, layout))]
        cells += [_shown(preset.figures[key]) if key in preset.figures else "" for key in KEYS[1:]]
        sources = dict.fromkeys(figure.source for figure in preset.figures.values() if figure.source)
        lines.append(
            f"| `{name}` | {preset.title} | {' | '.join(cells)} | {'; '.join(map(_linked, sources))} |"
        )
    return "\n".join(lines) + "\n"


def _shown(figure: presets.Figure) -> str:
    return f"*{figure.value}*" if figure.grade == "estimated" else figure.value


def _linked(source: str) -> str:
    """Return a source with its URL as a Markdown link."""
    found = re.fullmatch(r"(?:(?P<text>.*), )?(?P<address>https://\S+)", source)
    if not found:
        return source
    return f"[{found['text'] or found['address'].removeprefix('https://')}]({found['address']})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
