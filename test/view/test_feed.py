"""What a running simulation sends to its view, and what it does for browsers. The far side is the test's."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tactile_sim import config
from tactile_sim.loop.runner import Runner
from tactile_sim.simulation import Simulation
from tactile_sim.view import live_world
from tactile_sim.view.channel import Channel
from tactile_sim.view.feed import ViewFeed
from tactile_sim.view.link import INTERVAL
from tactile_sim.view.mirror import Mirror, state_size
from tactile_sim.view.moments import Moments

PATIENCE = 120.0  # s that nothing takes, however busy the machine
SCENE = """
<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="ball" pos="1 0 .1"><freejoint/><geom size=".05"/></body>
  <body name="arm" pos="0 1 .2"><joint name="hinge" axis="0 1 0"/><geom size=".05" pos=".1 0 0"/></body>
</worldbody><actuator><position joint="hinge" ctrlrange="-1 1" kp="1"/></actuator>
<keyframe><key name="high" qpos="0 0 1 1 0 0 0  1 0 .1 1 0 0 0  0"/></keyframe></mujoco>"""


class FarSide:
    """Where a feed's moments and words go, and where requests come from."""

    url = "http://far-side"

    def __init__(self, simulation):
        self.world = live_world.of_simulation(simulation)
        self.channel = Channel(self.world, state_size=state_size(simulation))
        self.written: list[float] = []
        self.told: list[str] = []

    def write(self, **fields):
        self.channel.write(**fields)
        self.written.append(time.monotonic())

    def tell(self, text):
        self.told.append(text)

    def listen(self, obey, lost):
        self.ask = lambda request, *arguments: obey(request, list(arguments))
        self.lose = lost

    def moments(self):
        return Watched(self)

    def latest(self):
        """The moment that would be drawn, when there is one."""
        wait_until(lambda: self.written)
        return self.moments().next()


class Watched:
    """The moments of a feed, one after the other."""

    def __init__(self, far):
        mirror = Mirror(far.runner.simulation.settings)
        self._reader = Channel(far.world, far.channel.file, state_size(mirror.simulation))
        self._moments = Moments(far.world, None, mirror)

    def next(self):
        """That which comes next."""
        records = []
        wait_until(lambda: (record := self._reader.read()) is not None and records.append(record) is None)
        return self._moments.moment(records[0])


class Said:
    """What else listens to the loop: the terminal of a user."""

    def __init__(self):
        self.lines: list[str] = []

    def heard(self):
        return set()

    newcomers = commanded = lambda self: False
    publish = greet = report = lambda self, *_: None

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
        far = FarSide(simulation)
        feed = ViewFeed(simulation, far)
        far.said = Said()
        far.runner = runner = Runner(simulation, far.said)
        feed.serve(runner)
        thread = threading.Thread(target=runner.run, daemon=True)
        started.append((runner, thread))
        thread.start()
        return far

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


def do(far, work):
    """Something done by the loop."""
    return far.runner.call(work).result(PATIENCE)


@pytest.mark.parametrize("factor", [0.0, 1.0])
def test_nothing_is_written_for_nobody(running, factor):
    far = running(real_time_factor=factor)
    wait_until(lambda: far.runner.simulation.time > 0.2)
    do(far, lambda: far.runner.pause(True))
    assert far.written == []


@pytest.mark.parametrize("factor", [0.0, 0.02, 1.0])
def test_moments_keep_their_distance_by_the_clock_on_the_wall_whatever_the_pace_of_time(running, factor):
    far = running(real_time_factor=factor)
    far.channel.clients = 1
    wait_until(lambda: len(far.written) > 15)
    # What came late may come by half a distance nearer to the next, once; and a busy machine notes some late.
    assert max(far.written[k + 11] - far.written[k] for k in range(5)) > 10 * INTERVAL


