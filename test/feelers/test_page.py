"""The examples of docs/feelers.md run as written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim import config
from tactile_sim.simulation import Simulation

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "feelers.md").read_text(encoding="utf-8")


# The first example reads a bag; test/ros/test_feelers.py runs it.
_, SIMULATED, ALONE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(YAML,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def names_after(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(code, "docs/feelers.md", "exec"), names)
    return names


def test_simulation_example_reads_feelers_and_images(capsys):
    names = names_after(SIMULATED)
    assert re.match(r"cube 1944 feelers, shortest free length \d", capsys.readouterr().out)
    assert names["images"]["cube/image"].shape == (60, 80)
    assert names["images"]["cube/force_image"].shape[2] == 3


def test_example_without_a_configuration_makes_an_image():
    names = names_after(ALONE)
    # After 0.16 s the cube is near the table: some feelers are covered, none of them completely.
    assert names["pixels"].shape == (60, 80)
    assert 0 < names["pixels"].max() < 255


def test_yaml_example_places_feelers_on_cube_and_balls(tmp_path):
    (tmp_path / "feelers.yaml").write_text(YAML)
    simulation = Simulation(config.load(str(tmp_path / "feelers.yaml")))
    counts = {body.name: body.stop - body.start for body in simulation.feelers.bodies}
    assert counts.pop("cube") == 1944
    # A ball of 3 cm radius has a surface of 4π · 9 cm².
    assert counts == {f"ball_{k}": round(4 * np.pi * 9) for k in range(1, 5)}
