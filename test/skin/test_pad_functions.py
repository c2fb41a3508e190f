"""Pads with individual touch functions, response functions and sampling."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest

from tactile_sim import ConfigError, Simulation
from tactile_sim.batch import Batch
from tactile_sim.skin import TOUCH_FUNCTIONS

GRID = {"rows": 4, "columns": 4, "pitch": [0.004, 0.004]}
WEIGHT = 0.981
BODIES = "".join(
    f'<body name="{name}" pos="{k} 0 0"><geom type="box" size=".02 .02 .01" pos="0 0 -.01"/></body>'
    f'<body name="ball_{name}" pos="{k} 0 .0049"><freejoint/>'
    '<geom size=".005" mass=".1" condim="6" friction="1 .1 .1"/></body>'
    for k, name in enumerate(("a", "b", "c"))
)
PADS = {
    "a": {"body": "a", "grid": GRID},
    "b": {"body": "b", "grid": GRID, "touch_function": "normal", "response_function": "nearest"},
    "c": {"body": "c", "grid": GRID, "touch_function": "pressure", "sampling": "peak"},
}


def simulation(pads=None, **skin) -> Simulation:
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{BODIES}</worldbody></mujoco>")
    skin = {"touch_function": "force_vector_taxel", "pads": pads or PADS, **skin}
    return Simulation(spec, {"skin": skin})


def test_each_pad_reads_its_own_quantity_by_its_own_response():
    made = simulation()
    made.step(400)
    snapshot = made.observe()
    a, b, c = (snapshot.reading(pad) for pad in made.skin.pads)
    np.testing.assert_array_equal(snapshot.reading("b"), b)
    assert (a.shape, b.shape, c.shape) == ((16, 3), (16, 1), (16, 1))
    np.testing.assert_allclose(a.sum(axis=0), [0, 0, WEIGHT], rtol=0.01, atol=0.01)
    assert b.sum() == pytest.approx(WEIGHT, rel=0.01)
    assert (c * 0.004**2).sum() == pytest.approx(WEIGHT, rel=0.01)
    assert np.count_nonzero(a[:, 2]) > 1 and np.count_nonzero(b) == 1
    assert snapshot.readings.shape == (48, 3) and not snapshot.readings[16:, 1:].any()
    assert snapshot.outside[0].tolist() == [0, 0, 0]
    # In newtons, regardless of the quantity that a pad measures.
    np.testing.assert_allclose(snapshot.viewed[:, 2].reshape(3, 16).sum(axis=1), -WEIGHT, rtol=0.01)


def test_peak_of_one_pad_leaves_the_last_reading_of_others():
    pads = {name: {"body": name, "grid": GRID, "touch_function": "normal"} for name in "ac"}
    pads["c"]["sampling"] = "peak"
    made = simulation(pads)
    felt = []
    for k, name in ((0, "ball_a"), (2, "ball_c")):  # the object falls for 19 steps
        made.set_body_state(name, np.array([k, 0, 0.012]), np.eye(4)[0], np.zeros(3), np.zeros(3))
    for step in range(1, 31):
        made.step()
        felt.append(made.observe().ideal_readings()[:, 0].reshape(2, 16))
        if step % 5 == 0:  # a message every 10 ms
            last, peak = made.observe().truth[:, 0].reshape(2, 16)
            np.testing.assert_array_equal(last, felt[-1][0])
            np.testing.assert_array_equal(peak, np.max(felt[-5:], axis=0)[1])
    assert np.ptp([step[1].sum() for step in felt]) > 0.1  # the forces change


def test_stages_and_tare_act_on_the_channels_of_each_pad():
    stages = {
        "*": {"noise": {"std": 0.1}, "contact": {"above": 1e3, "below": 1e2}},
        "a": {"offset": {"value": 2.0}},
    }
    made = simulation(sensor=stages)
    made.step(400)
    snapshot = made.observe()
    assert snapshot.reading("a").any() and not snapshot.reading("b").any()
    # The contact bit of one channel is 1 or 0; noise from other channels would make it a fraction.
    assert set(np.unique(snapshot.reading("c"))) == {0.0, 1.0}
    assert not snapshot.readings[16:, 1:].any()


def test_touch_function_of_the_skin_changes_only_pads_without_their_own():
    made = simulation(sensor={"*": {"tare": {"at": 0.0}}})
    skin = dataclasses.replace(made.settings.skin, touch_function="depth")
    made.step(100)
    made.take_tare()
    before = made.signal_chain.zero
    made.update(dataclasses.replace(made.settings, skin=skin))
    assert made.functions.quantities == ("depth", "normal", "pressure")
    assert made.observe().readings.shape == (48, 1)
    np.testing.assert_array_equal(made.signal_chain.zero[16:], before[16:, :1])
    assert not made.signal_chain.zero[:16].any()


def test_pads_of_one_body_need_one_response_function():
    pads = {
        "p": {"body": "a", "grid": GRID},
        "q": {"body": "a", "grid": GRID, "response_function": "nearest"},
    }
    with pytest.raises(ConfigError, match=r"skin\.pads\.q\.response_function"):
        simulation(pads)


def test_several_environments_need_one_function():
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{BODIES}</worldbody></mujoco>")
    with pytest.raises(ConfigError, match=r"skin\.pads\.b"):
        Batch(spec, 2, settings={"skin": {"pads": PADS}})


def test_dead_and_saturated_taxels_are_invalid():
    made = simulation(sensor={"a": {"dead_taxels": {"taxels": [3]}}, "b": {"saturation": {"level": 0.5}}})
    made.step(400)
    valid, snapshot = made.observe().valid.reshape(3, 16), made.observe()
    assert np.flatnonzero(valid[0] == 0).tolist() == [3] and valid[2].all()
    loaded = int(np.argmax(snapshot.reading("b")))
    assert np.flatnonzero(valid[1] == 0).tolist() == [loaded]
    assert len(simulation(sensor={"b": {"saturation": {"level": 50.0}}}).observe().valid) == 0


def test_every_touch_function_suits_a_pad():
    for touch, function in TOUCH_FUNCTIONS.items():
        made = simulation({**PADS, "b": PADS["b"] | {"touch_function": touch}})
        assert made.observe().reading("b").shape == (16, function.channels)
