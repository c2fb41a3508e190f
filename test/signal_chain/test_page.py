"""docs/signal_chain.md is consistent with the stages."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import yaml
from support.signal_chain import SKIN, TAXELS, TIMESTEP, TIP

from tactile_sim import config
from tactile_sim.signal_chain import STAGES, SignalChain

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "signal_chain.md").read_text(encoding="utf-8")

YAML = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def checked(stages: dict) -> dict:
    settings = config.from_mapping({"scene": "touch_cube.xml", "skin": {"sensor": {"palm": stages}}})
    return settings.skin.sensor["palm"]


def test_table_lists_all_stages_in_order_with_their_parameters():
    blocks = [yaml.safe_load(block) for block in re.findall(r"\| `(\w+: \{[^`]*\})` \|", PAGE)]
    assert [stage for block in blocks for stage in block] == list(STAGES)
    for block in blocks:
        checked(block)
        for stage, parameters in block.items():
            fields = {field.name for field in dataclasses.fields(STAGES[stage])}
            assert set(parameters) == fields - {"enabled"}  # the table lists only differences between stages
            assert " ".join(STAGES[stage].__doc__.split())[:25] in PAGE


def test_examples_run(tmp_path, restored_stages):
    example, ranges, _ = YAML
    file = tmp_path / "example.yaml"
    file.write_text(example)
    assert set(config.load(file).skin.sensor["palm"]) == {"hysteresis", "quantisation"}
    drawn = checked(yaml.safe_load(ranges))
    assert all(type(value) is tuple for stage in drawn.values() for value in stage.values())
    chain, own_stage = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict = {}
    exec(chain, names)
    assert abs(names["reading"] - 1.0).max() < 0.01 * 5
    exec(own_stage, names)
    simulation = names["simulation"]
    simulation.step(500)
    assert simulation.observe().readings.sum() >= simulation.observe().truth.sum() > 0.0


def test_sharpa_example_is_the_pipeline_that_it_names(tmp_path):
    file = tmp_path / "sharpa.yaml"
    file.write_text(YAML[2])
    stages = config.load(file).skin.sensor["*_tip"]
    made = SignalChain(SKIN, {"tip": stages}, TIMESTEP, seed=1)
    taxels, before, differ = TIP.stop - TIP.start, 0.0, []
    loads = np.random.default_rng(2).choice([0.0, 0.04, 0.07, 0.2, 9.0], (2000, TAXELS, 1))
    for step, load in enumerate(loads):
        force = np.minimum(load[TIP, 0], 5.0)
        bit = (0.5 * force + 0.5 * before >= 0.05).astype(float)
        bit[4] = 0.0
        before = force
        out = made.read(step, load)[TIP, 0]
        assert set(np.unique(out)) <= {0.0, 1.0}
        assert out[4] == 0.0
        differ.append([(bit > out).sum(), (bit < out).sum()])
    # Bits are on independently with probability p, so a held bit is wrong with p (1 - p) in each direction.
    pairs = np.add.outer(*[np.minimum([0.0, 0.04, 0.07, 0.2, 9.0], 5.0) / 2] * 2)
    on = (pairs >= 0.05).mean()
    lost, added = np.sum(differ, axis=0) / (2000 * (taxels - 1))
    assert added <= 0.005 * (1 - on) * 1.3
    assert 0.01 * on * 0.9 < lost < (0.01 * on + 0.005 * on * (1 - on)) * 1.1
