"""The body tree and the switches for stages in headless Chromium."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from support.chromium import CHROMIUM, PANEL, WIDTH, active_pixels, screenshot, until
from support.view_clients import pads_scene

from tactile_sim.figures.arrows import NORMAL
from tactile_sim.view.content import ViewFrame
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import Endpoint

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)
CENTER = (WIDTH - PANEL) // 2
"""Column of the image between both bodies."""


@pytest.fixture
def two_bodies():
    """Yield a view of a body on the left and one on the right, each with a large taxel and a contact."""
    scene = pads_scene(
        ("world", "base", "left", "right"),
        [0, 0, 1, 1],
        {"left": "left", "right": "right"},
        center=np.zeros(3),
        extent=0.5,
        camera=np.array([0.0, -0.6, 0.0]),
    )
    scene = replace(scene, taxel_spacings=np.full(2, 0.15))
    places = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [-0.1, 0.0, 0.0], [0.1, 0.0, 0.0]])
    starts = places[2:] - [0.0, 0.1, 0.0]
    frame = ViewFrame(
        0.0,
        places,
        np.tile([1.0, 0.0, 0.0, 0.0], (4, 1)),
        readings=np.array([1.0, 2.0]),
        forces=np.array([[0.0, 0.0, 3.0], [0.0, 0.0, 4.0]]),
        contact_points=starts,
        contact_bodies=np.array([[2, 0], [0, 3]]),
        arrows=np.stack([starts, starts + [0.0, 0.0, 0.1]], axis=1),
        arrow_kinds=np.full(2, NORMAL),
        arrow_sources=np.arange(2),
        paused=True,
    )
    viewer = Viewer(scene, Endpoint(port=0), None)
    viewer.show(frame)
    yield viewer
    viewer.close()


def lit(page):
    """Return two booleans: whether taxels glow in the left half of the scene, and in the right half."""
    pixels = screenshot(page, "tree")
    return active_pixels(pixels[:, :CENTER]) > 100, active_pixels(pixels[:, CENTER:]) > 100


def arrows(viewer):
    """Return the x coordinates of all drawn arrows and contact points."""
    markers = viewer._markers
    drawn = [handle.points[:, 0, 0] for handle in markers._arrows if handle.visible]
    if markers._points.visible:
        drawn.append(markers._points.points[:, 0])
    return set(np.concatenate([np.empty(0), *drawn]).round(3).tolist())


def test_tree_hides_and_selects_bodies(two_bodies, visit):
    viewer = two_bodies
    for message in ("", "1 hide", "1 hide 9", "1 hide -1", "1 hide one", "1 close 0", "1 hide " + "9" * 5000):
        viewer._tree._act(message, None)
    assert arrows(viewer) == {-0.1, 0.1}
    page = visit(viewer.url)
    page.get_by_text("Bodies (2)").click()
    base, left = (page.get_by_role("checkbox", name=f"show {name}") for name in ("base", "left"))
    left.uncheck()
    until(lambda: lit(page) == (False, True))
    until(lambda: arrows(viewer) == {0.1})
    until(lambda: base.evaluate("box => box.indeterminate"))
    # A ray through the hidden body hits no taxel.
    assert viewer.panel.probe.find(np.array([-0.2, -1.0, 0.0]), np.array([0.0, 1.0, 0.0])) is None
    base.focus()
    page.keyboard.press("Space")  # this shows all bodies below it
    until(left.is_checked)
    assert arrows(viewer) == {-0.1, 0.1}
    page.keyboard.press("Space")
    until(lambda: not left.is_checked())
    until(lambda: lit(page) == (False, False))
    assert arrows(viewer) == set()
    name = page.get_by_role("button", name="right", exact=True)
    name.focus()
    page.keyboard.press("Enter")
    until(lambda: name.get_attribute("aria-pressed") == "true")
    page.get_by_text("largest 2 N; net force on the body 4 N").wait_for()
    [client] = viewer.server.get_clients().values()
    until(lambda: np.allclose(client.camera.look_at, [0.1, 0.0, 0.0], atol=1e-3))
    page.keyboard.press("Enter")
    until(lambda: name.get_attribute("aria-pressed") == "false")


def test_filter_finds_rows_in_folded_levels(visit):
    names = [f"link_{k}" for k in range(30)]
    scene = pads_scene(("world", *names), [0, *range(30)], {name: name for name in names})
    viewer = Viewer(scene, Endpoint(port=0), None)
    try:
        viewer.show(ViewFrame(0.0, np.zeros((31, 3)), np.tile([1.0, 0, 0, 0], (31, 1)), paused=True))
        page = visit(viewer.url)
        page.get_by_text("Bodies (30)").click()
        last = page.get_by_role("button", name="link_29", exact=True)
        until(lambda: page.locator(".view-tree button.name:visible").count() == 14)
        assert last.is_hidden()
        page.get_by_label("Filter bodies and pads by name").fill("_29")
        until(last.is_visible)
        page.get_by_label("Filter bodies and pads by name").fill("nothing")
        until(last.is_hidden)
    finally:
        viewer.close()


def test_switch_of_a_stage_changes_readings(running, visit):
    skin = {"scales": {"box": 0.05, "ball": 0.03}, "sensor": {"box": {"offset": {"value": 1.0}}}}
    skin["sensor"]["ball"] = {"gain": {"value": 2.0}}
    process = running(start_paused=True, skin=skin)
    process.shared.clients = 1

    class Controls:
        def ask(self, action, *arguments):
            process.request(action, *arguments)

    viewer = Viewer(process.scene, Endpoint(port=0), Controls())
    try:
        viewer.show(process.latest())
        assert viewer._latest.readings.any()
        page = visit(viewer.url)
        page.get_by_text("Sensor stages").click()
        box = page.get_by_role("checkbox", name=re.compile("offset"))
        box.wait_for()
        page.get_by_role("checkbox", name=re.compile("gain")).wait_for()
        box.focus()
        page.keyboard.press("Space")
        until(lambda: not process.latest().readings.any())  # the box is in the air
        process.request("set_switch", "skin.sensor.box.offset.enabled", True)  # changed by another program
        until(lambda: process.latest().enabled.all())
        viewer.show(process.latest())
        until(box.is_checked)
    finally:
        viewer.close()
