"""Signal chains in a running simulation: readings do not depend on the subscribers."""

from __future__ import annotations

import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.runner import Runner

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


class Subscriber:
    """An output that subscribes to streams and stores the published readings by stamp.

    Its subscription begins at step ``since``.
    """

    def __init__(self, *streams, since=0):
        self.streams, self.since, self.step = set(streams), since, 0
        self.published: dict[int, bytes] = {}
        self.truth: dict[int, np.ndarray] = {}

    def subscribed(self):
        return self.streams if self.simulation.step_count >= self.since else set()

    def new_subscribers(self):
        return False

    expects_commands = new_subscribers

    def publish(self, snapshot, streams):
        if "tactile" in streams:
            assert snapshot.stamp not in self.published
            self.published[snapshot.stamp] = snapshot.readings32.tobytes()
            self.truth[snapshot.stamp] = snapshot.truth

    publish_to_new = warn = fail = publish

    def dispatch(self):
        pass


@pytest.fixture
def run(tmp_path):
    (tmp_path / "scene.xml").write_text(SCENE)

    def start(subscriber, duration=0.6, during=None, **parameters):
        skin = {"scales": {"box": 0.05, "ball": 0.02}, "sensor": {"box": MEMORY}} | parameters.pop("skin", {})
        mapping = {"scene": "scene.xml", "real_time_factor": 0.0, "skin": skin, **parameters}
        subscriber.simulation = Simulation(config.from_mapping(mapping, tmp_path, "test"))
        runner = Runner(subscriber.simulation, subscriber)
        if during:
            runner.run(duration / 2)
            during(runner)
        runner.run(duration)
        return subscriber

    return start


def common(one, other):
    """Return the readings of each subscriber at the stamps that both received."""
    stamps = one.published.keys() & other.published.keys()
    return [one.published[stamp] for stamp in stamps], [other.published[stamp] for stamp in stamps]


@pytest.mark.parametrize("sampling", ["last", "mean"])
def test_readings_do_not_depend_on_other_subscribers_or_their_start(run, sampling):
    skin = {"sampling": sampling}
    alone = run(Subscriber("tactile"), skin=skin)
    crowd = run(Subscriber("tactile", "points", "contacts", "markers"), skin=skin, rates={"contacts": 500.0})
    late = run(Subscriber("tactile", "clock", since=151), skin=skin, rates={"clock": 250.0})
    assert len(alone.published) == 60
    assert alone.published == crowd.published
    assert len(late.published) == 29
    first, second = common(alone, late)
    assert len(first) == 29
    assert first == second


def test_readings_do_not_depend_on_subscribers_after_a_rate_change(run):
    def change(runner):
        runner.update(runner.simulation.settings.replace("rates.tactile", 130.0))

    alone = run(Subscriber("tactile"), during=change)
    late = run(Subscriber("tactile", "points", since=200), during=change)
    first, second = common(alone, late)
    assert len(first) == len(late.published) > 20
    assert first == second


def test_message_between_ticks_does_not_change_the_state(run):
    def push(runner):
        runner.run(0.302)
        runner.interfere(lambda: None)

    runs = [run(Subscriber("tactile", since=since), during=push) for since in (0, 152)]
    assert 302_000_000 in runs[0].published
    first, second = common(*runs)
    assert len(first) == 29
    assert first == second


def test_reset_repeats_the_readings(run):
    def reset(runner):
        runner.interfere(runner.simulation.reset, mends=True)

    subscriber = run(Subscriber("tactile"), during=reset, rates={"tactile": 500.0})
    published = list(subscriber.published.values())
    assert len(published) == 300
    assert published[:150] == published[150:]
    assert len(set(published[:150])) > 130


def test_reset_draws_ranges_again_from_the_seed(run):
    def reset(runner):
        runner.interfere(runner.simulation.reset, mends=True)

    skin = {"sensor": {"box": {"gain": {"value": [0.5, 1.5]}}}}
    one, other = (run(Subscriber("tactile"), during=reset, skin=skin) for _ in range(2))
    assert one.published == other.published
    box, ball = one.simulation.skin.pads
    for first, second in zip(list(one.truth)[10:30], list(one.truth)[40:60], strict=True):
        np.testing.assert_array_equal(one.truth[first], one.truth[second])
        values = [np.frombuffer(one.published[k], np.float32).reshape(-1, 3) for k in (first, second)]
        np.testing.assert_array_equal(*(value[ball.start : ball.stop] for value in values))
        ratio = [
            value[box.start : box.stop].sum() / one.truth[first][box.start : box.stop].sum()
            for value in values
        ]
        assert 0.5 <= min(ratio) < max(ratio) - 0.01 <= 1.5
    # The view's replica starts at a different reset, so it must receive these readings.
    assert one.simulation.has_memory


def test_truth_is_before_the_chain_and_other_bodies_are_unchanged(run):
    subscriber = run(Subscriber("tactile"))
    box, ball = subscriber.simulation.skin.pads
    for stamp, data in list(subscriber.published.items())[10:]:
        truth = subscriber.truth[stamp].astype(np.float32)
        published = np.frombuffer(data, np.float32).reshape(truth.shape)
        np.testing.assert_array_equal(published[ball.start : ball.stop], truth[ball.start : ball.stop])
        assert np.abs(published[box.start : box.stop] - truth[box.start : box.stop]).max() > 1e-3
    ideal = run(Subscriber("tactile"), skin={"sensor": {}})
    np.testing.assert_array_equal(subscriber.truth[stamp], ideal.truth[stamp])


def test_stages_without_memory_are_not_computed_without_subscribers(run, monkeypatch):
    observed = []
    monkeypatch.setattr(Simulation, "observe", lambda simulation: observed.append(simulation.step_count))
    run(Subscriber(), skin={"sensor": {"*": {"noise": {"std": 1.0}, "threshold": {"level": 0.1}}}})
    assert observed == []


def test_new_touch_function_restarts_the_chain(run):
    def change(runner):
        runner.simulation.take_tare()
        runner.update(runner.simulation.settings.replace("skin.touch_function", "normal"))

    subscriber = run(Subscriber("tactile"), during=change)
    assert subscriber.simulation.observe().readings.shape[1] == 1
    assert subscriber.simulation.observe().truth.any()


def test_tare_at_constant_time_zeroes_noisy_and_delayed_readings(run):
    subscriber = run(Subscriber("tactile"))
    subscriber.simulation.take_tare()
    assert not subscriber.simulation.observe().readings.any()
    assert subscriber.simulation.observe().truth.any()
