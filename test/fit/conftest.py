"""Fixtures that simulate a cube with eight taxels and record its readings."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.fit import FitPad, Recording, protocol

SCENE = (
    '<mujoco><worldbody><body name="tip"><geom type="box" size=".006 .006 .006"/></body></worldbody></mujoco>'
)


@pytest.fixture
def pad(tmp_path):
    """Return a function that creates settings and a `FitPad` with the specified stages."""
    (tmp_path / "pad.xml").write_text(SCENE)

    def make(stages, seed=3):
        skin = {"touch_function": "normal", "response_function": "nearest", "scales": {"tip": 0.012}}
        skin |= {"sensor": {"tip": stages}} if stages else {}
        settings = config.from_mapping({"scene": "pad.xml", "seed": seed, "skin": skin}, tmp_path, "pad.yaml")
        return settings, FitPad(settings, "tip")

    return make


@pytest.fixture
def record(pad):
    """Return a function that simulates the protocol on the pad.

    The function returns the `Recording` and the `FitPad` for a fit.
    """

    def make(stages, taxels=range(5), hold=0.4, rate=50.0, distort=None, seed=3):
        _, reference = pad(stages, seed)
        motion = protocol.make(reference, force=5.0, hold=hold, speed=20.0, rate=rate, taxels=taxels)
        readings = protocol.simulate(motion, reference)
        if distort:
            random = np.random.default_rng(seed)
            readings = distort(readings) + random.normal(0, 0.01, readings.shape)
        return Recording("recording", motion.times, readings, motion.force, motion.taxel), reference

    return make
