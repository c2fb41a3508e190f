"""The force plot."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from tactile_sim.view.content import ViewFrame, ViewScene
from tactile_sim.view.panel.force_plot import BOTTOM, HEIGHT, LEFT, RIGHT, SPAN, TOP, WIDTH, plot_svg
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import Endpoint


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
def panel():
    """Return the panel in a view of a body with skin; the colour scale ends at 1 N."""
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
    viewer = Viewer(scene, Endpoint(port=0), None)
    yield viewer.panel
    viewer.close()


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


def test_axis_ignores_the_colour_scale_of_other_quantities(panel):
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
