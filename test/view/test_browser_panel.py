"""The panel in headless Chromium."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import numpy as np
import pytest
from support.chromium import (
    WIDTH,
    active_pixels,
    enter,
    field,
    luminance,
    paused_frame,
    press,
    screenshot,
    unfold,
    until,
    wait_for_text,
)
from support.view_clients import SCENE, Recorder, pads_scene

from tactile_sim import config
from tactile_sim.figures.arrows import NORMAL
from tactile_sim.simulation import Simulation
from tactile_sim.view.content import ImageInfo, StageSwitch, ViewFrame
from tactile_sim.view.model_scene import scene_of_simulation

PHONE = (390, 844)
"""Window size of a phone [px]."""
NOTES = """() => [...document.querySelectorAll("[role=note]")].filter((note) => note.getClientRects().length)
  .map((note) => [note.getBoundingClientRect().toJSON(), note.innerText])"""
"""Script that returns the place and the text of each visible note."""


SECTIONS = """() => [...document.querySelectorAll(".mantine-Paper-root:has(> [inert]) > .mantine-Paper-root")]
  .map((title) => title.textContent)"""
"""Script that returns the titles of the panel's sections."""


@pytest.fixture(scope="module")
def box_page(viewers, visits):
    """Yield a view of a box, the list of recorded requests and a page, which several tests share."""
    recorder = Recorder()
    with viewers() as open_view, visits() as visit:
        viewer = open_view(controls=recorder)
        viewer.show(paused_frame(0.0))
        page = visit(viewer.url)
        unfold(page, "Actuators (2)")
        until(lambda: field(page, "turn").input_value() == "3")  # the current control
        yield viewer, recorder.requests, page


def test_buttons_share_a_row(box_page):
    _, _, page = box_page
    buttons = [page.get_by_role("button", name=name, exact=True) for name in ("Run", "Step", "Reset")]
    boxes = [button.bounding_box() for button in buttons]
    assert len({box["y"] for box in boxes}) == 1
    rights, lefts = [box["x"] + box["width"] for box in boxes], [box["x"] for box in boxes]
    assert all(right < left for right, left in zip(rights, lefts[1:], strict=False))
    assert rights[-1] <= WIDTH


def test_invalid_numbers_are_rejected_and_the_field_reverts(box_page):
    _, requests, page = box_page
    requests.clear()
    for label, value, valid in (
        ("steps per click", "-5", "1"),
        ("real-time factor", "1e-9", "1"),
        ("real-time factor", "nan", "1"),
        ("turn", "1e9", "3"),
    ):
        enter(page, label, value)
        if label == "steps per click":
            press(page, "Step")
        wait_for_text(page, f"got '{value}'")
        until(lambda label=label, valid=valid: field(page, label).input_value() == valid)
    enter(page, "real-time factor", "")
    wait_for_text(page, "got ''")
    until(lambda: field(page, "real-time factor").input_value() == "1")
    # A slow browser would press Step only after the field has reverted to 1.
    assert requests in ([], [("step", (1,))])
    page.get_by_text("got ''").wait_for(state="hidden")  # notices disappear


def test_inputs_send_their_values_and_nothing_else(box_page):
    _, requests, page = box_page
    requests.clear()
    for k, (label, value) in enumerate((("turn", "-2"), ("real-time factor", "0.25"))):
        field(page, label).fill("")
        field(page, label).press_sequentially(value)
        until(lambda k=k: len(requests) == k + 1)  # not already after the first 0 of 0.25
    page.get_by_label("reset to").click()
    page.get_by_role("option", name="high").click()
    press(page, "Reset")
    until(lambda: len(requests) == 3)
    assert requests == [
        ("set_control", (1, -2.0)),
        ("set_parameter", ("real_time_factor", 0.25)),
        ("reset", ("high",)),
    ]


def test_slider_value_is_clamped(box_page):
    _, requests, page = box_page
    requests.clear()
    assert field(page, "lift").input_value() == "0.25"
    enter(page, "lift", "1000000000")
    until(lambda: requests)
    assert set(requests) == {("set_control", (0, 1.0))}


def notes(page):
    return page.evaluate(NOTES)


