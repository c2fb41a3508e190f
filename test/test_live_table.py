"""Test the state and the layout of the demo's table, without ROS and a terminal."""

import numpy as np
import pytest
from rich.console import Console

from tactile_sim.figures.colors import full_scale
from tactile_sim.ros.live_table import WINDOW, State, View, forces


def example_state(now: float = 0.0, push: float = 3.0) -> State:
    """Return a state: a palm pressed from two sides with ``push`` [N], and a thumb with 4 N and 3 N."""
    state = State(time=1.5, contacts=4)
    data = np.array([0, 0, push, 0, 0, -push, 4, 0, 0, 0, 3, 0, 0, 0, 0], np.float32)
    state.add_frame(now, ["palm", "thumb"], np.array([2, 3], np.uint32), data, 3)
    return state


def test_opposing_forces_cancel_in_net_force_and_add_in_sum():
    net, sums = forces(np.array([2, 1]), np.array([0, 0, 3.0, 0, 0, -3.0, 0, 4.0, 3.0]), 3)
    assert net == pytest.approx([0, 5])
    assert sums == pytest.approx([6, 5])


def test_scalar_readings_are_summed():
    net, sums = forces(np.array([3, 0, 1]), np.array([1.0, 2.0, 0.5, 7.0]), 1)
    assert net == pytest.approx([3.5, 0, 7])
    assert sums == pytest.approx([3.5, 0, 7])


def test_peak_stays_visible_for_one_second():
    state = example_state(now=0.0, push=50.0)
    quiet = np.zeros(15, np.float32)
    state.add_frame(0.9, state.bodies, np.array([2, 3]), quiet, 3)
    assert state.peaks == pytest.approx([100, 7])
    state.add_frame(1.1, state.bodies, np.array([2, 3]), quiet, 3)
    assert state.peaks == pytest.approx([0, 0])


def ticks(state, begin, end, time, factor=1.0):
    """Tick every 0.1 s from ``begin`` to ``end`` [s]; simulation time starts at ``time`` [s]."""
    for now in np.arange(begin, end - 0.05, 0.1):
        state.time = time + factor * (now - begin)
        state.tick(now)
        yield float(now)


def test_rates_are_averaged():
    state = State()
    for i in range(51):  # 5 s with 10 ticks/s at half speed, with three messages per tick
        state.time, state.frames = 0.05 * i, 3 * i
        state.tick(0.1 * i)
    assert state.real_time_factor == pytest.approx(0.5)
    assert state.frame_rate == pytest.approx(30)


def test_factor_includes_a_delay_as_long_as_the_node_reports_it():
    """The node stops for 0.5 s, makes up 0.1 s, and reports the delay for at most 2 s after it."""
    state = State()
    list(ticks(state, 0.0, 5.0, 0.0))
    list(ticks(state, 5.0, 5.5, 5.0, factor=0.0))
    for now in ticks(state, 5.5, 7.5, 5.1):
        assert state.real_time_factor == pytest.approx((WINDOW - 0.4) / WINDOW, abs=0.01), now


def test_factor_is_measured_since_a_pause():
    state = State(paused=True)
    list(ticks(state, 0.0, 2.0, 0.0, factor=0.0))
    state.paused = False
    list(ticks(state, 2.0, 2.5, 0.05))
    assert state.real_time_factor == pytest.approx(0.9, abs=0.1)


@pytest.mark.parametrize(
    ("force", "scale"), [(9.81, 20), (1.0, 2), (4.0, 5), (4.5, 10), (80.0, 100), (0.0, 0.001)]
)
def test_full_bar_is_a_round_force_above_the_weight(force, scale):
    assert full_scale(force) == pytest.approx(scale)


def test_plain_text_shows_numbers_weight_and_bar():
    view = View("hand", {"thumb": 2.5}, scale=14.0)
    status, headings, thumb, palm = view.plain(example_state()).splitlines()
    assert status.startswith("time 1.500 s ")
    assert "contacts 4" in status
    assert headings.endswith("0.014 to 14 N, log")
    bar = round(20 * (1 + np.log10(7 / 14) / 3))  # of 20 columns for three decades
    assert thumb.split() == ["thumb", "5.000", "7.000", "7.000", bar * "#", "weight", "2.500", "N"]
    assert palm.split()[:4] == ["palm", "0.000", "6.000", "6.000"]


def test_table_fits_the_height():
    state = State(time=0.0, problem="too slow [for this]")
    state.add_frame(0.0, [f"body{i}" for i in range(40)], np.ones(40, np.uint32), np.ones(40), 1)
    console = Console(width=80)
    with console.capture() as capture:
        console.print(
            View("infant", {}, 2.0, ["topics: ...", "another terminal: ..."]).table(state, 24, "keys")
        )
    lines = [line.rstrip() for line in capture.get().splitlines()]
    assert len(lines) < 24
    assert "too slow [for this]" in lines
    shown = [line for line in lines if line.startswith("body") and "net" not in line]
    assert f"... and {40 - len(shown)} more bodies" in lines


def test_untouched_bodies_are_counted_in_one_line_and_impacts_stay_in_the_sparkline():
    state = State(time=0.0)
    for now, force in ((0.0, 4.0), (2.9, 1.0)):
        state.add_frame(now, ["palm", "thumb"], np.ones(2, np.uint32), np.array([force, 0.0]), 1)
    console = Console(width=120)
    with console.capture() as capture:
        console.print(View("hand", {}, 4.0).table(state, 24))
    lines = capture.get().splitlines()
    [palm] = [line for line in lines if line.startswith("palm")]
    assert not any(line.startswith("thumb") for line in lines)
    assert "1 body without touch" in lines
    history = state.histories()[0]
    assert (history[0], history[-1], history[1:-1].max()) == (4.0, 1.0, 0.0)
    assert palm.rstrip().endswith("█" + " " * (len(history) - 2) + "▇")  # 1 N of 4 N: 80 %


def test_bars_are_logarithmic_over_three_decades():
    state = State(time=0.0)
    names = ["full", "tenth", "hundredth", "below"]
    state.add_frame(0.0, names, np.ones(4, np.uint32), np.array([100.0, 10.0, 1.0, 0.05]), 1)
    lines = View("hand", {}, 100.0).plain(state).splitlines()
    bars = {line.split()[0]: line.count("#") for line in lines[2:]}
    assert bars == {"full": 20, "tenth": 13, "hundredth": 7, "below": 0}
    console = Console(width=120)
    with console.capture() as capture:
        console.print(View("hand", {}, 100.0).table(state, 24))
    assert "0.1 to 100 N, log" in capture.get()
