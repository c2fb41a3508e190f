"""Test the figures of a bag that records a falling cube with feelers."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from support.errors import raises
from support.falling_bag import GRID, LANDING, Cube, Making
from support.figures import figure, recorded

from tactile_sim.figures.plots import MissingTopics


def test_feelers_are_covered_before_contact(make_bag):
    recording = recorded(make_bag(Cube(feelers=True)))
    force, feelers = figure("forces", recording).axes
    times, cover = feelers.lines[0].get_data()
    below = np.array([Cube.cover(k) for k in range(len(times))]) * GRID**2 / (6 * GRID**2)
    np.testing.assert_allclose(cover, below, atol=1e-6)
    felt = force.lines[0].get_ydata()
    assert cover[LANDING - 1] > 0 and felt[LANDING - 1] == 0
    assert feelers.lines[0].get_color() == force.lines[0].get_color()
    assert feelers.get_ylabel() == "covered share of feelers"
    assert (force.get_xlim(), feelers.get_xlabel()) == (feelers.get_xlim(), "simulation time [s]")


def test_raster_has_a_row_for_each_covered_feeler(make_bag):
    taxels, feelers, _, bar = figure("raster", recorded(make_bag(Cube(feelers=True)))).axes
    rows = np.ma.filled(feelers.images[0].get_array(), 0.0)
    assert rows.shape == (GRID**2, 51)
    cover = [Cube.cover(k) for k in range(51)]
    np.testing.assert_allclose(rows, np.broadcast_to(cover, rows.shape), atol=1e-6)
    assert "25 of 150" in feelers.get_title(loc="left")
    assert bar.get_ylim() == (0.0, 1.0) and feelers.get_xlim() == taxels.get_xlim()


def test_peak_shows_covered_feelers_from_root_to_tip(make_bag):
    fig = figure("peak", recorded(make_bag(Cube(feelers=True))))
    [lines] = [artist for artist in fig.axes[0].collections if isinstance(artist, LineCollection)]
    ends = np.array([path.vertices for path in lines.get_paths()])
    assert ends.shape == (GRID**2, 2, 2), "the lower feelers"
    assert (ends[:, 1, 1] < ends[:, 0, 1]).all(), "they point down"


def test_figures_of_a_bag_with_only_feelers(make_bag):
    recording = recorded(make_bag(Cube(feelers=True, without=["/frame", "/array", "/layout", "/contacts"])))
    assert recording.bodies([]) == ["cube"]
    [ax] = figure("forces", recording).axes
    assert ax.lines[0].get_ydata()[-1] == pytest.approx(1 / 6, rel=1e-5)
    assert "25 of 150" in figure("raster", recording).axes[0].get_title(loc="left")
    assert "25 of 150" in figure("peak", recording).get_suptitle()
    with raises(MissingTopics, "contacts"):
        figure("contacts", recording)


def test_bodies_with_taxels_and_with_feelers_have_separate_panels(make_bag):
    recording = recorded(make_bag(Cube(bodies=("palm", "thumb"), feelers=True)))
    force, feelers = figure("forces", recording).axes
    assert len(force.lines) == 2 and len(feelers.lines) == 1
    [thumb] = figure("forces", recording, ["thumb"]).axes
    assert thumb.lines[0].get_label().startswith("thumb")


def test_feelers_before_their_layout_are_skipped_and_counted(make_bag):
    making = Making(make_bag.folder("late"))
    cube = Cube(feelers=True)
    for index in range(cube.count):
        if index == 3:
            cube.write_static(making)
        cube.write_snapshot(making, index)
    making.bag.close()
    recording = recorded(making.bag.folder)
    assert recording.covers.unknown == 3 and len(recording.feelers.times) == cube.count - 3
    assert len(recording.touch.times) == cube.count
