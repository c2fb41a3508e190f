"""The pointer, the keys, the camera and the bodies in headless Chromium."""

from __future__ import annotations

import gc
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from support.chromium import (
    HEIGHT,
    PANEL,
    WIDTH,
    drawn,
    paused_frame,
    screenshot,
    unfold,
    until,
    wait_for_text,
)
from support.view_clients import Recorder

from tactile_sim.figures.arrows import NORMAL
from tactile_sim.figures.colors import NO_CONTACT, level_colors, levels
from tactile_sim.trifinger import SimFinger
from tactile_sim.trifinger.visual_objects import Marker
from tactile_sim.view.content import Shape, ViewScene, box
from tactile_sim.view.viewer import FIELD_OF_VIEW

DISTANCE = 0.6
"""Distance of the initial camera from the center of the box [m]."""
FITTED = DISTANCE * HEIGHT / (WIDTH - PANEL)
"""Distance of the initial camera from the center of the box in the test's window [m].

Without the panel, the window is taller than wide, so the camera must be farther away than `DISTANCE`.
"""


@pytest.fixture(scope="module")
def skin_view(viewers, visits):
    """Yield a view of a box with a fine skin on its sides, the recorded requests, a page and its client."""
    vertices, faces = box([0.2] * 3)
    grid = np.stack(np.meshgrid(*[np.linspace(-0.09, 0.09, 10)] * 2), -1).reshape(-1, 2)
    positions, normals = [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            positions.append(np.insert(grid, axis, sign * 0.1, axis=1))
            normals.append(np.tile(sign * np.eye(3)[axis], (len(grid), 1)))
    number = 6 * len(grid)
    scene = ViewScene(
        "a box with skin",
        ("world", "box"),
        (Shape("box", 1, vertices, faces, np.ones(4)),),
        pushable_bodies=(1,),
        skin_bodies=np.array([1]),
        taxel_counts=np.array([number]),
        pads=("box",),
        taxel_ids=np.arange(number),
        taxel_positions=np.concatenate(positions),
        taxel_normals=np.concatenate(normals),
        taxel_spacings=np.array([0.02]),
        center=np.zeros(3),
        extent=0.4,
        camera=np.array([0.0, -DISTANCE, 0.0]),
    )
    recorder = Recorder()
    with viewers() as open_view, visits() as visit:
        viewer = open_view(scene, recorder)
        viewer.show(paused_frame(0.0, readings=0.001 * np.arange(number)))
        page = visit(viewer.url, drawn=True)
        yield viewer, recorder.requests, page, wait_for_camera(viewer)


def screen_point(x, z):
    """Return the pixel at which the camera of `skin_view` sees a point (x, -0.1, z) [m]."""
    focal = HEIGHT / 2 / np.tan(FIELD_OF_VIEW / 2)
    distance = FITTED - 0.1
    return (WIDTH - PANEL) / 2 + focal * x / distance, HEIGHT / 2 - focal * z / distance


def wait_for_camera(viewer):
    """Wait until the page has placed its camera; return the client."""
    until(lambda: viewer.clients == 1)
    [client] = viewer.server.get_clients().values()
    until(lambda: np.allclose(client.camera.position, [0.0, -FITTED, 0.0], atol=2e-3))
    return client


def taxel_at(x, z):
    """Return the index of the taxel at (x, -0.1, z) [m]."""
    return 2 * 100 + 10 * round((z + 0.09) / 0.02) + round((x + 0.09) / 0.02)


def test_click_pushes_a_body_along_the_view_direction(box_view, visit):
    viewer, requests = box_view
    viewer.show(paused_frame(0.0))
    page = visit(viewer.url)
    until(lambda: viewer.clients == 1)
    page.wait_for_timeout(1000)

    def clicked():
        page.mouse.click((WIDTH - PANEL) / 2, HEIGHT / 2)
        page.wait_for_timeout(200)
        return requests

    until(clicked)
    name, (body, force) = requests[0]
    camera = viewer.server.initial_camera
    forward = (camera.look_at - camera.position) / np.linalg.norm(camera.look_at - camera.position)
    assert (name, body) == ("push", 1)
    assert force / np.linalg.norm(force) == pytest.approx(forward, abs=0.1)
    assert np.linalg.norm(force) == pytest.approx(10.0 * 2.0)


def test_hover_shows_the_reading_and_a_click_pins_or_pokes(skin_view):
    viewer, requests, page, _ = skin_view

    page.locator("#loading").wait_for(state="detached")
    place = screen_point(0.03, -0.05)
    page.mouse.move(*place)
    taxel, card = taxel_at(0.03, -0.05), page.locator("#hover-card")
    card.wait_for()
    assert card.inner_text().split("\n") == [f"box #{taxel}", f"{taxel} mN", "(0.030, -0.100, -0.050) m"]
    area, leader = card.bounding_box(), page.locator("#leader")
    gaps = [
        max(area[start] - at, at - area[start] - area[size])
        for start, size, at in zip("xy", ("width", "height"), place, strict=True)
    ]
    assert 0.0 < min(gaps) <= max(gaps) < 30.0  # beside the pointer
    assert card.evaluate("card => getComputedStyle(card).backgroundColor").startswith("rgb(")  # opaque
    end = [float(leader.get_attribute(name)) for name in ("x2", "y2")]
    assert end == pytest.approx(place, abs=3.0)
    screenshot(page, "hover")
    page.mouse.click(*screen_point(0.03, -0.05))
    wait_for_text(page, "pinned taxels [mN]")
    wait_for_text(page, f"box #{taxel}")
    assert viewer.server.scene.get_handle_by_name(f"/pinned_taxel_{taxel}")
    page.get_by_label(f"unpin box #{taxel}").click()
    until(lambda: viewer.server.scene.get_handle_by_name(f"/pinned_taxel_{taxel}") is None)
    page.get_by_text("pinned taxels").wait_for(state="detached")
    unfold(page, "Measure")
    page.get_by_label("a click").click()
    page.get_by_role("option", name="poke the skin").click()
    page.mouse.click(*screen_point(-0.05, 0.07))
    until(lambda: requests)
    wait_for_text(page, "poking box #")
    [(name, (body, point, force, _))] = requests
    assert (name, body) == ("press", 1)
    assert point == pytest.approx([-0.05, -0.1, 0.07])
    assert force == pytest.approx([0.0, 1.0, 0.0])  # 1 N into the body


def test_drag_with_ctrl_pulls_the_body_and_keys_act(skin_view):
    viewer, requests, page, _ = skin_view
    requests.clear()
    drawn(page, "drag")
    page.mouse.move(*screen_point(0.0, 0.05))
    page.keyboard.down("Control")
    page.mouse.down()
    for x in (0.02, 0.05, 0.08):
        page.mouse.move(*screen_point(x, 0.05))
        page.wait_for_timeout(100)
    viewer.show(replace(viewer._latest, pull_force=3.2))
    page.locator("#pull-force").get_by_text("3.2 N").wait_for()
    ends = [float(page.locator("#band").get_attribute(name)) for name in ("x1", "y1", "x2", "y2")]
    assert ends == pytest.approx([*screen_point(0.0, 0.05), *screen_point(0.08, 0.05)], abs=4.0)
    screenshot(page, "rubber_band")
    assert page.locator("#view-hint").count() == 0  # a hint that is no longer necessary
    page.mouse.up()
    page.keyboard.up("Control")
    until(lambda: ("release", ()) in requests)
    name, (body, point, target, limit) = requests[-2]
    assert (name, body) == ("pull", 1)
    assert point == pytest.approx([0.0, -0.1, 0.05], abs=0.01)
    assert target == pytest.approx([0.08, -0.1, 0.05], abs=0.01)
    assert limit == 50.0
    requests.clear()
    for key in ("Space", "ArrowRight", "Backspace"):
        page.keyboard.press(key)
    until(lambda: len(requests) == 3)
    assert sorted(requests) == [("pause", (False,)), ("reset", ("",)), ("step", (1,))]
    page.keyboard.press("?")
    page.locator("#view-help").wait_for()
    page.keyboard.press("Escape")
    page.locator("#view-help").wait_for(state="detached")


def test_camera_buttons_look_from_the_top_at_the_contacts_and_follow(skin_view):
    viewer, _, page, client = skin_view
    unfold(page, "Look", exact=True)
    page.get_by_text("top", exact=True).click()
    until(lambda: client.camera.position[2] > 0.3 and abs(client.camera.position[1]) < 0.01)
    taxel, readings = taxel_at(0.03, -0.05), np.zeros(600)
    readings[taxel] = 1.0
    viewer.show(paused_frame(0.1, readings=readings))
    page.get_by_text("contacts", exact=True).click()
    until(lambda: np.allclose(client.camera.look_at, [0.03, -0.1, -0.05], atol=1e-3))
    page.get_by_text("follow", exact=True).click()
    until(lambda: viewer._cameras._following)
    moved = replace(paused_frame(0.2, readings=readings), body_positions=np.array([[0.0] * 3, [0.2, 0, 0]]))
    viewer.show(moved)
    until(lambda: np.allclose(client.camera.look_at, [0.23, -0.1, -0.05], atol=1e-3))


PLACES = """(names) => names.map((name) => {
  const node = window.__viserMutable?.nodeRefFromName[`/${name}`];
  return node && node.children.length ? node.position.toArray() : null;
})"""
"""Script that returns the position of each body, null if it is not drawn.

It asks for all bodies at once, because each question may wait for a frame, for seconds on a busy machine.
"""

COLORS = """(name) => {
  const nodes = window.__viserMutable?.nodeRefFromName;
  const points = nodes?.[`/${name}/skin/dots`]?.getObjectByProperty("isPoints", true);
  return points ? [...points.geometry.attributes.color.array] : null;
}"""
"""Script that returns the colors of a body's taxels, and null before they are drawn."""


LAYERS = """() => {
  const viser = window.__viserMutable, nodes = viser.nodeRefFromName;
  window.layers = [];
  viser.scene.onAfterRender = () => {
    const of = (name, kind) => nodes[name]?.getObjectByProperty(kind, true);
    const shaft = of("/forces_2", "isInstancedMesh"), points = of("/contact_points", "isPoints");
    if (!shaft || !nodes["/forces_2"].visible) return;
    const matrix = shaft.matrixWorld.clone();
    shaft.getMatrixAt(0, matrix);
    const color = of("/box/skin/dots", "isPoints").geometry.attributes.color.array[1];
    window.layers.push([
      nodes["/box"].position.x, matrix.elements[12], points.geometry.attributes.position.array[0], color,
    ]);
  };
}"""
"""Script that stores after each drawn frame the x coordinates of body, arrow and contact, and a color."""


def test_body_arrow_contact_and_glow_are_of_one_state(skin_view):
    viewer, _, page, _ = skin_view
    page.locator("#loading").wait_for(state="detached")
    page.evaluate(LAYERS)

    def moved(k):
        x, readings = 1e-3 * k, np.full(600, 0.2 + 0.8 * (k % 60) / 60)
        place = np.array([x, 0.0, 0.0])
        frame = paused_frame(k / 25, readings=readings, taxel_scale=1.0)
        return replace(
            frame,
            body_positions=np.array([np.zeros(3), place]),
            contact_points=place[None],
            arrows=np.array([[place, place + [0.0, 0.0, 0.15]]]),
            arrow_kinds=np.array([NORMAL]),
        )

    first, number = viewer._latest, count()

    def states():
        viewer.show(moved(next(number)))
        page.wait_for_timeout(40)
        return len({x for x, *_ in page.evaluate("window.layers")})

    until(lambda: states() > 4)
    layers = np.array(page.evaluate("window.layers"))
    viewer.show(first)
    assert layers[:, 1] == pytest.approx(layers[:, 0], abs=1e-6)
    assert layers[:, 2] == pytest.approx(layers[:, 0], abs=1e-6)
    readings = [moved(round(x / 1e-3)).readings[0] for x in layers[:, 0]]
    assert layers[:, 3].tolist() == level_colors(levels(np.array(readings), 1.0, False))[:, 1].tolist()


@pytest.fixture
def finger():
    finger = SimFinger("fingerpro", enable_visualization=True)
    yield finger
    finger.close()


def test_markers_appear_and_disappear_in_an_open_view(finger, visit, capfd):
    view, url = finger._view, finger._view.url
    page = visit(url)

    def places(names):
        return page.evaluate(PLACES, names)

    page.get_by_label("transparent").check()
    page.evaluate("window.loadedOnce = true")
    until(lambda: all(places(["finger_tip_link"])))
    markers = [Marker(3) for _ in range(3)]
    assert finger._view is view  # not restarted, which takes seconds
    gone, *_, moved = (marker.names for marker in markers)
    kept = [name for marker in markers[1:] for name in marker.names]
    until(lambda: all(places(gone + kept)))
    colors = page.evaluate(COLORS, "finger_tip_link")
    assert colors == [*NO_CONTACT] * (len(colors) // 3)  # not gray, the color of invalid readings
    targets = [[0.1, 0.0, 0.05 * k] for k in range(3)]
    markers[-1].set_state(targets)
    finger.append_desired_action(finger.Action())
    until(lambda: np.allclose(places(moved), targets))
    del markers[0]
    gc.collect()
    finger.append_desired_action(finger.Action())
    until(lambda: not any(places(gone)))
    assert all(places(kept))
    until(lambda: np.allclose(places(moved), targets))
    assert page.evaluate("window.loadedOnce") and page.get_by_label("transparent").is_checked()
    assert page.get_by_role("status").is_hidden()  # the connection was never lost
    assert finger._view.url == url and "web view" not in capfd.readouterr().out.partition(url)[2]
