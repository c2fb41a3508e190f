"""A skin on two bodies, and signal chains for the first one."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.signal_chain import SignalChain
from tactile_sim.skin import Skin

MODEL = mujoco.MjModel.from_xml_string("""
<mujoco><worldbody>
  <body name="palm"><geom type="box" size=".05 .05 .05"/></body>
  <body name="tip" pos="1 0 0"><geom type="sphere" size=".05"/></body>
</worldbody></mujoco>""")
SKIN = Skin(MODEL, {1: 0.01, 2: 0.02})
PALM, TIP = (slice(body.start, body.stop) for body in SKIN.pads)
TAXELS = len(SKIN.positions)
TIMESTEP = 0.002
ALL = {
    "cross_talk": {"share": 0.2, "sigma": 0.01},
    "hysteresis": {"fraction": 0.1},
    "viscoelasticity": {"strength": 0.5, "time_constant": 0.05},
    "slow_adaptation": {"fraction": 0.5, "time_constant": 0.1},
    "fast_adaptation": {"time_constant": 0.3},
    "gain": {"scatter": 0.1},
    "offset": {"scatter": 0.01},
    "drift": {"rate": 0.1},
    "noise": {"std": 0.01},
    "saturation": {"level": 2.0},
    "smoothing": {"time_constant": 0.003},
    "threshold": {"level": 0.02},
    "transfer": {"coefficients": [1000.0, -100.0], "limit": 4.0, "baseline": 5000.0},
    "quantisation": {"step": 1.0, "bits": 16},
    "dead_taxels": {"fraction": 0.05, "taxels": [3]},
    "dropout": {"hold": 0.1, "zero": 0.1},
    "delay": {"time": 0.015, "jitter": 0.005},
    "calibration": {"inputs": [0.0, 4.0], "outputs": [0.0, 3000.0], "baseline": 5000.0},
    "tare": {"at": 0.05},
    "clip": {"low": -1.5, "high": 1.5},
    "contact": {"above": 0.05, "below": 0.02},
    "history": {"samples": 4},
}
"""One block of parameters per stage; the stages include stateful and stateless ones."""


def sensor(seed=0, **stages):
    return SignalChain(SKIN, {"palm": stages}, TIMESTEP, seed)


def held(value, channels=3):
    """Return equal readings for all taxels: one channel, or three channels along (2, 3, 6) / 7."""
    direction = np.array([2.0, 3.0, 6.0]) / 7.0 if channels == 3 else np.ones(1)
    return np.full((TAXELS, 1), value) * direction


def first_reading(made, value, step, channels=3):
    """Return the first taxel's output for the readings of `held`, projected onto their direction."""
    reading = held(value, channels)
    return float(made.read(step, reading)[0] @ held(1.0, channels)[0])


RANDOM = {
    "cross_talk": {"share": [0.1, 0.3]},
    "gain": {"value": [0.85, 1.15], "scatter": [0.0, 0.1]},
    "noise": {"std": [0.0, 0.01]},
    "dead_taxels": {"fraction": [0.05, 0.05], "value": [0.0, 1.0]},
    "delay": {"time": [0.0, 0.01]},
}