def test_what_is_written_is_one_state(running):
    far = running(real_time_factor=0.0)
    far.channel.clients = 1
    wait_until(lambda: len(far.written) > 3)
    do(far, lambda: far.runner.pause(True))
    wait_until(lambda: far.latest().paused)
    moment = far.latest()
    simulation = far.runner.simulation
    assert moment.time == pytest.approx(simulation.time)
    assert moment.body_positions == pytest.approx(
        do(far, simulation.observe) and simulation.engine.body_positions
    )


def test_at_rest_the_skin_shows_the_weight_and_the_arrows_bear_it(running):
    far = running(real_time_factor=0.0)
    wait_until(lambda: far.runner.simulation.time > 2.0)
    do(far, lambda: far.runner.pause(True))
    far.channel.clients = 1
    moment = far.latest()
    assert moment.forces == pytest.approx(np.array([[0.0, 0.0, 2.0 * 9.81]]), abs=1e-3)
    assert moment.taxels.sum() == pytest.approx(2.0 * 9.81, rel=1e-3)
    assert moment.contacts[:, 2] == pytest.approx(0.0, abs=1e-3)
    normal = moment.arrows[moment.arrow_kinds == 0]
    length = far.runner.simulation.settings.markers.force_scale * 2.0 * 9.81
    assert np.linalg.norm(normal[:, 1] - normal[:, 0], axis=1).sum() == pytest.approx(length, rel=1e-3)


def test_while_time_stands_the_present_is_shown_once(running):
    far = running(start_paused=True)
    far.channel.clients = 1
    wait_until(lambda: far.written)
    time.sleep(0.2)
    assert len(far.written) == 1


def test_a_browser_steps_and_sees_the_step(running):
    far = running(start_paused=True)
    far.channel.clients = 1
    far.ask("step", 7)
    wait_until(lambda: far.latest().time == pytest.approx(7 * 0.002))
    assert far.runner.simulation.step_count == 7


def test_a_browser_pauses_and_lets_go_on(running):
    far = running()
    far.channel.clients = 1
    far.ask("pause", True)
    wait_until(lambda: far.latest().paused)
    far.ask("pause", False)
    wait_until(lambda: not far.latest().paused)
    far.ask("throw")
    wait_until(lambda: far.told)
    assert far.told == ["threw 'ball'"]  # whether time stands is seen, and not said besides


def test_a_control_that_is_set_is_seen_also_while_time_stands(running):
    far = running(start_paused=True)
    far.channel.clients = 1
    far.ask("set_control", 0, 0.5)
    wait_until(lambda: far.latest().controls.tolist() == [0.5])
    assert far.told == []


def test_a_reset_goes_to_the_keyframe(running):
    far = running(start_paused=True)
    far.channel.clients = 1
    far.ask("reset", "high")
    wait_until(lambda: far.latest().body_positions[1, 2] == 1.0)
    assert far.told == ["reset to keyframe 'high'; still paused"]


def test_a_ball_is_thrown(running):
    far = running(start_paused=True)
    far.channel.clients = 1
    far.ask("throw")
    wait_until(lambda: far.told == ["threw 'ball'"])
    wait_until(lambda: far.latest().body_positions[2, 0] != 1.0)


def test_a_push_is_the_impulse_of_its_force(running):
    far = running(start_paused=True)
    far.ask("push", 1, [3.0, 0.0, 4.0])
    wait_until(lambda: far.told == ["pushed 'box'"])
    # 0.1 s of (3, 0, 4) N on 2 kg
    assert far.runner.simulation.engine.data.qvel[:3] == pytest.approx([0.15, 0.0, 0.2])


def test_the_real_time_factor_is_set(running):
    far = running()
    far.ask("set_parameter", "real_time_factor", 0.5)
    wait_until(lambda: do(far, far.runner.status).wanted_factor == 0.5)
    assert far.told == []


