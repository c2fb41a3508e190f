"""Rows in the tree of bodies and pads."""

from __future__ import annotations

import numpy as np
import pytest
from support.view_clients import pads_scene

from tactile_sim import config
from tactile_sim.figures.messages import Poses
from tactile_sim.simulation import Simulation
from tactile_sim.view.panel.tree_rows import MAX_OPEN, flat, tree_html, tree_rows
from tactile_sim.view.scene.from_model import scene_of_simulation


def nested(rows):
    return {row.name: nested(row.children) for row in rows}


def test_bodies_without_skin_are_listed_only_where_they_connect_others():
    #  world - base - arm - (hand: two pads, foot - toe), and a loose body; base has one child, arm has two
    bodies = ("world", "base", "arm", "hand", "foot", "toe", "table", "ball")
    parents = [0, 0, 1, 2, 2, 4, 0, 0]
    scene = pads_scene(bodies, parents, {"palm": "hand", "back": "hand", "toe": "toe", "ball": "ball"})
    rows = tree_rows(scene)
    assert nested(rows) == {"arm": {"hand": {"palm": {}, "back": {}}, "toe": {}}, "ball": {}}
    arm = rows[0]
    assert (arm.pads, arm.all_pads, arm.chosen_pads) == ([], [0, 1, 2], [0, 1, 2])
    assert arm.children[0].pads == [0, 1]


@pytest.mark.parametrize("parents", [[], [0, 2, 1], [0, 1, 2]])
def test_each_body_has_a_row_without_parents_and_with_cyclic_ones(parents):
    scene = pads_scene(("world", "left", "right"), parents, {"left": "left", "right": "right"})
    assert sorted(row.name for row in flat(tree_rows(scene))) == ["left", "right"]


def test_names_are_escaped_and_a_different_pad_name_is_shown():
    scene = pads_scene(("world", "<b>"), [0, 0], {"skin & bone": "<b>"})
    html = tree_html(tree_rows(scene), "id")
    assert "&lt;b&gt;: skin &amp; bone" in html
    assert "<b>" not in html


def test_infant_starts_folded_and_lists_every_body_with_skin():
    simulation = Simulation(config.load("infant"))
    scene = scene_of_simulation(simulation)
    rows = list(flat(tree_rows(scene)))
    assert sorted(pad for row in rows for pad in row.pads) == list(range(len(scene.pads)))
    left = next(row for row in rows if row.name == "left_hand")
    assert {child.name for child in left.children} >= {"left_thumb_1", "left_index_1"}
    html = tree_html(tree_rows(scene), "id")
    assert " hidden" in html
    assert len(rows) > MAX_OPEN
    assert 'type="search"' in html


def test_parents_of_a_bag_are_the_nearest_known_frames():
    poses = Poses()
    poses._parents = {"tip": "link", "link": "base", "base": "world", "a": "b", "b": "a"}
    np.testing.assert_array_equal(poses.parents(("world", "base", "tip", "a", "ball")), [0, 0, 1, 3, 4])
