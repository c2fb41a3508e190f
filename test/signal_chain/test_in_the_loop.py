"""Sensors in a running simulation: what they tell does not depend on who listens, and when."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.loop.runner import Runner
from tactile_sim.simulation import Simulation

SCENE = """
<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .15"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body name="ball" pos=".5 0 .1"><freejoint/><geom size=".05"/></body>
</worldbody></mujoco>"""
MEMORY = {
    "hysteresis": {"fraction": 0.1},
    "slow_adaptation": {"fraction": 0.5, "time_constant": 0.1},
    "noise": {"std": 0.01},
    "delay": {"time": 0.025},
}


class Ears:
    """Listens to some streams from some step on, and keeps what the taxels tell."""

    def __init__(self, *streams, since=0):
        self.streams, self.since, self.step = set(streams), since, 0
        self.told: dict[int, bytes] = {}
        self.true: dict[int, np.ndarray] = {}

    def heard(self):
        return self.streams if self.simulation.step_count >= self.since else set()

    def newcomers(self):
        return False

    commanded = newcomers

    def publish(self, snapshot, streams):
        if "tactile" in streams:
            assert snapshot.stamp not in self.told
            self.told[snapshot.stamp] = snapshot.taxels32.tobytes()
            self.true[snapshot.stamp] = snapshot.truth

    greet = warn = fail = publish


@pytest.fixture
def run(tmp_path):
    (tmp_path / "scene.xml").write_text(SCENE)

    def start(ears, duration=0.6, during=None, **parameters):
        skin = {"scales": {"box": 0.05, "ball": 0.02}, "sensor": {"box": MEMORY}} | parameters.pop("skin", {})
        mapping = {"scene": "scene.xml", "real_time_factor": 0.0, "skin": skin, **parameters}
        ears.simulation = Simulation(config.from_mapping(mapping, tmp_path, "test"))
        runner = Runner(ears.simulation, ears)
        if during:
            runner.run(duration / 2)
            during(runner)
        runner.run(duration)
        return ears

    return start


def common(one, other):
    """What both heard."""
    stamps = one.told.keys() & other.told.keys()
    return [one.told[stamp] for stamp in stamps], [other.told[stamp] for stamp in stamps]


@pytest.mark.parametrize("sampling", ["last", "mean"])
def test_what_is_told_does_not_depend_on_who_else_listens_or_since_when(run, sampling):
    skin = {"sampling": sampling}
    alone = run(Ears("tactile"), skin=skin)
    crowd = run(Ears("tactile", "points", "contacts", "markers"), skin=skin, rates={"contacts": 500.0})
    late = run(Ears("tactile", "clock", since=151), skin=skin, rates={"clock": 250.0})
    assert len(alone.told) == 60
    assert alone.told == crowd.told
    assert len(late.told) == 29
    first, second = common(alone, late)
    assert len(first) == 29
    assert first == second


def test_the_same_holds_when_the_rate_changes_in_the_middle(run):
    def change(runner):
        runner.update(runner.simulation.settings.replace("rates.tactile", 130.0))

    alone = run(Ears("tactile"), during=change)
    late = run(Ears("tactile", "points", since=200), during=change)
    first, second = common(alone, late)
    assert len(first) == len(late.told) > 20
    assert first == second


def test_a_message_between_two_ticks_is_told_and_not_remembered(run):
    def push(runner):
        runner.run(0.302)
        runner.interfere(lambda: None)

    told = [run(Ears("tactile", since=since), during=push) for since in (0, 152)]
    assert 302_000_000 in told[0].told
    first, second = common(*told)
    assert len(first) == 29
    assert first == second


def test_after_a_reset_the_same_comes_again(run):
    def reset(runner):
        runner.interfere(runner.simulation.reset, mends=True)

    ears = run(Ears("tactile"), during=reset, rates={"tactile": 500.0})
    told = list(ears.told.values())
    assert len(told) == 300
    assert told[:150] == told[150:]
    assert len(set(told[:150])) > 130


def test_the_truth_is_what_the_skin_feels_and_the_sensor_changes_its_bodies_alone(run):
    ears = run(Ears("tactile"))
    box, ball = ears.simulation.skin.bodies
    for stamp, told in list(ears.told.items())[10:]:
        true = ears.true[stamp].astype(np.float32)
        told = np.frombuffer(told, np.float32).reshape(true.shape)
        np.testing.assert_array_equal(told[ball.start : ball.stop], true[ball.start : ball.stop])
        assert np.abs(told[box.start : box.stop] - true[box.start : box.stop]).max() > 1e-3
    ideal = run(Ears("tactile"), skin={"sensor": {}})
    np.testing.assert_array_equal(ears.true[stamp], ideal.true[stamp])


def test_what_has_no_memory_costs_nothing_where_nobody_listens(run, monkeypatch):
    looks = []
    monkeypatch.setattr(Simulation, "observe", lambda simulation: looks.append(simulation.step_count))
    run(Ears(), skin={"sensor": {"*": {"noise": {"std": 1.0}, "threshold": {"level": 0.1}}}})
    assert looks == []


def test_a_new_touch_function_starts_the_sensor_anew(run):
    def change(runner):
        runner.simulation.take_tare()
        runner.update(runner.simulation.settings.replace("skin.touch_function", "normal"))

    ears = run(Ears("tactile"), during=change)
    assert ears.simulation.observe().taxels.shape[1] == 1
    assert ears.simulation.observe().truth.any()


def test_a_tare_while_time_stands_reads_zero_at_once_also_of_what_is_noisy_and_late(run):
    ears = run(Ears("tactile"))
    ears.simulation.take_tare()
    assert not ears.simulation.observe().taxels.any()
    assert ears.simulation.observe().truth.any()
