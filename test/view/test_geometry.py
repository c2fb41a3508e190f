"""Surfaces of taxels, rows of the tree and the camera of a window."""

from __future__ import annotations

import numpy as np
import pytest
from support.view_clients import CAMERA, Browser, pads_scene

from tactile_sim import config
from tactile_sim.figures.messages import Poses
from tactile_sim.simulation import Simulation
from tactile_sim.view.body_tree import MAX_OPEN, flat, tree_html, tree_rows
from tactile_sim.view.model_scene import scene_of_simulation
from tactile_sim.view.skin_layer import taxel_surface

SPACING = 0.01
FLAT = np.array([0.0, 0.0, 1.0])


def on_plane(cells):
    """Return positions (n, 3) and normals (n, 3) of taxels on a flat grid, at integer coordinates (n, 2)."""
    places = np.array(cells, float) * SPACING
    return np.pad(places, ((0, 0), (0, 1))), np.tile(FLAT, (len(places), 1))


def area_vectors(positions, triangles):
    a, b, c = np.moveaxis(positions[triangles], 1, 0)
    return np.cross(b - a, c - a) / 2


def test_surface_covers_the_pad_and_faces_outward():
    positions, normals = on_plane([(x, y) for x in range(4) for y in range(3)])
    tilted = np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]])  # z becomes y
    triangles = taxel_surface(positions @ tilted, normals @ tilted, SPACING)
    area = area_vectors(positions @ tilted, triangles)
    np.testing.assert_allclose(area.sum(axis=0), 6 * SPACING**2 * FLAT @ tilted, atol=1e-12)
    assert (area @ (FLAT @ tilted) > 0).all()


def test_surface_does_not_bridge_a_gap():
    positions, normals = on_plane([(x, y) for x in (0, 1, 2, 6, 7, 8) for y in (0, 1)])
    triangles = taxel_surface(positions, normals, SPACING)
    assert np.linalg.norm(area_vectors(positions, triangles), axis=1).sum() == pytest.approx(4 * SPACING**2)


def test_pads_that_cannot_be_projected_have_no_surface():
    angle = np.linspace(0.0, np.pi, 12)
    arch = np.stack([np.cos(angle), np.zeros(12), np.sin(angle)], axis=1)
    arch = np.concatenate([arch, arch + [0.0, SPACING, 0.0]])
    alone = on_plane([(0, 0), (1, 0), (0, 1), (9, 9)])
    line = on_plane([(0, 0), (1, 0), (2, 0)])
    for positions, normals in ((arch, arch * [1, 0, 1]), alone, line, on_plane([(0, 0)])):
        assert len(taxel_surface(positions, normals, SPACING)) == 0


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


DEFAULT = [-3.0, -3.0, 3.0]
"""Camera position of a page that has not yet received the initial one [m]."""


@pytest.fixture
def page(serve):
    """Yield a function that reports a browser's camera and window, the browser, and the initial camera."""
    viewer = serve()
    browser = Browser(viewer)
    start = viewer.server.initial_camera

    def report(position, width, height):
        browser.camera_positions.clear()
        pose = {"position": np.asarray(position).tolist(), "look_at": start.look_at.tolist()}
        browser.send(CAMERA | pose | {"image_width": width, "image_height": height})

    yield report, browser, start
    browser.close()


def test_camera_is_moved_back_once_the_panel_is_docked_and_the_pose_is_applied(page):
    report, browser, start = page
    offset = start.position - start.look_at
    fitted = start.look_at + 440 / 396 * offset
    report(DEFAULT, 720, 440)
    report(start.position, 720, 440)
    report(start.position, 396, 440)
    browser.receive_until(lambda: browser.camera_positions)
    assert browser.camera_positions == [pytest.approx(fitted)]
    report(start.position, 396, 440)  # the page applies the initial pose again
    browser.receive_until(lambda: browser.camera_positions)
    assert browser.camera_positions == [pytest.approx(fitted)]
    report(fitted, 1188, 1320)  # the same window on a screen with three pixels per point
    report(fitted, 300, 600)
    browser.receive_until(lambda: browser.camera_positions)
    assert browser.camera_positions == [pytest.approx(start.look_at + 2.0 * offset)]


def test_camera_that_a_user_moved_stays(page):
    report, browser, start = page
    report(start.position + 0.1 * np.ones(3), 396, 440)
    report(start.position, 100, 400)
    browser.receive_until(lambda: browser.camera_positions)
    assert browser.camera_positions == [pytest.approx(start.look_at + 4.0 * (start.position - start.look_at))]
