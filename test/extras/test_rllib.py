"""RLlib trains on the vector environments. `make test-extras` runs this file."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray.rllib", reason="installed by make test-extras only")

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/rllib_balance.py"


def test_ppo_of_rllib_learns_on_a_batch():
    done = subprocess.run(
        [sys.executable, EXAMPLE, "contact", "1"], stdout=subprocess.PIPE, text=True, check=True
    )
    (mean,) = map(float, done.stdout.split())
    assert 10.0 < mean < 60.0  # a ball rolls off a tray that does not move within 1.3 s, which is 65 steps
