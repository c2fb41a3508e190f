"""Test when the loop publishes, which requests it rejects, and what happens after a physics fault."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from support.errors import raises
from support.waiting import PATIENCE, wait_until

from tactile_sim import CommandError, config
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.runner import Output, Runner

SCENE = """
<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
</worldbody></mujoco>"""


class FakeOutput(Output):
    """Output that subscribes to the specified streams and stores everything that is published."""

    def __init__(self, *streams: str):
        self.streams = set(streams)
        self.new = False
        self.sent: list[tuple[int, set[str], float]] = []
        self.warnings: list[str] = []
        self.reports: list[int] = []
        self.dispatched: list[int] = []

    def subscribed(self):
        return self.streams

    def new_subscribers(self):
        return self.new

    def publish_to_new(self, snapshot):
        self.new = False
        self.publish(snapshot, {"greeting"})

    def publish(self, snapshot, streams):
        height = float(snapshot.simulation.engine.body_positions[1, 2])
        self.sent.append((snapshot.stamp, set(streams), height))
        self.simulation = snapshot.simulation

    def dispatch(self):
        self.dispatched.append(self.simulation.stamp)

    def warn(self, message):
        self.warnings.append(message)

    def report(self, stamp):
        self.reports.append(stamp)

    def fail(self, message, stamp):
        self.warnings.append(message)

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
        output = FakeOutput(*streams)
        runner = Runner(Simulation(config.from_mapping(mapping, tmp_path, "test")), output)
        thread = threading.Thread(target=runner.run, args=(duration,), daemon=True)
        runners.append((runner, thread))
        thread.start()
        if duration is not None:
            thread.join(PATIENCE)
        return runner, output

    yield start
    for runner, thread in runners:
        runner.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def steps(runner, count):
    return runner.call(lambda: runner.request_steps(count)).result(PATIENCE)


def test_streams_with_subscribers_are_published_at_their_rates(running):
    _, output = running("tactile", "points", duration=2.0, rates={"points": 30.0})
    assert output.stamps("tactile") == [k * 10_000_000 for k in range(200)]
    assert abs(len(output.stamps("points")) - 60) <= 1
    assert output.stamps("contacts") == []


def test_messages_are_dispatched_after_their_step_and_before_the_next(running):
    _, output = running("tactile", duration=0.1)
    assert output.dispatched == [stamp + 2_000_000 for stamp in output.stamps("tactile")]


def test_nothing_is_published_without_subscribers(running):
    _, output = running(duration=2.0)
    assert output.sent == []


def test_other_subscribers_do_not_change_the_messages(running):
    _, alone = running("tactile", duration=1.0)
    _, crowd = running("tactile", "points", "markers", "contacts", duration=1.0)
    heights = {stamp: height for stamp, streams, height in crowd.sent if "tactile" in streams}
    assert {stamp: height for stamp, _, height in alone.sent} == heights


def test_time_runs_at_the_real_time_factor(running):
    began = time.monotonic()
    running(duration=0.5, real_time_factor=1.0)
    assert time.monotonic() - began > 0.45  # not earlier; test_pace checks that it is not later


def test_a_paused_state_is_published_once_and_to_new_subscribers(running):
    runner, output = running("tactile", real_time_factor=1.0)
    runner.call(lambda: runner.pause(True)).result(PATIENCE)
    stamp = runner.simulation.stamp
    wait_until(lambda: output.sent and output.sent[-1][0] == stamp)
    count = len(output.sent)
    time.sleep(0.2)
    assert len(output.sent) == count
    output.new = True
    wait_until(lambda: len(output.sent) > count)
    time.sleep(0.2)
    assert [entry[:2] for entry in output.sent[count:]] == [(stamp, {"greeting"})]


def test_requested_steps_are_exact_and_end_with_all_streams(running):
    runner, output = running("tactile", "contacts", start_paused=True, rates={"contacts": 1.0})
    assert steps(runner, 7) == 14_000_000
    assert output.sent[-1][:2] == (14_000_000, {"tactile", "contacts"})
    assert steps(runner, 5) == 24_000_000
    assert output.stamps("tactile") == [0, 10_000_000, 14_000_000, 20_000_000, 24_000_000]


def test_each_stamp_has_one_state(running):
    runner, output = running("tactile", start_paused=True)

    def lift():
        runner.simulation.set_body_state(
            "box", np.array([0, 0, 1.0]), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)
        )

    steps(runner, 3)
    runner.call(lambda: runner.interfere(lift)).result(PATIENCE)
    runner.call(lambda: runner.interfere(runner.simulation.reset, mends=True)).result(PATIENCE)
    steps(runner, 3)
    heights: dict[int, set[float]] = {}
    for stamp, _, height in output.sent:
        heights.setdefault(stamp, set()).add(height)
    assert all(len(values) == 1 for values in heights.values())
    assert [stamp for stamp, *_ in output.sent] == sorted(stamp for stamp, *_ in output.sent)
    assert {1.0, 0.2} <= set().union(*heights.values())


def test_each_command_has_its_own_step_in_lockstep(running):
    runner, output = running("tactile", lockstep=True)
    seen = []
    for _ in range(5):
        runner.post(lambda: runner.command(lambda: seen.append(runner.simulation.step_count)))
    wait_until(lambda: len(output.sent) == 6)
    assert seen == [0, 1, 2, 3, 4]
    assert output.stamps("tactile") == [2_000_000 * k for k in range(6)]


@pytest.mark.parametrize("stop", ["pause", "reset"])
def test_requested_steps_can_be_canceled(running, stop):
    runner, _ = running("tactile", start_paused=True)
    done = runner.call(lambda: runner.request_steps(2**32 - 1))
    wait_until(lambda: runner.simulation.step_count)
    if stop == "pause":
        runner.call(lambda: runner.pause(True)).result(PATIENCE)
    else:
        runner.call(lambda: runner.interfere(runner.simulation.reset, mends=True)).result(PATIENCE)
    with raises(CommandError, f"~/{stop}"):
        done.result(PATIENCE)
    reached = runner.simulation.step_count
    time.sleep(0.1)
    assert runner.simulation.step_count == reached
    assert steps(runner, 1) > 0


def test_steps_while_running_are_rejected(running):
    runner, _ = running(real_time_factor=1.0)
    with raises(CommandError, "lockstep"):
        steps(runner, 1)


def test_a_rejected_command_is_reported_and_counted(running):
    runner, output = running(real_time_factor=1.0)

    def refuse():
        raise CommandError("no such joint")

    runner.post(refuse)
    runner.call(lambda: None).result(PATIENCE)
    assert output.warnings == ["no such joint"]
    status = runner.call(runner.status).result(PATIENCE)
    assert (status.refused, status.last_refusal) == (1, "no such joint")
    assert output.reports == []  # the status is published at its own rate
    runner.call(lambda: runner.pause(True)).result(PATIENCE)
    runner.post(refuse)
    stood_at = runner.call(lambda: runner.simulation.stamp).result(PATIENCE)
    assert output.reports == [stood_at]


def test_a_faulty_state_is_never_published_and_reset_recovers(running):
    runner, output = running("tactile", start_paused=True)
    steps(runner, 2)

    def spoil():
        runner.simulation.engine.data.qvel[2] = np.nan

    runner.call(lambda: runner.interfere(spoil)).result(PATIENCE)
    wait_until(lambda: output.warnings)
    assert "0.006 s" in output.warnings[0] and "~/reset" in output.warnings[0]
    assert np.isfinite([height for *_, height in output.sent]).all()
    with raises(CommandError, "~/reset"):
        steps(runner, 1)
    runner.call(lambda: runner.interfere(runner.simulation.reset, mends=True)).result(PATIENCE)
    assert steps(runner, 1) > 0
    assert len(output.warnings) == 1


def test_motion_after_a_reset_equals_motion_after_the_start(running):
    runner, output = running("tactile", start_paused=True, rates={"tactile": 500.0})
    steps(runner, 40)
    runner.call(lambda: runner.interfere(runner.simulation.reset, mends=True)).result(PATIENCE)
    steps(runner, 40)
    heights = [height for *_, height in output.sent]
    assert len(heights) == 82
    assert heights[:41] == heights[41:]


def test_pending_requests_fail_when_the_loop_ends(running):
    runner, _ = running(start_paused=True)
    done = runner.call(lambda: runner.request_steps(10**9))
    wait_until(lambda: runner.simulation.step_count)
    runner.stop()
    with raises(CommandError):
        done.result(PATIENCE)
    with raises(CommandError):
        runner.call(lambda: None).result(PATIENCE)


def test_a_new_rate_takes_effect_immediately(running):
    runner, output = running("tactile", start_paused=True)
    runner.call(lambda: runner.update(runner.simulation.settings.replace("rates.tactile", 250.0))).result(
        PATIENCE
    )
    steps(runner, 10)
    assert output.stamps("tactile") == [k * 4_000_000 for k in range(6)]
