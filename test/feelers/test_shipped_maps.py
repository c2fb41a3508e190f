"""Feeler maps and meshes of the shipped scenes."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tactile_sim import config
from tactile_sim.common.files import find_shipped
from tactile_sim.feelers.placement import place
from tactile_sim.scenes import load_scene
from tactile_sim.simulation import Simulation

ROOT = Path(__file__).resolve().parent.parent.parent


def painted(scene: str, body: str, image: str):
    model = load_scene(scene)[1]
    return place(model, model.body(body).id, image=find_shipped("scenes", f"assets/{image}.png"))


def test_assets_match_the_script(tmp_path):
    script = runpy.run_path(str(ROOT / "tools" / "paint.py"))
    shipped = script["ASSETS"]
    script["main"].__globals__["ASSETS"] = tmp_path
    script["main"]()
    assert {path.name for path in tmp_path.iterdir()} == {
        path.name
        for path in shipped.iterdir()
        if not path.name.startswith("imprint_")  # from tools/imprint.py
    }
    for made in tmp_path.glob("*.obj"):
        assert made.read_text() == (shipped / made.name).read_text(), "run python tools/paint.py"
    for made in tmp_path.glob("*.png"):
        new, old = (np.asarray(Image.open(path)) for path in (made, shipped / made.name))
        assert (new == old).all(), "run python tools/paint.py"


def test_cube_has_a_grid_of_feelers_on_each_face():
    placed = painted("touch_cube", "cube", "touch_cube")
    for axis in range(3):
        for side in (-1, 1):
            face = placed.positions[placed.normals[:, axis] * side > 0.99]
            assert len(face) == 18**2
            assert face[:, axis] == pytest.approx(side * 0.1, abs=1e-12)
            # Feelers are 1 cm apart, and the outermost ones 1.5 cm from the edges.
            across = np.unique(np.round(np.delete(face, axis, axis=1), 9))
            assert across == pytest.approx(np.linspace(-0.085, 0.085, 18), abs=1e-9)


def test_worm_feelers_are_dense_at_the_tip_and_absent_in_the_neck():
    upper = painted("worm", "worm_upper", "worm_upper").positions
    lower = painted("worm", "worm_lower", "worm_lower").positions
    tip = upper[:, 2] > 0.15
    # With spacings of 3 mm and 1 cm, there are eleven times as many per area.
    around = 2 * np.pi * np.hypot(upper[:, 0], upper[:, 1])
    dense = np.count_nonzero((upper[:, 2] > 0.16) & (upper[:, 2] < 0.18)) / (0.02 * around[tip].mean())
    sparse = np.count_nonzero((lower[:, 2] > 0.06) & (lower[:, 2] < 0.14)) / (0.08 * 2 * np.pi * 0.03)
    assert dense / sparse == pytest.approx(11, rel=0.25)
    assert sparse == pytest.approx(1e4, rel=0.15)
    # The lower segment ends 4 cm above the upper one's lower pole.
    assert upper[:, 2].min() > 0.04


def test_upper_segment_of_the_worm_covers_the_lower_one_at_the_neck():
    simulation = Simulation(config.load("worm"))
    lower = next(body for body in simulation.feelers.bodies if body.name == "worm_lower")
    these = slice(lower.start, lower.stop)
    covered = simulation.observe().feelers[these] < simulation.feelers.lengths[these]
    assert (covered.sum(), len(covered)) == (53, 368)
    # The upper segment's round end is centerd at 0.19 m. Rays start 24 mm from the axis (3 cm less a fifth of
    # their length), and there the end of 3 cm radius begins at 0.19 m - 18 mm.
    assert (covered == (simulation.feelers.positions[these][:, 2] > 0.172)).all()


def test_worm_feelers_are_on_its_surface():
    lower = painted("worm", "worm_lower", "worm_lower")
    along = np.clip(lower.positions[:, 2], 0.03, 0.17)
    away = np.linalg.norm(lower.positions - np.outer(along, [0, 0, 1]), axis=1)
    # A capsule of 3 cm radius with 32 flat sides: at least cos(π / 32) of it, less on the ends.
    assert away.max() < 0.03 + 1e-6
    assert away.min() > 0.0296
    middle = lower.positions[:, 2] - along == 0
    assert np.abs(lower.normals[middle, 2]).max() < 1e-3
