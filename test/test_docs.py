"""Generated pages are up to date."""

from __future__ import annotations

import runpy
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent / "tools"


def test_page_of_keys_is_up_to_date():
    made = runpy.run_path(str(TOOLS / "configuration.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run python tools/configuration.py"


def test_table_of_presets_is_up_to_date():
    made = runpy.run_path(str(TOOLS / "presets.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run python tools/presets.py"


def test_reference_of_messages_is_up_to_date():
    made = runpy.run_path(str(TOOLS / "messages.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run python tools/messages.py"


def test_pages_of_public_names_are_up_to_date():
    for page, make in runpy.run_path(str(TOOLS / "api.py"))["PAGES"].items():
        assert page.read_text(encoding="utf-8") == make(), "run python tools/api.py"
