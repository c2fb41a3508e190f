#!/usr/bin/env python3
"""Generate the figure of docs/signal_chain.md: python tools/signal_chain.py. It needs no display.

The figure shows the responses of most stages to one press on a taxel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import mujoco
import numpy as np

from tactile_sim.signal_chain import STAGES, SignalChain
from tactile_sim.skin import Skin

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "signal_chain.png"
SCENE = (
    '<mujoco><worldbody><body name="pad"><geom type="box" size=".05 .05 .01"/></body></worldbody></mujoco>'
)
TIMESTEP = 0.002
"""Time step of the simulated readings [s]."""
BLOCKS: dict[str, dict[str, Any]] = {
    "cross_talk": {"share": 0.4},
    "hysteresis": {"fraction": 0.15},
    "viscoelasticity": {"strength": 0.6, "time_constant": 0.08},
    "slow_adaptation": {"fraction": 0.4, "time_constant": 0.15},
    "fast_adaptation": {"time_constant": 0.05},
    "gain": {"value": 0.8},
    "offset": {"value": 0.1},
    "drift": {"rate": 0.15},
    "noise": {"std": 0.04},
    "saturation": {"level": 0.8},
    "smoothing": {"time_constant": 0.04},
    "threshold": {"level": 0.3},
    "transfer": {"coefficients": [1.6, -0.75], "limit": 1.0},
    "quantisation": {"step": 0.15},
    "dropout": {"hold": 0.9},
    "delay": {"time": 0.1},
    "calibration": {"inputs": [0.0, 1.0], "outputs": [0.0, 1.3]},
    "tare": {"at": 0.5},
    "clip": {"low": 0.2, "high": 0.7},
    "contact": {"above": 0.7, "below": 0.3},
}
INPUT, OUTPUT = "#9aa3ad", "#0fa697"


def main() -> None:
    """Draw and save the figure."""
    model = mujoco.MjModel.from_xml_string(SCENE)
    skin = Skin(model, {1: 0.01})
    time = np.arange(0.0, 1.2, TIMESTEP)
    # Press, press harder, release.
    press = np.interp(time, [0.1, 0.25, 0.5, 0.6, 0.8, 1.0], [0.0, 0.6, 0.6, 1.0, 1.0, 0.0])
    figure, axes = plt.subplots(4, 5, figsize=(11, 8.0), sharex=True, sharey=True, layout="constrained")
    for axis, stage in zip(axes.flat, (stage for stage in STAGES if stage in BLOCKS), strict=True):
        chain = SignalChain(skin, {"pad": {stage: BLOCKS[stage]}}, TIMESTEP)
        readings = np.empty(len(time))
        for step, force in enumerate(press):
            reading = np.zeros((len(skin.positions), 1))
            reading[0] = force
            readings[step] = chain.read(step, reading)[0, 0]
        axis.plot(time, press, color=INPUT, linewidth=2)
        axis.plot(time, readings, color=OUTPUT, linewidth=1.2)
        block = ", ".join(f"{name}: {value}" for name, value in BLOCKS[stage].items())
        axis.set_title(f"{stage}\n{{{block}}}", fontsize=8)
        axis.grid(alpha=0.3)
    figure.supxlabel("time [s]", fontsize=9)
    figure.supylabel("force of a taxel [N]: input (gray), output (green)", fontsize=9)
    figure.savefig(PICTURE, dpi=100)


if __name__ == "__main__":
    main()
