"""What docs/feelers.md shows runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tactile_sim import config
from tactile_sim.simulation import Simulation

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "feelers.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


def test_its_python_reads_an_image_of_the_cube():
    names: dict[str, np.ndarray] = {}
    exec(compile(block("python"), "docs/feelers.md", "exec"), names)
    # After 0.16 s the cube is near the table: some of its feelers are covered, none of them wholly.
    assert names["picture"].shape == (60, 80)
    assert 0 < names["picture"].max() < 255


def test_its_configuration_gives_feelers_to_the_cube_and_the_balls(tmp_path):
    (tmp_path / "feelers.yaml").write_text(block("yaml"))
    simulation = Simulation(config.load(str(tmp_path / "feelers.yaml")))
    counts = {body.name: body.stop - body.start for body in simulation.feelers.bodies}
    assert counts.pop("cube") == 1944
    # A ball of 3 cm radius has 4π · 9 cm² of skin.
    assert counts == {f"ball_{k}": round(4 * np.pi * 9) for k in range(1, 5)}
