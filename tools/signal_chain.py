#!/usr/bin/env python3
"""Makes the picture of docs/signal_chain.md: python tools/signal_chain.py. Needs no screen.

One press on one taxel, and what each stage alone makes of it.
"""

from __future__ import annotations

from pathlib import Path

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
"""[s]"""
BLOCKS: dict[str, dict[str, float]] = {
    "cross_talk": {"share": 0.4},
    "hysteresis": {"fraction": 0.15},
    "slow_adaptation": {"fraction": 0.4, "time_constant": 0.15},
    "fast_adaptation": {"time_constant": 0.05},
    "noise": {"std": 0.04},
    "threshold": {"level": 0.3},
    "saturation": {"level": 0.8},
    "quantisation": {"step": 0.15},
    "delay": {"time": 0.1},
    "tare": {"at": 0.5},
}
TRUE, TOLD = "#9aa3ad", "#0fa697"


def main() -> None:
    """Writes the picture."""
    model = mujoco.MjModel.from_xml_string(SCENE)
    skin = Skin(model, {1: 0.01})
    time = np.arange(0.0, 1.2, TIMESTEP)
    # Pressed, pressed harder, let go.
    press = np.interp(time, [0.1, 0.25, 0.5, 0.6, 0.8, 1.0], [0.0, 0.6, 0.6, 1.0, 1.0, 0.0])
    figure, axes = plt.subplots(2, 5, figsize=(11, 4.2), sharex=True, sharey=True, layout="constrained")
    for axis, stage in zip(axes.flat, (stage for stage in STAGES if stage in BLOCKS), strict=True):
        sensor = SignalChain(skin, {"pad": {stage: BLOCKS[stage]}}, TIMESTEP)
        told = np.empty(len(time))
        for step, force in enumerate(press):
            reading = np.zeros((len(skin.positions), 1))
            reading[0] = force
            told[step] = sensor.read(step, reading)[0, 0]
        axis.plot(time, press, color=TRUE, linewidth=2)
        axis.plot(time, told, color=TOLD, linewidth=1.2)
        block = ", ".join(f"{name}: {value:g}" for name, value in BLOCKS[stage].items())
        axis.set_title(f"{stage}\n{{{block}}}", fontsize=8)
        axis.grid(alpha=0.3)
    figure.supxlabel("time [s]", fontsize=9)
    figure.supylabel("force of a taxel [N]: true (grey), told (green)", fontsize=9)
    figure.savefig(PICTURE, dpi=100)


if __name__ == "__main__":
    main()
