"""Generate docs/messages.md, the reference of messages and services: python tools/messages.py."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tactile_sim.simulation.actions import ACTIONS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "messages.md"
HEAD = """# Messages and services

Generated from the files in `msg/` and `srv/`, which are the specification, and from the table of actions in
`tactile_sim/simulation/actions.py`.
"""
FIELD = re.compile(r"(?P<type>\S+) +(?P<name>\w+)(?: +# (?P<meaning>.*))?")


def page() -> str:
    """Return the page as Markdown."""
    files = [*sorted((ROOT / "msg").glob("*.msg")), *sorted((ROOT / "srv").glob("*.srv"))]
    contents = [f"- [`{file.stem}`](#{file.stem.lower()}){_topics(file.stem)}" for file in files]
    text = "\n".join([HEAD, *contents, *_services(), *(line for file in files for line in _section(file))])
    return re.sub(r"\n{3,}", "\n\n", text) + "\n"


def _topics(name: str) -> str:
    """Return the topics or the service name of an interface."""
    places = {
        "ContactSensor": "`contact_sensors/<name>`",
        "ContactWrenchArray": "`contacts`",
        "TactileArray": "`tactile/<pad>/array`, `truth`, and `tactile/<body>/feelers`",
        "TactileFrame": "`tactile/frame`",
        "TactileLayout": "`tactile/<pad>/layout`, and `tactile/<body>/feelers_layout`",
        "TactileState": "`tactile/<pad>/state`",
        **{action.service.split("/")[-1]: f"`~/{action.name}`" for action in ACTIONS.values()},
    }
    return f": {places[name]}" if name in places else ""


def _services() -> Iterator[str]:
    """Return the table of the services."""
    yield "\n## Services\n\n| service | type | |\n|---|---|---|"
    for action in ACTIONS.values():
        if action.service:
            yield f"| `~/{action.name}` | `{action.service}` | {action.description} |"


def _section(file: Path) -> Iterator[str]:
    yield f"\n## {file.stem}"
    parts = file.read_text(encoding="utf-8").split("---\n")
    for part, title in zip(parts, ("Request", "Response") if len(parts) == 2 else ("",), strict=True):
        yield from _part(part, title)


def _part(text: str, title: str) -> Iterator[str]:
    lines = text.strip().splitlines()
    comment = [line.removeprefix("#").removeprefix(" ") for line in lines if line.startswith("#")]
    yield from _prose(comment)
    if title:
        yield f"\n{title}:"
    yield "\n| field | type | |\n|---|---|---|"
    for line in lines:
        if line and not line.startswith("#"):
            field = FIELD.fullmatch(line)
            assert field, f"{line!r} is not a field definition"
            yield f"| `{field['name']}` | `{field['type']}` | {field['meaning'] or ''} |"


def _prose(comment: list[str]) -> Iterator[str]:
    """Yield a comment's lines, with tables in columns as code blocks."""
    columns = False
    for line in ["", *comment]:
        if ("  " in line.strip()) != columns:
            columns = not columns
            yield "\n```text" if columns else "```\n"
        yield line
    if columns:
        yield "```"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
