"""Frames that a running simulation publishes, and requests that it handles. The test acts as the view."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.loop.runner import Runner
from tactile_sim.simulation import Simulation
from tactile_sim.view.process.frame_builder import FrameBuilder
from tactile_sim.view.process.publisher import ViewPublisher
from tactile_sim.view.process.replica import Replica
from tactile_sim.view.process.shared_frame import SharedFrame
from tactile_sim.view.process.view_process import INTERVAL
from tactile_sim.view.scene.from_model import scene_of_simulation

PATIENCE = 120.0  # [s], far more than needed on a busy machine
SCENE = """
<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="ball" pos="1 0 .1"><freejoint/><geom size=".05"/></body>
  <body name="arm" pos="0 1 .2"><joint name="hinge" axis="0 1 0"/><geom size=".05" pos=".1 0 0"/></body>
</worldbody><actuator><position joint="hinge" ctrlrange="-1 1" kp="1"/></actuator>
<keyframe><key name="high" qpos="0 0 1 1 0 0 0  1 0 .1 1 0 0 0  0"/></keyframe></mujoco>"""


class FakeProcess:
    """Replaces the view's process."""

    url = "http://fake"

    def __init__(self, simulation):
        self.scene = scene_of_simulation(simulation)
        self.shared = SharedFrame(self.scene, state_size=simulation.engine.state_size)
        self.write_times: list[float] = []
        self.notices: list[str] = []

    def write(self, **fields):
        self.shared.write(**fields)
        self.write_times.append(time.monotonic())

    def notify(self, text):
        self.notices.append(text)

    def listen(self, on_request, on_lost):
        self.request = lambda name, *arguments: on_request(name, list(arguments))
        self.lose = on_lost

    def reader(self):
        return FrameReader(self)

    def latest(self):
        """Wait for a frame and return the one that the view would draw."""
        wait_until(lambda: self.write_times)
        return self.reader().next()


class FrameReader:
    """Reads the published frames in order."""

    def __init__(self, view):
        replica = Replica(view.runner.simulation.settings)
        self._shared = SharedFrame(view.scene, view.shared.file, replica.simulation.engine.state_size)
        self._builder = FrameBuilder(view.scene, None, replica)

    def next(self):
        records = []
        wait_until(lambda: (record := self._shared.read()) is not None and records.append(record) is None)
        return self._builder.build(records[0])


class Output:
    """Output of the loop that records warnings and errors."""

    def __init__(self):
        self.lines: list[str] = []

    def subscribed(self):
        return set()

    new_subscribers = expects_commands = lambda self: False
    publish = publish_to_new = report = publish_while_stopped = lambda self, *_: None

    def warn(self, message):
        self.lines.append(message)

    def fail(self, message, stamp):
        self.lines.append(message)


@pytest.fixture
def running(tmp_path):
    started = []

    def start(**parameters):
        (tmp_path / "scene.xml").write_text(SCENE)
        mapping = {"scene": "scene.xml", "skin": {"scales": {"box": 0.05}}, **parameters}
        simulation = Simulation(config.from_mapping(mapping, tmp_path, "test"))
        view = FakeProcess(simulation)
        publisher = ViewPublisher(simulation, view)
        view.output = Output()
        view.runner = runner = Runner(simulation, view.output)
        publisher.serve(runner)
        thread = threading.Thread(target=runner.run, daemon=True)
        started.append((runner, thread))
        thread.start()
        return view

    yield start
    for runner, thread in started:
        runner.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def call(view, work):
    """Run a function in the loop and return its result."""
    return view.runner.call(work).result(PATIENCE)


@pytest.mark.parametrize("factor", [0.0, 1.0])
def test_nothing_is_written_without_browsers(running, factor):
    view = running(real_time_factor=factor)
    wait_until(lambda: view.runner.simulation.time > 0.2)
    call(view, lambda: view.runner.pause(True))
    assert view.write_times == []


@pytest.mark.parametrize("factor", [0.0, 0.02, 1.0])
def test_frame_interval_is_wall_time_for_any_real_time_factor(running, factor):
    view = running(real_time_factor=factor)
    view.shared.clients = 1
    wait_until(lambda: len(view.write_times) > 15)
    # A late frame may shorten the next interval by half, once; on a busy machine some frames are late.
    assert max(view.write_times[k + 11] - view.write_times[k] for k in range(5)) > 10 * INTERVAL


