"""Fits to excerpts of public recordings of real sensors, see docs/validation.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.commands import main

DATA = Path(__file__).resolve().parents[1] / "data/real"


def test_insole_is_fitted_and_its_noise_replayed(tmp_path, capsys):
    """Counts fall with load; the spread is that of the residuals of a polynomial fit by other means."""
    command = (
        f"fit {DATA}/insole.yaml {DATA}/insole_calibration_dataset.npz --mapping {DATA}/insole_columns.yaml"
    )
    test = f"--test {DATA}/insole_validation_dataset_1.npz"
    out = tmp_path / "fitted.yaml"
    assert (
        main([*command.split(), "--pad", "pad", "--indenter", "taxel", "--out", str(out), *test.split()]) == 0
    )
    report = capsys.readouterr().out
    rows = [line.split() for line in report.splitlines() if "spread of noise" in line]
    spread = {float(row[4]): (float(row[6]), float(row[7])) for row in rows}
    for time, real in {0.02: 0.57, 0.1: 0.89, 10.0: 0.92, 100.0: 1.04}.items():
        assert spread[time][0] == pytest.approx(real, rel=0.1)
        assert spread[time][1] == pytest.approx(real, rel=0.2)
    assert main(["check", str(out)]) == 0
    stages = config.load(out).skin.sensor["pad"]
    assert (np.array(stages["gain"]["taxels"]) < 0).all()
    assert stages["noise"]["std"] > 0
    share = [
        float(line.split("rms, ")[1].split("%")[0]) for line in report.splitlines() if "predicted" in line
    ]
    assert share[1] < 3.5  # with a tare [% of the range]


def test_eflesh_has_a_curve_for_each_channel(tmp_path, capsys):
    command = (
        f"fit {DATA}/eflesh.yaml {DATA}/eflesh_20250401_015037_probe.npz --mapping {DATA}/eflesh_columns.yaml"
    )
    test = f"--test {DATA}/eflesh_20250401_015717_probe.npz"
    out = tmp_path / "fitted.yaml"
    assert main(
        [*command.split(), "--pad", "pad", "--indenter", "taxel", "--poor", "--out", str(out), *test.split()]
    ) in (0, 1)
    report = capsys.readouterr().out
    share = [
        float(line.split("rms, ")[1].split("%")[0]) for line in report.splitlines() if "predicted" in line
    ]
    assert max(share) < 5.0
    gain = config.load(out).skin.sensor["pad"]["gain"]
    signs = np.sign(
        np.polynomial.polynomial.polyval(30.0, [np.zeros(5), gain["taxels"], gain["second"], gain["third"]])
    )
    np.testing.assert_array_equal(signs, [-1, 1, 1, -1, 1])
