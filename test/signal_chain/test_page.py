"""docs/signal_chain.md matches the stages."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import yaml

from tactile_sim import config
from tactile_sim.signal_chain import STAGES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "signal_chain.md").read_text(encoding="utf-8")


def test_the_table_has_all_stages_in_their_order_with_all_their_parameters():
    blocks = [yaml.safe_load(block) for block in re.findall(r"\| `(\w+: \{[^`]*\})` \|", PAGE)]
    assert [stage for block in blocks for stage in block] == list(STAGES)
    for block in blocks:
        config.records("skin.sensor", {"palm": block})
        for stage, parameters in block.items():
            assert set(parameters) == {field.name for field in dataclasses.fields(STAGES[stage])}
            assert " ".join(STAGES[stage].__doc__.split())[:25] in PAGE


def test_its_examples_run(tmp_path):
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "example.yaml"
    file.write_text(example)
    assert set(config.load(file).skin.sensor["palm"]) == {"hysteresis", "quantisation"}
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict = {}
    exec(code, names)
    assert abs(names["reading"] - 1.0).max() < 0.01 * 5