def test_frame_is_one_state(running):
    view = running(real_time_factor=0.0)
    view.shared.clients = 1
    wait_until(lambda: len(view.write_times) > 3)
    call(view, lambda: view.runner.pause(True))
    wait_until(lambda: view.latest().paused)
    frame = view.latest()
    simulation = view.runner.simulation
    assert frame.time == pytest.approx(simulation.time)
    assert frame.body_positions == pytest.approx(
        call(view, simulation.observe) and simulation.engine.body_positions
    )


def test_readings_and_arrows_at_rest_sum_to_the_weight(running):
    view = running(real_time_factor=0.0)
    wait_until(lambda: view.runner.simulation.time > 2.0)
    call(view, lambda: view.runner.pause(True))
    view.shared.clients = 1
    frame = view.latest()
    assert frame.forces == pytest.approx(np.array([[0.0, 0.0, 2.0 * 9.81]]), abs=1e-3)
    assert frame.readings.sum() == pytest.approx(2.0 * 9.81, rel=1e-3)
    assert frame.contact_points[:, 2] == pytest.approx(0.0, abs=1e-3)
    normal = frame.arrows[frame.arrow_kinds == 0]
    length = view.runner.simulation.settings.markers.force_scale * 2.0 * 9.81
    assert np.linalg.norm(normal[:, 1] - normal[:, 0], axis=1).sum() == pytest.approx(length, rel=1e-3)


def test_paused_frame_is_written_once(running):
    view = running(start_paused=True)
    view.shared.clients = 1
    wait_until(lambda: view.write_times)
    time.sleep(0.2)
    assert len(view.write_times) == 1


def test_step_request_takes_steps(running):
    view = running(start_paused=True)
    view.shared.clients = 1
    view.request("step", 7)
    wait_until(lambda: view.latest().time == pytest.approx(7 * 0.002))
    assert view.runner.simulation.step_count == 7


def test_pause_request_pauses_without_a_notice(running):
    view = running()
    view.shared.clients = 1
    view.request("pause", True)
    wait_until(lambda: view.latest().paused)
    view.request("pause", False)
    wait_until(lambda: not view.latest().paused)
    view.request("throw")
    wait_until(lambda: view.notices)
    assert len(view.notices) == 1
    assert "'ball'" in view.notices[0]


def test_control_request_acts_while_paused(running):
    view = running(start_paused=True)
    view.shared.clients = 1
    view.request("set_control", 0, 0.5)
    wait_until(lambda: view.latest().controls.tolist() == [0.5])
    assert view.notices == []


def test_reset_request_resets_to_the_keyframe(running):
    view = running(start_paused=True)
    view.shared.clients = 1
    view.request("reset", "high")
    wait_until(lambda: view.latest().body_positions[1, 2] == 1.0)
    assert "'high'" in view.notices[0]


def test_throw_request_throws_the_ball(running):
    view = running(start_paused=True)
    view.shared.clients = 1
    view.request("throw")
    wait_until(lambda: "'ball'" in "".join(view.notices))
    wait_until(lambda: view.latest().body_positions[2, 0] != 1.0)


def test_push_request_applies_the_impulse_of_its_force(running):
    view = running(start_paused=True)
    view.request("push", 1, [3.0, 0.0, 4.0])
    wait_until(lambda: "'box'" in "".join(view.notices))
    # 0.1 s of (3, 0, 4) N on 2 kg
    assert view.runner.simulation.engine.data.qvel[:3] == pytest.approx([0.15, 0.0, 0.2])


def test_press_request_reads_its_force_on_the_taxels(running):
    view = running(start_paused=True)
    view.shared.clients = 1
    view.request("press", 1, [0.02, 0.01, 0.1], [0.0, 0.0, -1.0], 1.0)
    wait_until(lambda: "1 N" in "".join(view.notices))
    wait_until(lambda: view.latest().readings.sum() == pytest.approx(1.0))
    view.request("release")
    wait_until(lambda: not view.latest().readings.any())


def test_force_of_a_pull_is_shown_until_its_release(running):
    view = running(real_time_factor=0.0)
    view.shared.clients = 1
    view.request("pull", 1, [0.0, 0.0, 0.0], [0.0, 0.0, 100.0], 5.0)
    wait_until(lambda: view.latest().pull_force == pytest.approx(5.0))  # its limit
    view.request("release")
    wait_until(lambda: view.latest().pull_force == 0.0)


def test_touch_and_response_function_requests(running):
    view = running(start_paused=True)
    view.shared.clients = 1
    view.request("set_choice", "skin.touch_function", "slip")
    wait_until(lambda: view.latest().unit == "m/s")
    view.request("set_choice", "skin.response_function", "nearest")
    wait_until(lambda: view.runner.simulation.settings.skin.response_function == "nearest")
    view.request("set_choice", "skin.touch_function", "smell")
    wait_until(lambda: "smell" in "".join(view.notices))