def test_panel_of_a_phone_starts_closed_and_shows_its_hint_above_the_scene(open_view, visit):
    hints = ("Paused: press Run.", "It waits for examples/balance.py.")
    viewer = open_view(replace(SCENE, start_hints=hints), Recorder())
    viewer.show(paused_frame(0.0))
    page = visit(viewer.url, PHONE)
    run = page.get_by_role("button", name="Run", exact=True)
    title = page.locator("#root").get_by_text(SCENE.title, exact=True)
    until(
        lambda: not run.is_visible() and (title.bounding_box() or {"y": 0})["y"] > 0.9 * PHONE[1]
    )  # the panel slides
    until(lambda: [box["bottom"] < 0.3 * PHONE[1] for box, _ in notes(page)] == [True])
    [(box, text)] = notes(page)
    assert 0.0 <= box["left"] and box["right"] <= PHONE[0] and 0.0 <= box["top"]
    assert all(hint in text for hint in hints)
    title.click()
    run.wait_for()
    until(lambda: [box["top"] > 0.3 * PHONE[1] for box, _ in notes(page)] == [True])  # in the panel
    title.click()
    until(lambda: [box["top"] < 0.3 * PHONE[1] for box, _ in notes(page)] == [True])
    viewer.show(replace(paused_frame(0.5), paused=False))
    until(lambda: notes(page) == [])


@pytest.fixture
def two_bodies(open_view):
    """Return a view of a body on the left and one on the right, each with a large taxel and a contact."""
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
    viewer = open_view(scene)
    viewer.show(frame)
    return viewer


def lit(page):
    """Return two booleans: whether taxels glow in the left half of the scene, and in the right half."""
    halves = np.array_split(screenshot(page, "tree"), 2, axis=1)
    return tuple(active_pixels(half) > 25 for half in halves)


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
    page = visit(viewer.url, drawn=True)
    unfold(page, "Measure")
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


def test_filter_finds_rows_in_folded_levels(open_view, visit):
    names = [f"link_{k}" for k in range(30)]
    scene = pads_scene(("world", *names), [0, *range(30)], {name: name for name in names})
    viewer = open_view(scene)
    viewer.show(ViewFrame(0.0, np.zeros((31, 3)), np.tile([1.0, 0, 0, 0], (31, 1)), paused=True))
    page = visit(viewer.url)
    unfold(page, "Measure")
    last = page.get_by_role("button", name="link_29", exact=True)
    until(lambda: page.locator(".view-tree button.name:visible").count() == 14)
    assert last.is_hidden()
    page.get_by_label("Filter bodies and pads by name").fill("_29")
    until(last.is_visible)
    page.get_by_label("Filter bodies and pads by name").fill("nothing")
    until(last.is_hidden)


def test_switch_of_a_stage_changes_readings(running, open_view, visit):
    skin = {"scales": {"box": 0.05, "ball": 0.03}, "sensor": {"box": {"offset": {"value": 1.0}}}}
    skin["sensor"]["ball"] = {"gain": {"value": 2.0}}
    process = running(start_paused=True, skin=skin)
    process.shared.clients = 1

    class Controls:
        def ask(self, action, *arguments):
            process.request(action, *arguments)

    viewer = open_view(process.scene, Controls())
    viewer.show(process.latest())
    assert viewer._latest.readings.any()
    page = visit(viewer.url)
    unfold(page, "Sensor")
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


def test_fast_images_cause_no_errors(open_view, visit):
    scene = pads_scene(("world", "box"), (0, 0), {"box": "box"}, images=(ImageInfo(1, 16, 8),))
    viewer = open_view(scene)
    frame = paused_frame(0.0, readings=np.zeros(3))
    viewer.show(replace(frame, images=(np.zeros((8, 16), np.uint8),)))
    page = visit(viewer.url)
    errors = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("requestfailed", lambda request: errors.append(request.url))
    image = page.locator("img[src^='blob:']")
    image.wait_for()
    for k in range(100):
        viewer.show(replace(frame, images=(np.full((8, 16), k + 1, np.uint8),)))
        time.sleep(0.01)
    read = """(image) => {
      const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      return context.getImageData(1, 1, 1, 1).data[0];
    }"""
    until(lambda: image.evaluate(read) == 100)
    assert errors == []


@pytest.mark.parametrize("size", [(1280, 720), PHONE])
def test_legend_chart_and_map_are_visible_without_scrolling(two_bodies, visit, size):
    page = visit(two_bodies.url, size)
    page.locator("#loading").wait_for(state="detached")
    page.get_by_role("button", name="logarithmic").wait_for()
    for name in ("legend", "chart", "map"):
        part = page.locator(f'[data-hud="{name}"]:visible')
        until(lambda part=part: part.count() == 1)
        area = part.bounding_box()
        assert 0 <= area["x"] <= area["x"] + area["width"] <= size[0]
        assert 0 <= area["y"] <= area["y"] + area["height"] <= size[1]
        assert area["width"] > 100 and area["height"] > 50
    screenshot(page, f"layout_{size[0]}")
    press(page, "logarithmic")
    page.get_by_text("logarithmic, automatic end").locator("visible=true").wait_for()


