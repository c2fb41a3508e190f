"""The loop: what it sends when, to whom, and what it refuses. A listener of its own stands for ROS."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tactile_sim import CommandError, config
from tactile_sim.loop.runner import Runner
from tactile_sim.simulation import Simulation

PATIENCE = 120.0  # s that nothing takes, however busy the machine
SCENE = """
<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
</worldbody></mujoco>"""


class Ears:
    """Listens to some streams and keeps what comes."""

    def __init__(self, *streams: str):
        self.streams = set(streams)
        self.new = False
        self.sent: list[tuple[int, set[str], float]] = []
        self.said: list[str] = []
        self.reports: list[int] = []

    def heard(self):
        return self.streams

    def newcomers(self):
        return self.new

    def greet(self, snapshot):
        self.new = False
        self.publish(snapshot, {"greeting"})

    def commanded(self):
        return False

    def publish(self, snapshot, streams):
        height = float(snapshot.simulation.engine.body_positions[1, 2])
        self.sent.append((snapshot.stamp, set(streams), height))

    def stand(self, stamp):
        pass

    def warn(self, message):
        self.said.append(message)

    def report(self, stamp):
        self.reports.append(stamp)

    def fail(self, message, stamp):
        self.said.append(message)

    def stamps(self, stream):
        return [stamp for stamp, streams, _ in self.sent if stream in streams]


@pytest.fixture
def running(tmp_path):
    runners = []

    def start(*streams, duration=None, **parameters):
        (tmp_path / "scene.xml").write_text(SCENE)
        mapping = {
            "scene": "scene.xml",
            "real_time_factor": 0.0,
            "skin": {"scales": {"box": 0.05}},
            **parameters,
        }
        ears = Ears(*streams)
        runner = Runner(Simulation(config.from_mapping(mapping, tmp_path, "test")), ears)
        thread = threading.Thread(target=runner.run, args=(duration,), daemon=True)
        runners.append((runner, thread))
        thread.start()
        if duration is not None:
            thread.join(PATIENCE)
        return runner, ears

    yield start
    for runner, thread in runners:
        runner.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def steps(runner, count):
    return runner.call(lambda: runner.request_steps(count)).result(PATIENCE)


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_streams_are_sent_at_their_rates_and_only_if_heard(running):
    _, ears = running("tactile", "points", duration=2.0, rates={"points": 30.0})
    assert ears.stamps("tactile") == [k * 10_000_000 for k in range(200)]
    assert abs(len(ears.stamps("points")) - 60) <= 1
    assert ears.stamps("contacts") == []


def test_nothing_is_computed_for_nobody(running):
    _, ears = running(duration=2.0)
    assert ears.sent == []


def test_what_is_sent_does_not_depend_on_who_else_listens(running):
    _, alone = running("tactile", duration=1.0)
    _, crowd = running("tactile", "points", "markers", "contacts", duration=1.0)
    heights = {stamp: height for stamp, streams, height in crowd.sent if "tactile" in streams}
    assert {stamp: height for stamp, _, height in alone.sent} == heights


def test_time_keeps_pace_with_the_wall(running):
    began = time.monotonic()
    running(duration=0.5, real_time_factor=1.0)
    assert time.monotonic() - began > 0.45  # not sooner; nor later: test_pace


def test_after_a_pause_the_present_is_sent_once_and_newcomers_get_it_too(running):
    runner, ears = running("tactile", real_time_factor=1.0)
    runner.call(lambda: runner.pause(True)).result(PATIENCE)
    stamp = runner.simulation.stamp
    wait_until(lambda: ears.sent and ears.sent[-1][0] == stamp)
    count = len(ears.sent)
    time.sleep(0.2)
    assert len(ears.sent) == count
    ears.new = True
    wait_until(lambda: len(ears.sent) > count)
    time.sleep(0.2)
    assert [entry[:2] for entry in ears.sent[count:]] == [(stamp, {"greeting"})]


def test_steps_are_exact_and_end_with_everything_sent(running):
    runner, ears = running("tactile", "contacts", start_paused=True, rates={"contacts": 1.0})
    assert steps(runner, 7) == 14_000_000
    assert ears.sent[-1][:2] == (14_000_000, {"tactile", "contacts"})
    assert steps(runner, 5) == 24_000_000
    assert ears.stamps("tactile") == [0, 10_000_000, 14_000_000, 20_000_000, 24_000_000]


def test_no_stamp_is_sent_twice_with_different_states(running):
    runner, ears = running("tactile", start_paused=True)

    def lift():
        runner.simulation.set_body_state(
            "box", np.array([0, 0, 1.0]), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)
        )

    steps(runner, 3)
    runner.call(lambda: runner.interfere(lift)).result(PATIENCE)
    runner.call(lambda: runner.interfere(runner.simulation.reset, mends=True)).result(PATIENCE)
    steps(runner, 3)
    heights: dict[int, set[float]] = {}
    for stamp, _, height in ears.sent:
        heights.setdefault(stamp, set()).add(height)
    assert all(len(values) == 1 for values in heights.values())
    assert [stamp for stamp, *_ in ears.sent] == sorted(stamp for stamp, *_ in ears.sent)
    assert {1.0, 0.2} <= set().union(*heights.values())


def test_in_lockstep_each_command_has_a_step_of_its_own_however_fast_they_come(running):
    runner, ears = running("tactile", lockstep=True)
    seen = []
    for _ in range(5):
        runner.post(lambda: runner.command(lambda: seen.append(runner.simulation.step_count)))
    wait_until(lambda: len(ears.sent) == 6)
    assert seen == [0, 1, 2, 3, 4]
    assert ears.stamps("tactile") == [2_000_000 * k for k in range(6)]


@pytest.mark.parametrize("stop", ["pause", "reset"])
def test_many_steps_can_be_stopped(running, stop):
    runner, _ = running("tactile", start_paused=True)
    done = runner.call(lambda: runner.request_steps(2**32 - 1))
    wait_until(lambda: runner.simulation.step_count)
    if stop == "pause":
        runner.call(lambda: runner.pause(True)).result(PATIENCE)
    else:
        runner.call(lambda: runner.interfere(runner.simulation.reset, mends=True)).result(PATIENCE)
    with pytest.raises(CommandError, match=f"~/{stop} stopped them"):
        done.result(PATIENCE)
    reached = runner.simulation.step_count
    time.sleep(0.1)
    assert runner.simulation.step_count == reached
    assert steps(runner, 1) > 0


def test_steps_while_running_are_refused(running):
    runner, _ = running(real_time_factor=1.0)
    with pytest.raises(CommandError, match="pause first"):
        steps(runner, 1)


def test_a_refused_command_is_told_and_counted(running):
    runner, ears = running(real_time_factor=1.0)

    def refuse():
        raise CommandError("no such joint")

    runner.post(refuse)
    runner.call(lambda: None).result(PATIENCE)
    assert ears.said == ["no such joint"]
    status = runner.call(runner.status).result(PATIENCE)
    assert (status.refused, status.last_refusal) == (1, "no such joint")
    assert ears.reports == []  # the status is published at its own rate
    runner.call(lambda: runner.pause(True)).result(PATIENCE)
    runner.post(refuse)
    stood_at = runner.call(lambda: runner.simulation.stamp).result(PATIENCE)
    assert ears.reports == [stood_at]


def test_broken_physics_is_never_sent_and_a_reset_mends_it(running):
    runner, ears = running("tactile", start_paused=True)
    steps(runner, 2)

    def spoil():
        runner.simulation.engine.data.qvel[2] = np.nan

    runner.call(lambda: runner.interfere(spoil)).result(PATIENCE)
    wait_until(lambda: ears.said)
    assert "the physics broke" in ears.said[0]
    assert np.isfinite([height for *_, height in ears.sent]).all()
    with pytest.raises(CommandError, match="reset"):
        steps(runner, 1)
    runner.call(lambda: runner.interfere(runner.simulation.reset, mends=True)).result(PATIENCE)
    assert steps(runner, 1) > 0
    assert len(ears.said) == 1


def test_motion_and_state_are_the_same_after_a_reset_as_after_the_start(running):
    runner, ears = running("tactile", start_paused=True, rates={"tactile": 500.0})
    steps(runner, 40)
    runner.call(lambda: runner.interfere(runner.simulation.reset, mends=True)).result(PATIENCE)
    steps(runner, 40)
    heights = [height for *_, height in ears.sent]
    assert len(heights) == 82
    assert heights[:41] == heights[41:]


def test_whoever_waits_is_answered_when_the_loop_ends(running):
    runner, _ = running(start_paused=True)
    done = runner.call(lambda: runner.request_steps(10**9))
    wait_until(lambda: runner.simulation.step_count)
    runner.stop()
    with pytest.raises(CommandError, match="ends"):
        done.result(PATIENCE)
    with pytest.raises(CommandError, match="ended"):
        runner.call(lambda: None).result(PATIENCE)


def test_a_new_rate_acts_at_once(running):
    runner, ears = running("tactile", start_paused=True)
    runner.call(lambda: runner.update(runner.simulation.settings.replace("rates.tactile", 250.0))).result(
        PATIENCE
    )
    steps(runner, 10)
    assert ears.stamps("tactile") == [k * 4_000_000 for k in range(6)]
