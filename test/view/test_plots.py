"""The plots of forces and the legend in the panel."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from support.view_clients import FRAME, Browser, Recorder, pads_scene

from tactile_sim.view.content import ViewFrame, ViewScene
from tactile_sim.view.legend import legend
from tactile_sim.view.plots import (
    BINS,
    BOTTOM,
    HEIGHT,
    LEFT,
    MAX_GAP,
    RIGHT,
    SPAN,
    TOP,
    WIDTH,
    ForceHistory,
    plot_svg,
)


def forced(time, force, **fields):
    return ViewFrame(
        time, np.zeros((1, 3)), np.zeros((1, 4)), forces=np.array([[0.0, -force, 0.0]]), **fields
    )


def history(*frames):
    stored = ForceHistory(1)
    for each in frames:
        stored.add(each, each.forces)
    return stored


def segments(stored):
    return [(times.tolist(), forces[:, 0].tolist()) for times, forces in stored.segments()]


def test_discontinuous_frame_starts_a_segment():
    stored = history(
        forced(1.0, 3.0), forced(1.125, 4.0), forced(1.25, 0.0, discontinuous=True), forced(1.5, 1.0)
    )
    assert segments(stored) == [([-0.5, -0.375], [3.0, 4.0]), ([-0.25, 0.0], [0.0, 1.0])]
    assert stored.forces.tolist() == [1.0]


def test_gap_in_time_starts_a_segment():
    stored = history(forced(1.0, 3.0), forced(1.0 + MAX_GAP, 4.0), forced(3.0, 5.0))
    assert [len(times) for times, _ in segments(stored)] == [2, 1]
    [(times, forces)] = stored.links()  # nothing was drawn, but the contact was not lost
    assert (times.tolist(), forces[:, 0].tolist()) == ([MAX_GAP - 2.0, 0.0], [4.0, 5.0])
    assert history(forced(1.0, 3.0), forced(3.0, 5.0, discontinuous=True)).links() == []


def test_single_steps_are_joined_and_the_last_frame_ends_the_segment():
    stored = history(forced(3.0, 5.0), forced(3.002, 0.0))
    [(times, forces)] = segments(stored)
    assert times == pytest.approx([-0.002, 0.0])
    assert forces == [5.0, 0.0]


def test_short_impact_is_preserved():
    step = SPAN / BINS / 10
    stored = history(*[forced(k * step, 100.0 if k == 25 else 1.0) for k in range(100)])
    [(_, forces)] = segments(stored)
    assert len(forces) <= 11
    assert max(forces) == 100.0


def test_samples_older_than_the_span_are_discarded():
    stored = history(*[forced(float(k), 1.0) for k in range(20)])
    assert [times[0] for times, _ in segments(stored)] == list(range(-10, 1))


def test_jump_back_discards_later_samples_and_starts_a_segment():
    stored = history(forced(1.0, 3.0), forced(1.25, 4.0), forced(1.5, 5.0), forced(1.375, 6.0))
    assert segments(stored) == [([-0.375, -0.125], [3.0, 4.0]), ([0.0], [6.0])]


def test_nan_forces_are_ignored():
    assert segments(history(forced(1.0, 3.0), forced(2.0, np.nan))) == [([0.0], [3.0])]


def lines(svg):
    """Return the points (k, 2) of each polyline in an SVG."""
    found = ElementTree.fromstring(svg).iter("polyline")
    return [
        np.array([point.split(",") for point in line.get("points").split()], float).tolist() for line in found
    ]


def numbers(svg):
    return [text.text for text in ElementTree.fromstring(svg).iter("text")]


def test_lines_match_the_axes_and_segments_are_separate():
    early = np.array([-SPAN, -SPAN / 2]), np.array([[0.0], [2.0]])
    late = np.array([-1.0, 0.0]), np.array([[1.0], [1.0]])
    first, second = lines(plot_svg([early, late], 2.0))
    middle = (LEFT + WIDTH - RIGHT) / 2
    assert first == [[LEFT, HEIGHT - BOTTOM], [middle, TOP]]
    assert second[1] == [WIDTH - RIGHT, (TOP + HEIGHT - BOTTOM) / 2]


def test_single_sample_is_drawn_as_a_dot():
    [dot] = lines(plot_svg([(np.zeros(1), np.array([[1.0]]))], 2.0))
    assert dot[0] == dot[1]


@pytest.mark.parametrize(
    ("axis", "labels"),
    [
        (1.0, ["0", "0.25", "0.5", "0.75", "1"]),
        (20.0, ["0", "5", "10", "15", "20"]),
        (0.5, ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]),
    ],
)
def test_axis_labels_are_round_numbers_from_zero(axis, labels):
    assert numbers(plot_svg([], axis)) == [*labels, f"−{SPAN:g} s", f"−{SPAN / 2:g} s", "now"]


@pytest.fixture
def panel(open_view):
    """Return the panel in a view of a body with skin; the color scale ends at 1 N."""
    scene = ViewScene(
        "",
        ("world", "a<b"),
        skin_bodies=np.array([1]),
        taxel_counts=np.array([1]),
        pads=("a<b",),
        taxel_ids=np.arange(1),
        taxel_positions=np.zeros((1, 3)),
        taxel_normals=np.array([[0.0, 0.0, 1.0]]),
        taxel_spacings=np.array([0.01]),
    )
    return open_view(scene).panel


def frame(time, force, **fields):
    upright = np.array([[1.0, 0.0, 0.0, 0.0]] * 2)
    return ViewFrame(time, np.zeros((2, 3)), upright, pad_readings=np.array([force]), paused=True, **fields)


def drawn(panel):
    """Return the SVG and the legend below it."""
    svg, _, key = panel.plot.content.partition("</svg>")
    return svg[svg.index("<svg") :] + "</svg>", key


def test_negligible_force_is_drawn_at_zero(panel):
    panel.draw(frame(0.0, 1e-6))
    svg, key = drawn(panel)
    assert numbers(svg)[:6] == ["0", "1", "2", "3", "4", "5"]
    [[*_, end]] = lines(svg)
    assert end[1] == HEIGHT - BOTTOM
    assert "a&lt;b" in key and "1e-06" in key


def test_axis_ignores_the_color_scale_of_other_quantities(panel):
    panel.draw(frame(0.0, 0.1, unit="Pa"))
    assert numbers(drawn(panel)[0])[-4] == "0.2"
    assert "[Pa]" in panel.plot.content


def test_a_new_unit_starts_a_new_plot(panel):
    panel.draw(frame(0.0, 900.0))
    panel.draw(frame(0.1, 0.1, unit="m/s"))
    assert [len(line) for line in lines(drawn(panel)[0])] == [2]
    assert numbers(drawn(panel)[0])[-4] == "0.2"


def test_axis_grows_at_once_and_shrinks_after_the_span(panel):
    for time, force, axis in ((0.0, 900.0, "2000"), (1.0, 0.0, "2000"), (20.0, 0.0, "5")):
        panel.draw(frame(time, force))
        assert numbers(drawn(panel)[0])[-4] == axis


def test_discontinuity_is_drawn_as_a_gap(panel):
    for time, discontinuous in ((0.0, True), (0.1, False), (0.2, True), (0.3, False)):
        panel.draw(frame(time, 2.0, discontinuous=discontinuous))
    assert [len(line) for line in lines(drawn(panel)[0])] == [2, 2]


ARROWS = re.compile(r"</span>&nbsp;(\w+)")


def test_legend_has_the_unit_and_the_end_of_the_scale():
    def text(unit):
        return re.sub("<[^>]*>", "", legend(20.0, unit))  # without the data for images

    assert "[N]" in text("N")
    assert "≥ 20" in text("N")
    assert "[m/s]" in text("m/s")
    assert "[" not in text("")


def test_legend_lists_the_arrows_that_are_shown(open_view):
    viewer = open_view(pads_scene(("world", "box"), (), {"box": "box"}), Recorder())
    viewer.show(replace(FRAME, readings=np.zeros(1), arrow_scale=0.01, paused=True))
    browser = Browser(viewer)

    def listed():
        """Return the names of the arrows in the last legend that this browser received."""
        legends = [content for content in browser.contents if "data-color-scale" in content]
        return ARROWS.findall(legends[-1]) if legends else None

    browser.receive_until(lambda: listed() == ["normal", "friction"])
    browser.set("net forces", True)
    browser.receive_until(lambda: listed() == ["normal", "friction", "net"])
    browser.set("force arrows", False)
    browser.receive_until(lambda: listed() == ["net"])
    browser.set("net forces", False)
    browser.receive_until(lambda: listed() == [])
    browser.close()
