"""What docs/feelers.md shows runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim import config
from tactile_sim.simulation import Simulation

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "feelers.md").read_text(encoding="utf-8")


# That of a bag comes first: test/ros/test_feelers.py runs it.
_, SIMULATED, ALONE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(YAML,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def names_after(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(code, "docs/feelers.md", "exec"), names)
    return names


def test_its_simulation_tells_of_feelers_and_pictures(capsys):
    names = names_after(SIMULATED)
    assert re.match(r"cube 1944 feelers, the shortest of \d", capsys.readouterr().out)
    assert {name: picture.shape for name, picture in names["pictures"].items()}["image"] == (60, 80)
    assert names["pictures"]["force_image"].shape[2] == 3


def test_its_python_reads_an_image_of_the_cube():
    names = names_after(ALONE)
    # After 0.16 s the cube is near the table: some of its feelers are covered, none of them wholly.
    assert names["picture"].shape == (60, 80)
    assert 0 < names["picture"].max() < 255


def test_its_configuration_gives_feelers_to_the_cube_and_the_balls(tmp_path):
    (tmp_path / "feelers.yaml").write_text(YAML)
    simulation = Simulation(config.load(str(tmp_path / "feelers.yaml")))
    counts = {body.name: body.stop - body.start for body in simulation.feelers.bodies}
    assert counts.pop("cube") == 1944
    # A ball of 3 cm radius has 4π · 9 cm² of skin.
    assert counts == {f"ball_{k}": round(4 * np.pi * 9) for k in range(1, 5)}
