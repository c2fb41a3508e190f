"""The plot of forces as a picture."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from tactile_sim.view.address import Endpoint
from tactile_sim.view.force_plot import BOTTOM, HEIGHT, LEFT, RIGHT, SPAN, TOP, WIDTH, curves
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.world import Moment, World


def lines(picture):
    """Points (k, 2) of each line."""
    found = ElementTree.fromstring(picture).iter("polyline")
    return [
        np.array([point.split(",") for point in line.get("points").split()], float).tolist() for line in found
    ]


def numbers(picture):
    return [text.text for text in ElementTree.fromstring(picture).iter("text")]


def test_lines_lie_where_the_axes_say_and_runs_are_apart():
    early = np.array([-SPAN, -SPAN / 2]), np.array([[0.0], [2.0]])
    late = np.array([-1.0, 0.0]), np.array([[1.0], [1.0]])
    first, second = lines(curves([early, late], 2.0))
    middle = (LEFT + WIDTH - RIGHT) / 2
    assert first == [[LEFT, HEIGHT - BOTTOM], [middle, TOP]]
    assert second[1] == [WIDTH - RIGHT, (TOP + HEIGHT - BOTTOM) / 2]


def test_a_moment_alone_is_a_dot():
    [dot] = lines(curves([(np.zeros(1), np.array([[1.0]]))], 2.0))
    assert dot[0] == dot[1]


@pytest.mark.parametrize(
    ("top", "shown"),
    [
        (1.0, ["0", "0.25", "0.5", "0.75", "1"]),
        (20.0, ["0", "5", "10", "15", "20"]),
        (0.5, ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]),
    ],
)
def test_the_axis_goes_from_zero_in_round_numbers(top, shown):
    assert numbers(curves([], top)) == [*shown, f"−{SPAN:g} s", f"−{SPAN / 2:g} s", "now"]


@pytest.fixture
def panel():
    """Of a view of a body with a skin whose scale ends at 1 N."""
    world = World(
        "",
        ("world", "a<b"),
        skin_bodies=np.array([1]),
        taxel_counts=np.array([1]),
        taxel_positions=np.zeros((1, 3)),
        taxel_normals=np.array([[0.0, 0.0, 1.0]]),
        taxel_spacings=np.array([0.01]),
    )
    viewer = Viewer(world, Endpoint(port=0), None)
    yield viewer.panel
    viewer.close()


def moment(time, force, **fields):
    upright = np.array([[1.0, 0.0, 0.0, 0.0]] * 2)
    return Moment(
        time, np.zeros((2, 3)), upright, forces=np.array([[0.0, 0.0, force]]), paused=True, **fields
    )


def drawn(panel):
    """The picture, and the text below it."""
    picture, _, key = panel.plot.content.partition("</svg>")
    return picture[picture.index("<svg") :] + "</svg>", key


def test_next_to_nothing_looks_like_that(panel):
    panel.draw(moment(0.0, 1e-6))
    picture, key = drawn(panel)
    assert numbers(picture)[:6] == ["0", "1", "2", "3", "4", "5"]
    [[*_, end]] = lines(picture)
    assert end[1] == HEIGHT - BOTTOM
    assert "a&lt;b" in key and "1e-06" in key


def test_the_axis_grows_with_the_force_and_shrinks_when_it_is_long_gone(panel):
    for time, force, top in ((0.0, 900.0, "2000"), (1.0, 0.0, "2000"), (20.0, 0.0, "5")):
        panel.draw(moment(time, force))
        assert numbers(drawn(panel)[0])[-4] == top


def test_a_jump_is_a_gap(panel):
    for time, begins in ((0.0, True), (0.1, False), (0.2, True), (0.3, False)):
        panel.draw(moment(time, 2.0, begins=begins))
    assert [len(line) for line in lines(drawn(panel)[0])] == [2, 2]
