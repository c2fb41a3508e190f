"""Stages of your own, which are computed with NumPy."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import pytest
from support.errors import raises
from support.signal_chain import ALL, PALM, SKIN, TAXELS, TIMESTEP, TIP, held, sensor

from tactile_sim import CommandError, ConfigError, Simulation
from tactile_sim.common.schema import SHARE, Number
from tactile_sim.signal_chain import SignalChain, Stage, add_stage, ranged


@dataclass(frozen=True)
class Remanence(Stage):
    """The reading falls at most to a fraction of the previous one."""

    fraction: float = ranged(SHARE, "Fraction that remains after one reading, 0 to 1.")
    memory_rows = 1

    def compute(self, values, memory, now):
        memory[0] = np.maximum(values, self.fraction * memory[0])
        return memory[0]


@dataclass(frozen=True)
class Flicker(Stage):
    """Random readings are invalid."""

    std: float = ranged(Number(least=0), "Standard deviation of the additional noise [units].", default=0.0)
    marks = True

    def compute(self, values, memory, now):
        now.valid[now.random.random(len(now.valid)) < 0.5] = 0
        return values + self.std * now.random.normal(size=values.shape)


@pytest.fixture(autouse=True)
def added(restored_stages):
    add_stage(Remanence, before="gain")
    add_stage(Flicker, before="delay")


def test_own_stage_runs_at_its_place_between_the_stages_of_the_library():
    made = sensor(remanence={"fraction": 0.5}, offset={"value": 0.25}, fast_adaptation={"time_constant": 1e9})
    out = [made.read(step, held(load))[PALM] for step, load in enumerate([4.0, 0.0, 3.0, 1.0])]
    for got, load in zip(out, [4.0, 2.0, 3.0, 1.5], strict=True):
        np.testing.assert_allclose(got, held(load)[PALM] + 0.25, atol=1e-6)
    assert made.read(4, held(1.0))[TIP][0] == pytest.approx(held(1.0)[0])
    assert made.has_memory


def test_reading_again_peeking_copying_and_restarting():
    made, alone = (sensor(remanence={"fraction": [0.5, 0.9]}, flicker={"std": 0.1}) for _ in range(2))
    outputs = []
    for step, load in enumerate([4.0, 0.0, 3.0, 1.0]):
        made.peek(step, held(load))
        made.read(step, held(load + 1.0))
        outputs.append(alone.read(step, held(load)))
        np.testing.assert_array_equal(made.read(step, held(load)), outputs[-1])
        np.testing.assert_array_equal(made.valid, alone.valid)
        assert 0.3 < made.valid[PALM].mean() < 0.7
    copied = copy.deepcopy(made)
    copied.read(4, held(9.0))
    np.testing.assert_array_equal(made.read(4, held(0.0)), alone.read(4, held(0.0)))
    made.restart(0)
    again = [made.read(step, held(load)) for step, load in enumerate([4.0, 0.0, 3.0, 1.0])]
    np.testing.assert_array_equal(again, outputs)
    made.restart()  # draws the fraction again
    assert not np.array_equal(
        [made.read(step, held(load)) for step, load in ((0, 4.0), (1, 0.0))], outputs[:2]
    )


def test_environments_equal_single_chains(readings):
    stages = ALL | {"remanence": {"fraction": [0.5, 0.9]}, "flicker": {"std": 0.1}}
    chain, singles, envs = sensor(**stages), [sensor(seed, **stages) for seed in (3, 4)], np.arange(2)
    program, workspace, output = chain.program([3, 4], 3), chain.workspace(3), np.empty((2, TAXELS, 3))
    for step in range(20):
        truth, steps = readings[[step, step + 5]], np.full(2, step)
        program.make_room(steps)
        program.run(workspace, envs, steps, truth, output, keep=True)
        for env, single in enumerate(singles):
            np.testing.assert_array_equal(output[env], single.read(step, truth[env]))
        if step == 10:
            program.restart(np.array([1]))
            singles[1].restart()


def test_own_stage_can_be_switched_off_and_configured():
    skin = {"scales": {"cube": 0.02}, "sensor": {"cube": {"flicker": {"std": 1.0}}}}
    simulation = Simulation({"scene": "touch_cube.xml", "skin": skin})
    simulation.step(5)
    assert simulation.observe().valid.mean() < 0.8
    simulation.update(simulation.settings.replace("skin.sensor.cube.flicker.enabled", False))
    np.testing.assert_allclose(simulation.observe().readings, simulation.observe().truth, atol=1e-6)
    with raises(ConfigError, "flicker", "std"):
        Simulation(
            {"scene": "touch_cube.xml", "skin": skin | {"sensor": {"cube": {"flicker": {"sdt": 1.0}}}}}
        )


def test_faults_of_own_stages_are_reported(monkeypatch):
    with raises(CommandError, "remanence"):
        add_stage(Remanence, before="noise")
    with raises(CommandError, "stage"):
        add_stage(Stage, before="noise")
    with raises(CommandError, "nois", "noise"):
        add_stage(type("Other", (Flicker,), {}), before="nois")
    monkeypatch.setattr(Flicker, "compute", lambda self, values, memory, now: values[0])
    with raises(CommandError, "flicker", f"(3, {PALM.stop})", f"({PALM.stop},)"):
        sensor(flicker={}).read(0, held(1.0))

    def fail(self, values, memory, now):
        raise ZeroDivisionError("mine")

    monkeypatch.setattr(Flicker, "compute", fail)
    with pytest.raises(ZeroDivisionError, match="mine"):
        SignalChain(SKIN, {"*": {"flicker": {}}}, TIMESTEP).read(0, held(1.0))
