"""Contact parameters fitted to presses with a sphere and to impacts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from tactile_sim import CommandError, config
from tactile_sim.commands import main
from tactile_sim.fit import FitPad, Indenter
from tactile_sim.fit.impact import Drop, Impact, fit_impact
from tactile_sim.fit.patch import fit_patch
from tactile_sim.fit.recording import Recording

SCENE = """<mujoco><option timestep="0.001"/><worldbody>
  <body name="tip"><geom type="box" size=".012 .012 .006"/></body></worldbody></mujoco>"""
RADIUS, PITCH, SIDE = 0.01, 0.002, 5
FOUNDATION = 5e8
"""Stiffness divided by thickness [Pa/m]; 8 N press a patch with a radius of 3.7 mm."""


def configuration(foundation: float, sensor: str = "") -> str:
    return f"""
/**:
  ros__parameters:
    scene: pad.xml
    seed: 3
    skin:
      touch_function: normal
      response_function: nearest  # of other pads
      stiffness: {{"t*": {foundation * 0.004:e}}}
      thickness: {{tip: 0.004}}
      pads:
        tip:
          body: tip
          response_function: elastic_foundation
          grid: {{rows: {SIDE}, columns: {SIDE}, pitch: [{PITCH}, {PITCH}]}}
          position: [0.0, 0.0, 0.006]
      {sensor}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "pad.xml").write_text(SCENE)
    (tmp_path / "pad.yaml").write_text(configuration(1e8))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pad(folder):
    return FitPad(config.load("pad.yaml"), "tip", Indenter("sphere", RADIUS))


def pressed(force: float) -> np.ndarray:
    """Return the loads (25,) [N] on the taxels when a sphere presses on the middle one.

    Each load is the integral of the pressure ``FOUNDATION * max(0, depth - gap)`` over the taxel's area. Here
    ``gap`` is the height of the sphere's surface above the pad when the sphere just touches it.
    """
    line = (np.arange(SIDE) - SIDE // 2) * PITCH
    inside = ((np.arange(60) + 0.5) / 60 - 0.5) * PITCH
    x = (line[:, None] + inside).ravel()
    square = x[:, None] ** 2 + x**2
    gap = np.where(square < RADIUS**2, RADIUS - np.sqrt(np.maximum(RADIUS**2 - square, 0)), np.inf)

    def loads(depth: float) -> np.ndarray:
        pressure = FOUNDATION * np.maximum(0, depth - gap)
        return pressure.reshape(SIDE, 60, SIDE, 60).mean(axis=(1, 3)).ravel() * PITCH**2

    return loads(brentq(lambda depth: loads(depth).sum() - force, 0, 0.5 * RADIUS))


def test_patch_of_a_sphere_is_that_of_an_elastic_foundation(pad):
    press = pad.press(pad.positions[12:13])
    for force in (2.0, 8.0):
        loads = press.loads(np.array([force]), np.array([0]), FOUNDATION)[0]
        assert loads.sum() == pytest.approx(force)
        assert 0.5 * np.abs(loads - pressed(force)).sum() < 0.08 * force


def test_fit_finds_stiffness_over_thickness(folder, capsys):
    stages = "sensor: {tip: {gain: {scatter: 0.1}, noise: {std: 0.005}}}"
    (folder / "real.yaml").write_text(configuration(FOUNDATION, stages))
    press = f"--pad tip --indenter {RADIUS} --load 8 --hold 0.3 --rate 50 --taxels 7 12 18"
    if "--indenter" in press:
        assert main(["protocol", "real.yaml", *press.split(), "--out", "real.csv"]) == 2  # not simulated
    assert main(["protocol", "real.yaml", *press.split(), "--simulate", "--out", "real.csv"]) == 0
    options = f"--pad tip --indenter {RADIUS} --stages delay --out fitted.yaml"
    assert main(["fit", "pad.yaml", "real.csv", *options.split()]) == 0
    report = {line.split("  ")[0].strip(): line for line in capsys.readouterr().out.splitlines()}
    assert "unidentifiable" not in report["skin.stiffness / skin.thickness"]
    assert "unidentifiable" in report["skin.stiffness"]
    assert "unidentifiable" in report["skin.thickness"]
    skin = config.load("fitted.yaml").skin
    assert skin.stiffness["tip"] / skin.thickness["tip"] == pytest.approx(FOUNDATION, rel=0.05)
    assert skin.thickness == {"tip": 0.004}


def test_patch_smaller_than_a_taxel_does_not_identify_the_stiffness(pad):
    force = np.tile(np.repeat([0.0, 4.0, 8.0], 15), 3)
    taxel = np.where(force > 0, np.repeat([6, 12, 18], 45), -1)
    readings = pad.press(pad.positions).loads(force, taxel, 1e13) + np.random.default_rng(0).normal(
        0, 0.01, (len(force), 25)
    )
    fitted = fit_patch(Recording("press", np.arange(len(force)) / 50, readings, force, taxel), pad)
    assert {estimate.status for estimate in fitted.estimates} == {"unidentifiable"}


def test_fit_finds_solref_of_an_impact_if_the_rate_suffices(folder):
    drop = Drop(config.load("pad.yaml"), "tip", mass=0.1, speed=0.3)
    at, force = drop.force(0.012, 0.8, 0.3)
    for rate, known in ((2000.0, True), (100.0, False)):
        times = np.arange(0.0, 0.25, 1 / rate)
        measured = np.interp(times - 0.0713, at, force, left=0.0)
        measured += np.random.default_rng(1).normal(0, 0.01 * force.max(), len(times))
        constant, ratio = fit_impact(Impact("drop", times, measured, 0.1, 0.3), drop)
        assert {constant.status, ratio.status} == {"fitted" if known else "unidentifiable"}
        if known:
            assert constant.value == pytest.approx(0.012, abs=max(constant.half, 0.05 * 0.012))
            assert ratio.value == pytest.approx(0.8, abs=max(ratio.half, 0.05 * 0.8))


def test_impact_shorter_than_a_time_step_does_not_identify_solref(folder):
    drop = Drop(config.load("pad.yaml"), "tip", mass=0.1, speed=0.3)
    times = np.arange(0.0, 0.01, 2e-5)
    bump = np.exp(-(((times - 0.002) / 1e-4) ** 2))
    estimates = fit_impact(Impact("drop", times, bump, 0.1, 0.3), drop)
    assert {estimate.status for estimate in estimates} == {"unidentifiable"}


def test_contact_of_a_flex_cannot_be_fitted(folder):
    (folder / "flex.xml").write_text("""<mujoco><worldbody><flexcomp name="cloth" type="grid" dim="2"
      count="3 3 1" spacing=".01 .01 .01" radius=".001" mass=".02"/></worldbody></mujoco>""")
    pads = {"cloth": {"flex": "cloth", "spacing": 0.005}}
    skin = {"response_function": "elastic_foundation", "pads": pads}
    settings = config.from_mapping({"scene": "flex.xml", "skin": skin}, folder, "test")
    with pytest.raises(CommandError):
        Drop(settings, "cloth", 0.1, 0.3)
    assert not FitPad(settings, "cloth", Indenter("sphere", RADIUS)).elastic


@pytest.mark.parametrize(
    "options",
    [
        "--indenter 0",
        "--indenter 9",
        "--indenter cube:0.01",
        "--impact drop.csv",
        "--mass 1",
        "--impact no.csv --mass 1 --speed 1",
        "--impact no.csv --mass 1 --speed 1e9",
    ],
)
def test_invalid_contact_options_end_with_exit_code_2(folder, options, capsys):
    (folder / "pad.yaml").write_text(configuration(1e8).replace("elastic_foundation", "nearest"))
    (folder / "press.csv").write_text(
        "time,force,taxel," + ",".join(f"reading_{k}" for k in range(25)) + "\n"
    )
    with open(folder / "press.csv", "a") as file:
        file.writelines(f"{k / 50},{k % 7},0" + f",{k % 7}" * 25 + "\n" for k in range(60))
    arguments = ["fit", "pad.yaml", "press.csv", "--pad", "tip", *options.split()]
    try:
        code = main(arguments)
    except SystemExit as exit_:
        code = exit_.code
    assert code == 2
    assert "Traceback" not in capsys.readouterr().err