@pytest.mark.parametrize(
    ("request_", "arguments", "reason"),
    [
        ("step", [1], "cannot step while running"),
        ("reset", ["hihg"], "did you mean 'high'?"),
        ("push", [0, [1.0, 0.0, 0.0]], "cannot be pushed"),
        ("push", [99, [1.0, 0.0, 0.0]], "cannot be pushed"),
        ("push", [1, [float("nan"), 0.0, 0.0]], "finite"),
        ("set_control", [3, 0.0], "no actuator 3"),
        ("set_control", [0, float("inf")], "finite"),
        ("set_parameter", ["real_time_factor", -1.0], "real_time_factor"),
        ("set_parameter", ["scene", 1.0], "scene"),
        ("step", ["1"], "steps"),
        ("step", [True], "steps"),
        ("throw", [1], "throw"),
        ("push", [1], "force"),
        ("trow", [], "did you mean 'throw'"),
        ("_interfere", [1], "_interfere"),
    ],
)
def test_what_cannot_be_is_refused_in_the_browser_and_time_goes_on(running, request_, arguments, reason):
    far = running()
    far.ask(request_, *arguments)
    wait_until(lambda: far.told)
    assert reason in far.told[0]
    before = far.runner.simulation.step_count
    wait_until(lambda: far.runner.simulation.step_count > before)


def test_readings_that_remember_are_shown_as_they_are_told_also_after_a_reset(running):
    delay = {"box": {"delay": {"time": 0.1}}}
    skin = {"scales": {"box": 0.05}, "sensor": delay, "sampling": "peak"}
    far = running(real_time_factor=0.0, skin=skin)
    far.channel.clients = 1
    wait_until(lambda: far.runner.simulation.time > 1.0)
    do(far, lambda: far.runner.pause(True))
    wait_until(lambda: far.latest().paused)
    told = far.runner.simulation.published_readings
    assert far.latest().taxels == pytest.approx(np.linalg.norm(told, axis=1))
    assert told.any()
    far.ask("reset")
    wait_until(lambda: not far.latest().taxels.any())  # a tenth of a second late


def test_a_reset_by_whomever_is_a_beginning_and_what_follows_is_not(running):
    far = running(real_time_factor=0.0)
    wait_until(lambda: far.runner.simulation.time > 0.5)
    do(far, lambda: far.runner.pause(True))
    far.channel.clients = 1
    moments = far.moments()
    seen = [moments.next()]
    do(far, lambda: far.runner.interfere(far.runner.simulation.reset, mends=True))
    seen.append(moments.next())
    far.ask("step", 1)
    seen.append(moments.next())
    assert [moment.begins for moment in seen] == [True, True, False]


def test_what_is_tared_is_shown_as_zero(running):
    far = running(real_time_factor=0.0)
    wait_until(lambda: far.runner.simulation.time > 2.0)
    far.runner.call(lambda: far.runner.pause(True)).result(PATIENCE)
    far.channel.clients = 1
    assert far.latest().taxels.max() > 0.1
    do(far, lambda: far.runner.interfere(far.runner.simulation.take_tare))
    wait_until(lambda: far.latest().taxels.max() < 1e-4)


def test_settings_that_change_while_time_stands_are_seen(running):
    far = running(start_paused=True)
    far.channel.clients = 1
    wait_until(lambda: far.written)
    changed = far.runner.simulation.settings.replace("markers.taxel_scale", 7.0)
    do(far, lambda: far.runner.update(changed))
    wait_until(lambda: far.latest().taxel_scale == 7.0)


def test_broken_physics_is_told_and_a_reset_mends_it(running):
    far = running()
    far.channel.clients = 1
    do(far, lambda: far.runner.simulation.engine.data.qvel.fill(np.nan))
    wait_until(lambda: far.latest().fault)
    assert np.isfinite(far.latest().body_positions).all()
    assert "the physics broke" in far.said.lines[0]
    far.ask("reset")
    wait_until(lambda: not far.latest().fault)


def test_a_view_that_breaks_down_is_told_in_a_line_and_time_goes_on(running):
    far = running()
    far.lose("exit code -9")
    wait_until(lambda: far.said.lines)
    assert far.said.lines == ["the web view broke down (exit code -9); the simulation goes on"]
    before = far.runner.simulation.step_count
    wait_until(lambda: far.runner.simulation.step_count > before)