def test_real_time_factor_request(running):
    view = running()
    view.request("set_parameter", "real_time_factor", 0.5)
    wait_until(lambda: call(view, view.runner.status).wanted_factor == 0.5)
    assert view.notices == []


@pytest.mark.parametrize(
    ("request_", "arguments", "named"),
    [
        ("step", [1], "step"),
        ("reset", ["hihg"], "'high'"),
        ("push", [0, [1.0, 0.0, 0.0]], "push"),
        ("push", [99, [1.0, 0.0, 0.0]], "push"),
        ("push", [1, [float("nan"), 0.0, 0.0]], "finite"),
        ("set_control", [3, 0.0], "3"),
        ("set_control", [0, float("inf")], "finite"),
        ("set_parameter", ["real_time_factor", -1.0], "real_time_factor"),
        ("set_parameter", ["scene", 1.0], "scene"),
        ("step", ["1"], "steps"),
        ("step", [True], "steps"),
        ("throw", [1], "throw"),
        ("push", [1], "force"),
        ("trow", [], "'throw'"),
        ("_interfere", [1], "_interfere"),
    ],
)
def test_invalid_request_is_answered_and_the_loop_continues(running, request_, arguments, named):
    view = running()
    view.request(request_, *arguments)
    wait_until(lambda: view.notices)
    assert named in view.notices[0]
    before = view.runner.simulation.step_count
    wait_until(lambda: view.runner.simulation.step_count > before)


def test_readings_of_stateful_stages_are_published_also_after_a_reset(running):
    delay = {"box": {"delay": {"time": 0.1}}}
    skin = {"scales": {"box": 0.05}, "sensor": delay, "sampling": "peak"}
    view = running(real_time_factor=0.0, skin=skin)
    view.shared.clients = 1
    wait_until(lambda: view.runner.simulation.time > 1.0)
    call(view, lambda: view.runner.pause(True))
    wait_until(lambda: view.latest().paused)
    published = view.runner.simulation.published_readings
    assert view.latest().readings == pytest.approx(np.linalg.norm(published, axis=1))
    assert published.any()
    view.request("reset")
    wait_until(lambda: not view.latest().readings.any())  # 0.1 s of delay


def test_reset_is_a_discontinuity_and_steps_are_not(running):
    view = running(real_time_factor=0.0)
    wait_until(lambda: view.runner.simulation.time > 0.5)
    call(view, lambda: view.runner.pause(True))
    view.shared.clients = 1
    reader = view.reader()
    frames = [reader.next()]
    call(view, lambda: view.runner.interfere(view.runner.simulation.reset, mends=True))
    frames.append(reader.next())
    view.request("step", 1)
    frames.append(reader.next())
    assert [frame.discontinuous for frame in frames] == [True, True, False]


def test_tared_readings_are_zero(running):
    view = running(real_time_factor=0.0)
    wait_until(lambda: view.runner.simulation.time > 2.0)
    view.runner.call(lambda: view.runner.pause(True)).result(PATIENCE)
    view.shared.clients = 1
    assert view.latest().readings.max() > 0.1
    call(view, lambda: view.runner.interfere(view.runner.simulation.take_tare))
    wait_until(lambda: view.latest().readings.max() < 1e-4)


def test_settings_changed_while_paused_are_published(running):
    view = running(start_paused=True)
    view.shared.clients = 1
    wait_until(lambda: view.write_times)
    changed = view.runner.simulation.settings.replace("markers.taxel_scale", 7.0)
    call(view, lambda: view.runner.update(changed))
    wait_until(lambda: view.latest().taxel_scale == 7.0)


def test_fault_is_published_and_cleared_by_a_reset(running):
    view = running()
    view.shared.clients = 1
    call(view, lambda: view.runner.simulation.engine.data.qvel.fill(np.nan))
    wait_until(lambda: view.latest().fault)
    assert np.isfinite(view.latest().body_positions).all()
    assert len(view.output.lines) == 1
    view.request("reset")
    wait_until(lambda: not view.latest().fault)


def test_loss_of_the_view_is_logged_and_the_loop_continues(running):
    view = running()
    view.lose("exit code -9")
    wait_until(lambda: view.output.lines)
    assert "exit code -9" in view.output.lines[0]
    before = view.runner.simulation.step_count
    wait_until(lambda: view.runner.simulation.step_count > before)
