"""Frames that a running simulation publishes; the test acts as the view."""

from __future__ import annotations

import time

import numpy as np
import pytest
from support.published_view import call
from support.waiting import PATIENCE, wait_until

from tactile_sim.view.process.view_process import INTERVAL


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
