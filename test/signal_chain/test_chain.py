"""Combinations of stages: order, memory and invalid configurations."""

from __future__ import annotations

import numpy as np
import pytest
from support.errors import raises
from support.signal_chain import ALL, SKIN, TAXELS, TIMESTEP, TIP, held, sensor

from tactile_sim import CommandError, ConfigError
from tactile_sim.signal_chain import STAGES, SignalChain


def test_chain_without_stages_returns_its_input(readings):
    made = SignalChain(SKIN, {}, TIMESTEP)
    reading = readings[0]
    assert made.read(0, reading) is reading
    assert not made.has_memory
    assert not made.staged.any()


def test_only_stages_that_depend_on_the_past_have_memory():
    without = {"cross_talk", "gain", "offset", "noise", "saturation", "threshold", "transfer", "quantisation"}
    without |= {"dead_taxels", "calibration", "clip"}
    assert {stage for stage, block in ALL.items() if not sensor(**{stage: block}).has_memory} == without


def test_body_without_stages_is_unchanged(readings):
    made = sensor(**ALL)
    for step, reading in enumerate(readings):
        before = reading.copy()
        np.testing.assert_array_equal(made.read(step, reading)[TIP], before[TIP])
        np.testing.assert_array_equal(reading, before)
    np.testing.assert_array_equal(made.staged, [True, False])


def test_adjacent_pads_with_equal_stages_read_as_if_alone(readings):
    both, palm, tip = (SignalChain(SKIN, {pads: ALL}, TIMESTEP) for pads in ("*", "palm", "tip"))
    for k, reading in enumerate(readings):
        expected = palm.read(5 * k, reading)
        expected[TIP] = tip.read(5 * k, reading)[TIP]
        np.testing.assert_array_equal(both.read(5 * k, reading), expected)


def test_order_of_stages_does_not_depend_on_the_configuration(readings):
    forward, backward = sensor(**ALL), sensor(**dict(reversed(ALL.items())))
    one_by_one = [sensor(**{stage: ALL[stage]}) for stage in STAGES]
    for step, reading in enumerate(readings):
        out = forward.read(step, reading)
        np.testing.assert_array_equal(out, backward.read(step, reading))
        for single in one_by_one:
            reading = single.read(step, reading)
        np.testing.assert_array_equal(out, reading)


def test_peek_and_repeated_reads_do_not_change_the_state(readings):
    watched, alone = sensor(**ALL), sensor(**ALL)
    for k, reading in enumerate(readings):
        step = 5 * k
        out = alone.read(step, reading)
        watched.peek(step, reading)
        for _ in range(2):
            np.testing.assert_array_equal(watched.read(step, reading), out)
        watched.peek(step + 2, readings[0])


def test_restart_repeats_all_but_the_tare(readings):
    stages = {name: block for name, block in ALL.items() if name != "tare"}
    made = sensor(**stages)
    first = [made.read(step, reading) for step, reading in enumerate(readings)]
    made.restart()
    np.testing.assert_array_equal([made.read(step, reading) for step, reading in enumerate(readings)], first)


def test_number_of_channels_can_change_after_forget(readings):
    made = sensor(**ALL)
    made.read(100, readings[0])
    made.forget()
    assert made.read(0, readings[0][:, :1]).shape == (TAXELS, 1)


@pytest.mark.parametrize("shape", [(TAXELS - 1, 3), (TAXELS, 1), (TAXELS,)])
def test_reading_of_another_shape_is_rejected(shape):
    made = sensor(**ALL)
    made.read(0, held(1.0))
    with raises(CommandError, f"({TAXELS}, 3)", str(shape)):
        made.read(1, np.zeros(shape))


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5])
def test_invalid_seed_is_rejected(seed):
    with raises(ConfigError, "my.yaml: seed", str(seed)):
        SignalChain(SKIN, {"palm": {"noise": {"std": 1}}}, TIMESTEP, seed, "my.yaml")
    with raises(CommandError, "seed", str(seed)):
        sensor(**ALL).restart(seed)


def test_step_must_not_decrease():
    made = sensor(**ALL)
    made.read(7, held(1.0))
    with raises(CommandError, "6", "7"):
        made.read(6, held(1.0))


INVALID = {
    "plam": ({"plam": {"noise": {"std": 1}}}, ["palm"]),
    "f*": ({"f*": {"noise": {"std": 1}}}, ["palm", "tip"]),
    "palm": ({"palm": 1}, ["cross_talk", "tare", "1"]),
    "palm: unknown key 'nois'": ({"palm": {"nois": {"std": 1}}}, ["noise"]),
    "palm.noise: unknown key 'sdt'": ({"palm": {"noise": {"sdt": 1}}}, ["std"]),
    "palm.noise": ({"palm": {"noise": 1}}, ["std", "1"]),
    "palm.noise.std": ({"palm": {"noise": {"std": -1}}}, ["-1"]),
    "palm.cross_talk.share": ({"palm": {"cross_talk": {"share": 2}}}, ["2"]),
    "palm.delay.time": ({"palm": {"delay": {"time": 11}}}, ["10", "11", "[s]"]),
    "palm.quantisation.step": ({"palm": {"quantisation": {"step": 0}}}, ["0"]),
    "palm.slow_adaptation.time_constant": ({"palm": {"slow_adaptation": {"fraction": 1}}}, []),
    "palm.dead_taxels.taxels": ({"palm": {"dead_taxels": {"taxels": [9999]}}}, ["9999", "palm"]),
    "*.dead_taxels.taxels": ({"*": {"dead_taxels": {"taxels": [-1]}}}, ["-1"]),
    "t*.dead_taxels.taxels": ({"t*": {"dead_taxels": {"taxels": 3}}}, ["3"]),
}


@pytest.mark.parametrize("key", INVALID)
def test_invalid_stage_is_rejected_by_key(key):
    stages, facts = INVALID[key]
    with raises(ConfigError, f"my.yaml: skin.sensor.{key}", *facts):
        SignalChain(SKIN, stages, TIMESTEP, source="my.yaml")


def test_key_of_a_stage_is_its_name_in_snake_case():
    assert list(STAGES) == list(ALL)


def test_exact_name_takes_precedence_over_pattern():
    stages = {"*": {"saturation": {"level": 1.0}}, "tip": {"threshold": {"level": 0.5}}}
    made = SignalChain(SKIN, stages, TIMESTEP)
    out = made.read(0, held(3.0))
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), np.where(SKIN.pad_index == 0, 1.0, 3.0))
