"""Pages that are made from the software say what the software says."""

from __future__ import annotations

import runpy
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent / "tools"


def test_the_page_of_keys_is_what_its_script_makes():
    made = runpy.run_path(str(TOOLS / "configuration.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run python tools/configuration.py"


def test_the_table_of_presets_is_what_its_script_makes():
    made = runpy.run_path(str(TOOLS / "presets.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run python tools/presets.py"


def test_the_reference_of_messages_is_what_its_script_makes():
    made = runpy.run_path(str(TOOLS / "messages.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run python tools/messages.py"
