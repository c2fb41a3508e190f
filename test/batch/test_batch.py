"""Test batches: faults, reductions and invalid input."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import sys
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from support.batches import MEMORY, SCENE, SEED, SKIN, batch_of, scene
from support.errors import raises
from support.signal_chain import ALL

from tactile_sim import CommandError, ConfigError, EngineError, Simulation, _core, config
from tactile_sim.batch import Batch
from tactile_sim.batch.backends import bytes_per_environment


def test_only_the_environment_with_invalid_numbers_is_reported_and_reset():
    settings = {"skin": {**SKIN, "sensor": {"*": MEMORY}}}
    broken, sound = batch_of(4, settings), batch_of(4, settings)
    for batch in (broken, sound):
        batch.ctrl[:] = 0.3
        batch.step(23)
    broken.qvel[2, 0] = np.nan
    for batch in (broken, sound):
        batch.step(5)
    assert list(broken.faults) == [2] and "velocity" in broken.faults[2]
    others = [0, 1, 3]
    np.testing.assert_array_equal(broken.qpos[others], sound.qpos[others])
    np.testing.assert_array_equal(broken.qpos[2], broken.simulation.engine.model.qpos0)
    np.testing.assert_array_equal(broken.steps_since_reset, [28, 28, 0, 28])
    broken.step(40)
    sound.step(40)
    assert not broken.faults and np.isfinite(broken.observe().readings).all()
    np.testing.assert_array_equal(broken.qpos[others], sound.qpos[others])


def test_observe_resets_environments_with_an_invalid_state_and_lists_them():
    batch = batch_of(3)
    batch.step(5)
    expected = batch.observe().readings[[0, 2]].copy()
    batch.qpos[1] = np.nan
    seen = batch.observe()
    assert list(batch.faults) == [1] and "position" in batch.faults[1]
    assert np.isfinite(seen.readings).all() and seen.time[1] == 0.0
    np.testing.assert_array_equal(seen.readings[[0, 2]], expected)


def test_assigned_states_and_inputs_act_like_those_modified_in_place():
    assigned, modified = batch_of(2), batch_of(2)
    random = np.random.default_rng(0)
    for name in ("qvel", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos"):
        values = random.uniform(-1.0, 1.0, np.shape(getattr(modified.worlds, name)))
        setattr(assigned.worlds, name, values)
        getattr(modified.worlds, name)[:] = values
    assigned.worlds.qfrc_applied += 1.0
    modified.worlds.qfrc_applied[:] += 1.0
    for batch in (assigned, modified):
        batch.step(10)
    np.testing.assert_array_equal(assigned.qpos, modified.qpos)
    assigned.qpos = modified.simulation.engine.model.qpos0
    np.testing.assert_array_equal(
        assigned.worlds.qpos, np.tile(modified.simulation.engine.model.qpos0, (2, 1))
    )


def test_environment_in_which_mujoco_fails_is_reported():
    text = SCENE.replace("<option", '<size memory="6K"/><option').replace('pos="0 0 .11"', 'pos="0 0 .2"')
    batch = Batch(mujoco.MjSpec.from_string(text), 2, settings={"skin": SKIN})
    batch.qpos[1, 2] = 0.1
    batch.step(1)
    assert list(batch.faults) == [1] and "memory" in batch.faults[1]


def test_arguments_at_which_mujoco_ends_the_process_are_refused():
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    worlds = _core.Worlds(model._address, 2, 1)
    assert worlds.step(0) == 0
    for call, argument in ((worlds.component, 3), (worlds.error, 2), (worlds.error, -1)):
        with pytest.raises(ValueError):
            call(argument)
    with pytest.raises(ValueError):
        worlds.reset(None, np.zeros(2, np.int32))  # there are no keyframes


@pytest.mark.parametrize("stages", [{}, {"*": {"noise": {"std": 0.1}}}])
def test_reductions_agree_with_readings(stages):
    batch = batch_of(3, {"skin": {**SKIN, "sensor": stages}})
    batch.qpos[1, 2] = 1.0
    batch.step(3)
    fixed = Batch(
        scene(), 3, settings={"skin": {**SKIN, "sensor": stages}, "seed": SEED}, pads=["arm"], reduce="sum"
    )
    fixed.qpos[1, 2] = 1.0
    fixed.step(3)
    np.testing.assert_array_equal(fixed.observe().readings, batch.observe(["arm"], "sum").readings)
    np.testing.assert_array_equal(
        fixed.observe(["box"], "peak").readings, batch.observe(["box"], "peak").readings
    )
    skin, seen = batch.simulation.skin, batch.observe()
    readings = seen.readings.astype(float)  # noise is float32, reductions add in float64
    for pads in (None, ["arm"], ["arm", "box"]):
        chosen = [body for name in pads or ("box", "arm") for body in skin.pads if body.name == name]
        parts = [readings[:, body.start : body.stop] for body in chosen]
        magnitudes = [np.linalg.norm(part, axis=2) for part in parts]

        def reduced(name, pads=pads):
            return batch.observe(pads, name).readings

        total = np.stack([part.sum(axis=1) for part in parts], axis=1)
        np.testing.assert_allclose(reduced("sum"), total, atol=1e-12)
        np.testing.assert_allclose(reduced("peak"), np.stack([m.max(axis=1) for m in magnitudes], axis=1))
        np.testing.assert_array_equal(
            reduced("contact"), np.stack([m.any(axis=1) for m in magnitudes], axis=1)
        )
        with np.errstate(invalid="ignore"):
            centers = [
                m @ skin.positions[body.start : body.stop] / m.sum(axis=1, keepdims=True)
                for m, body in zip(magnitudes, chosen, strict=True)
            ]
        np.testing.assert_allclose(reduced("center_of_pressure"), np.stack(centers, axis=1), atol=1e-12)
        np.testing.assert_array_equal(batch.observe(pads).readings, np.concatenate(parts, axis=1))
        assert batch.observe(pads).wrenches.shape == (3, len(chosen), 6)


def test_memory_per_environment_is_below_a_megabyte():
    settings = config.load("hand")
    chain = ALL | {"history": {"samples": 50}}  # no reading depends on the history
    for stages in ({}, {"*": chain}):
        simulation = Simulation(replace(settings, skin=replace(settings.skin, sensor=stages)))
        assert bytes_per_environment(simulation) < 1e6


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"backend": "mujcoo"}, EngineError, ("backend", "'mujcoo'", "'mujoco'")),
        ({"device": "cuda"}, EngineError, ("device", "'cuda'")),
        ({"pads": ["bxo"]}, CommandError, ("'bxo'", "'box'")),
        ({"pads": "box"}, CommandError, ("pads", "['box']")),
        ({"num_envs": 2.5}, EngineError, ("num_envs", "2.5")),
        ({"threads": -1}, EngineError, ("threads", "-1")),
        ({"num_envs": 2**30}, EngineError, ("num_envs", str(2**30), "GiB", "at most")),
        ({"seed": -1}, EngineError, ("seed", "-1")),
        ({"settings": {"skin": SKIN, "command_timeout": 1.0}}, ConfigError, ("command_timeout",)),
    ],
)
def test_invalid_arguments_are_rejected(arguments, error, words):
    spec = mujoco.MjSpec.from_string(SCENE)
    with raises(error, *words):
        Batch(spec, **({"num_envs": 2, "settings": {"skin": SKIN}} | arguments))


def test_missing_mujoco_warp_is_reported_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco_warp", None)
    with raises(EngineError, "backend", "'warp'", "pip install 'mujoco-warp"):
        Batch(mujoco.MjSpec.from_string(SCENE), 2, "warp", settings={"skin": SKIN})


def test_engines_that_step_in_python_are_rejected():
    with raises(EngineError, "trifinger", "'mujoco'"):
        Batch("trifinger", 2)


def test_a_batch_stays_in_its_process():
    batch = batch_of(2)
    with raises(EngineError, "Batch", "pickled"):
        pickle.dumps(batch)
    seen = batch.observe()
    calls = (
        batch.step,
        batch.observe,
        batch.reset,
        lambda: batch.command_joints({"turn": 0.1}),
        batch.take_tare,
        lambda: batch.ctrl,
        lambda: batch.qpos,
        lambda: setattr(batch, "qvel", 0.0),
        lambda: copy.deepcopy(batch),
        lambda: seen.readings,
        lambda: seen.reduced("sum"),
    )
    reading, writing = os.pipe()
    if not (child := os.fork()):
        signal.alarm(20)  # a call without its threads would not return
        try:
            for call in calls:
                with raises(EngineError, "fork"):
                    call()
                os.write(writing, b"1")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert len(os.read(reading, 100)) == len(calls)
    batch.step()


def test_a_copy_of_a_batch_continues_exactly_and_independently():
    skin = {**SKIN, "sampling": "mean", "sensor": {"*": MEMORY}}
    batch = batch_of(3, {"skin": skin, "motion": {"keyframes": ["up", "left"], "period": 0.4}})
    batch.step(30)
    batch.command_joints({"turn": np.array([0.5, -0.5])}, envs=[0, 2])
    batch.take_tare([1])
    batch.reset([2], "up")
    batch.step(17)
    copied = copy.deepcopy(batch)
    for _ in range(5):
        for each in (batch, copied):
            each.step(100)
        one, other = batch.observe(), copied.observe()
        np.testing.assert_array_equal(batch.worlds.state, copied.worlds.state)
        np.testing.assert_array_equal(one.readings, other.readings)
        np.testing.assert_array_equal(one.wrenches, other.wrenches)
    before = batch.qpos.copy()
    copied.ctrl[:] = 0.7
    copied.step(50)
    copied.reset()
    np.testing.assert_array_equal(batch.qpos, before)


def test_an_outdated_observation_keeps_what_was_read_and_refuses_the_rest():
    batch = batch_of(2)
    batch.step(100)
    seen = batch.observe()
    readings, contacts, sensors, time = seen.readings, seen.contacts(0), seen.sensor_data, seen.time
    kept = [array.copy() for array in (readings, contacts.values, sensors, time)]
    batch.reset()
    batch.step(3)
    batch.observe()
    for array, expected in zip((seen.readings, contacts.values, sensors, seen.time), kept, strict=True):
        np.testing.assert_array_equal(array, expected)
    for read in (
        lambda: seen.truth,
        lambda: seen.wrenches,
        lambda: seen.contacts(0),
        lambda: seen.joint_states,
    ):
        with raises(CommandError, "Observation", "outdated"):
            read()


def test_invalid_calls_are_rejected():
    batch = batch_of(2)
    for call, error, words in (
        (lambda: batch.step(-1), CommandError, ("-1",)),
        (lambda: setattr(batch, "qpos", np.zeros((2, 16), object)), CommandError, ("qpos", "(2, 16)")),
        (lambda: setattr(batch.worlds, "xfrc_applied", np.zeros(7)), CommandError, ("xfrc_applied", "(7,)")),
        (lambda: batch.reset([2]), EngineError, ("2", "0 to 1")),
        (lambda: batch.reset([[0], [0, 1]]), EngineError, ("envs", "[0, 1]")),
        (lambda: batch.reset(None, "upp"), EngineError, ("'upp'", "'up'")),
        (lambda: batch.reset(seed=-1), EngineError, ("seed", "-1")),
        (lambda: batch.observe().contacts(9), CommandError, ("env", "0 to 1", "9")),
        (lambda: batch.observe().contact_sensor([]), EngineError, ("[]",)),
        (lambda: batch.observe(["bxo"]), CommandError, ("'bxo'", "'box'")),
        (lambda: batch.observe(["box", "box"]), CommandError, ("pads", "box")),
        (lambda: batch.observe(reduce="summ"), CommandError, ("'summ'", "'sum'")),
        (lambda: batch.device_array(3), EngineError, ("warp",)),
        (lambda: batch.command_joints(3), CommandError, ("position", "3")),
        (lambda: batch.command_joints({"trun": 0.0}), CommandError, ("'trun'", "'turn'")),
        (lambda: batch.command_joints({"turn": [0.0, 0.1, 0.2]}), CommandError, ("'turn'", "2")),
        (lambda: batch.command_joints(effort={"turn": np.inf}), CommandError, ("effort", "'turn'", "inf")),
        (lambda: setattr(batch, "ctrl", [[0.0], [1.0, 2.0]]), CommandError, ("ctrl", "[1.0, 2.0]")),
    ):
        with raises(error, *words):
            call()
