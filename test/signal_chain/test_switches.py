"""Stages that are switched off and on while the chain runs."""

from __future__ import annotations

import numpy as np
import pytest
from support.errors import raises
from support.signal_chain import ALL, PALM, TAXELS, TIP, sensor

from tactile_sim import ConfigError, config
from tactile_sim.signal_chain import STAGES

OFF = range(10, 20)
"""Indices of readings for which the stage is off."""


@pytest.mark.parametrize("stage", STAGES)
def test_switched_off_stage_changes_nothing_and_keeps_its_memory(readings, stage):
    others = {} if stage == "gain" else {"gain": ALL["gain"]}
    switched, always = sensor(**others, **{stage: ALL[stage]}), sensor(**others, **{stage: ALL[stage]})
    without = sensor(**others)
    for step, reading in enumerate(readings):
        switched.switch({"palm": {stage: step not in OFF}, "tip": {stage: True}, "nose": {stage: False}})
        out, on, off = (chain.read(step, reading) for chain in (switched, always, without))
        np.testing.assert_array_equal(out, off if step in OFF else on)
        if len(switched.valid):
            np.testing.assert_array_equal(switched.valid, 1 if step in OFF else always.valid)


def test_switch_acts_on_the_output_of_the_stages_before_it(readings):
    on = {name: block for name, block in ALL.items() if name not in ("noise", "saturation", "dead_taxels")}
    switched, without = sensor(**ALL), sensor(**on)
    switched.switch({"palm": dict.fromkeys(set(ALL) - set(on), False)})
    for step, reading in enumerate(readings):
        np.testing.assert_array_equal(switched.read(step, reading), without.read(step, reading))


def test_unknown_switch_is_refused_with_the_nearest_name():
    sensor = {"*": {"noise": {"std": 0.1}}}
    settings = config.from_mapping({"scene": "touch_cube.xml", "skin": {"sensor": sensor}})
    for key, near in (
        ("skin.sensor.*.nois.enabled", "noise"),
        ("skin.sensor.cube.noise.enabled", "skin.sensor.*"),
    ):
        with raises(ConfigError, key, near):
            settings.replace(key, False)


def test_stage_that_is_off_in_the_configuration_can_be_switched_on(readings):
    made = sensor(offset={"value": 1.0, "enabled": False})
    before = made.read(0, readings[0])
    np.testing.assert_array_equal(before, readings[0])
    made.switch({"palm": {"offset": True}})
    added = np.zeros((TAXELS, 3), np.float32)
    added[PALM] = 1.0
    np.testing.assert_array_equal(made.read(1, readings[0]), readings[0] + added)
    made.forget()  # as after a change of the touch function
    np.testing.assert_array_equal(made.read(1, readings[0])[TIP], readings[0][TIP])
    np.testing.assert_array_equal(made.read(1, readings[0])[PALM], readings[0][PALM] + np.float32(1.0))
