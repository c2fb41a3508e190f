"""The examples in docs/skin.md run as written."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tactile_sim.skin import RESPONSE_FUNCTIONS, TOUCH_FUNCTIONS, Loads

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "skin.md").read_text(encoding="utf-8")


def test_the_functions_of_ones_own_and_the_queries_work_as_shown(monkeypatch):
    monkeypatch.setattr("tactile_sim.skin.TOUCH_FUNCTIONS", tables := dict(TOUCH_FUNCTIONS))
    monkeypatch.setattr("tactile_sim.skin.RESPONSE_FUNCTIONS", responses := dict(RESPONSE_FUNCTIONS))
    names: dict = {}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(code, names)
    loads = Loads.empty(1)
    loads.point[:], loads.normal[:] = [0, 0, 0.01], [0, 0, -1]
    loads.force[:], loads.velocity[:] = [2, 0, -5], [0.5, 0, 0]
    felt = names["skin"].readings_from_loads(loads, tables["power"], responses["gaussian"])
    # 2 N of friction at 0.5 m/s; the largest reading is directly below.
    np.testing.assert_allclose(felt.sum(), 1.0)
    assert names["skin"].nearest_taxels(0, loads.point)[0] == np.argmax(felt)
    assert 20 < np.count_nonzero(felt) < 40


def test_the_tables_have_all_functions():
    for table in (TOUCH_FUNCTIONS, RESPONSE_FUNCTIONS):
        for name in table:
            assert f"| `{name}` |" in PAGE