def test_panel_has_at_most_six_sections(open_view, visit):
    viewer = open_view(scene_of_simulation(Simulation(config.load("touch_cube"))), Recorder())
    viewer.show(ViewFrame(0.0, np.zeros((7, 3)), np.tile([1.0, 0, 0, 0], (7, 1)), paused=True))
    page = visit(viewer.url)
    page.locator("#loading").wait_for(state="detached")
    titles = page.evaluate(SECTIONS)
    assert [title.split()[0] for title in titles] == ["Motion", "Look", "Measure", "Record", "Sensor"]


MIN_RATIO = 4.5
"""Minimum contrast ratio of level AA. It does not apply to inactive elements."""
TEXTS = """() => {
  const rgba = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, text = texts.currentNode.textContent.trim();
    const { width, height } = element.getBoundingClientRect();
    if (!text || !width || !height || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest("script, style, [data-disabled], :disabled, [inert]")) continue;
    const layers = [], { color, fill } = getComputedStyle(element);
    let opacity = 1;
    for (let node = element; node; node = node.parentElement) {
      const style = getComputedStyle(node);
      layers.unshift(rgba(style.backgroundColor));
      opacity *= Number(style.opacity);
    }
    const front = rgba(element.closest("svg") ? fill : color);
    if (opacity > 0) found.push({ text, layers, front: [...front.slice(0, 3), front[3] * opacity] });
  }
  return found;
}"""
"""Script that returns the visible texts with their colors and the backgrounds behind them, as RGBA."""


def low_contrasts(page):
    """Return the contrast ratios below `MIN_RATIO`, keyed by text, and the number of texts."""
    found, texts = {}, page.evaluate(TEXTS)
    for text in texts:
        color = np.zeros(3)
        for *rgb, alpha in text["layers"]:
            color = alpha * np.array(rgb) + (1.0 - alpha) * color
        *rgb, alpha = text["front"]
        shades = [luminance(color), luminance(alpha * np.array(rgb) + (1.0 - alpha) * color)]
        ratio = (max(shades) + 0.05) / (min(shades) + 0.05)
        if ratio < MIN_RATIO:
            found[text["text"]] = round(float(ratio), 2)
    return found, len(texts)


def test_all_texts_meet_wcag_aa(open_view, visit, tmp_path):
    scene = replace(
        pads_scene(("world", "box"), (0, 0), {"box": "box"}),
        shapes=SCENE.shapes,
        actuators=SCENE.actuators,
        control_ranges=SCENE.control_ranges,
        keyframes=SCENE.keyframes,
        actions=SCENE.actions,
        choices=(("skin.touch_function", ("normal", "pressure"), "normal"),),
        stages=(StageSwitch("skin.sensor.box.noise.enabled", "noise", ("box",), "Noise."),),
        images=(ImageInfo(1, 16, 8),),
        start_hints=("Paused at the start.",),
        output_folder=str(tmp_path),
    )
    viewer = open_view(scene, Recorder())
    frame = paused_frame(0.0, readings=np.ones(1), forces=np.ones((1, 3)), enabled=np.array([True]))
    viewer.show(replace(frame, images=(np.zeros((8, 16), np.uint8),), fault="too fast"))
    page = visit(viewer.url, (900, 1700))
    wait_for_text(page, "too fast")
    page.add_style_tag(content=".mantine-Notifications-root { display: block !important }")
    for folder in ("Look", "Record and save", "Sensor", "Actuators (2)"):
        unfold(page, folder, exact=True)
    page.get_by_text("Measure", exact=True).click()  # the page receives keys from now on
    viewer.notify("a notice")
    wait_for_text(page, "a notice")
    page.keyboard.press("?")
    page.locator("#view-help").wait_for()
    page.evaluate("""() => {
      const banner = document.getElementById("connection-lost");
      [banner.hidden, banner.textContent] = [false, "lost"];
    }""")
    page.wait_for_timeout(1000)  # folders open slowly
    low, count = low_contrasts(page)
    assert count > 60 and low == {}
    page.get_by_label("reset to").click()
    page.get_by_role("option", name="high").wait_for()
    until(lambda: low_contrasts(page)[0] == {}, 5.0)
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+k")
    page.get_by_text("Take a step").wait_for(timeout=20_000)
    until(lambda: low_contrasts(page)[0] == {}, 5.0)
