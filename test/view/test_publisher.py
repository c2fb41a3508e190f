"""Frames that a running simulation publishes and the requests that it handles; the test acts as the view."""

from __future__ import annotations

import time

import numpy as np
import pytest
from support.published_view import call
from support.waiting import PATIENCE, wait_until

from tactile_sim.view.publisher import INTERVAL


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
    # On a busy machine, some frames are late, and each may shorten the next interval by up to half.
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


def test_readings_of_stateful_stages_are_published_also_after_a_reset(running):
    delay = {"box": {"delay": {"time": 0.1}}}
    skin = {"scales": {"box": 0.05}, "sensor": delay, "sampling": "peak"}
    view = running(real_time_factor=0.0, skin=skin)
    view.shared.clients = 1
    wait_until(lambda: view.runner.simulation.time > 1.0)
    call(view, lambda: view.runner.pause(True))
    wait_until(lambda: view.latest().paused)
    published = view.runner.simulation.published[0]
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


def test_switch_request_removes_the_stage_from_the_readings(running):
    skin = {"scales": {"box": 0.05}, "sensor": {"*": {"offset": {"value": 1.0}}}}
    view = running(start_paused=True, skin=skin)
    view.shared.clients = 1
    key = view.scene.stages[0].parameter
    assert view.scene.stages[0].pads == ("box",)
    view.request("set_switch", key, False)
    wait_until(lambda: not view.latest().enabled.any())
    assert not view.latest().readings.any()  # the box is in the air
    view.request("set_switch", key, True)
    wait_until(lambda: view.latest().enabled.all())
    assert view.latest().readings == pytest.approx(3**0.5)  # an offset of 1 N on each channel
    view.request("set_switch", key.replace("offset", "noise"), True)
    wait_until(lambda: key.replace("offset", "noise") in "".join(view.notices))


def test_physics_waits_until_a_browser_has_drawn_the_first_frame(running):
    view = running(presents=True, real_time_factor=0.0)
    view.shared.clients = 1
    assert view.latest().time == 0.0
    view.shared.drawn = True
    wait_until(lambda: view.runner.simulation.time > 0.1)


def test_scene_is_repeated_until_a_user_requests_anything(running):
    view = running(presents=True, real_time_factor=0.0, web={"repeat": 0.2})
    view.shared.clients, view.shared.drawn, simulation = 1, True, view.runner.simulation
    wait_until(lambda: simulation.step_count - simulation.steps_since_reset > 2 * 0.2 / 0.002)
    view.request("set_view", "{}")  # the page sends it by itself
    resets = simulation.step_count - simulation.steps_since_reset
    wait_until(lambda: simulation.step_count - simulation.steps_since_reset > resets)
    view.request("set_control", 0, 0.5)
    wait_until(lambda: simulation.steps_since_reset > 3 * 0.2 / 0.002)
