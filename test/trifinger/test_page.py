"""The programs in docs/trifinger.md run without errors."""

import re
from pathlib import Path

from tactile_sim.common.names import Names

PAGE = Path(__file__).resolve().parents[2] / "docs" / "trifinger.md"


def test_programs_of_the_page_run():
    text = PAGE.read_text(encoding="utf-8")
    names: dict = {}
    for program in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(program, names)
    assert names["observation"].position.shape == (9,)
    assert "ball" in Names(names["model"]).bodies
    assert "ball" not in Names(names["finger"].physics.model).bodies
