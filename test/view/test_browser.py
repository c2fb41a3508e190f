"""The page of a view and its connection in headless Chromium with software rendering."""

from __future__ import annotations

import re
import signal
import time
from dataclasses import dataclass, replace

import av
import numpy as np
import pytest
from mcap.reader import make_reader
from PIL import Image
from rosbags.highlevel import AnyReader
from support.chromium import (
    BLIND,
    PATIENCE,
    active_pixels,
    contrast,
    drawn,
    enter,
    field,
    luminance,
    own_chromium,
    paused_frame,
    press,
    screenshot,
    seconds,
    unfold,
    until,
    wait_for_text,
)
from support.falling_bag import WEIGHT, Cube, Making

from tactile_sim import config
from tactile_sim.common.files import shipped_names
from tactile_sim.simulation import Simulation
from tactile_sim.view.address import Endpoint
from tactile_sim.view.content import Shape, ViewFrame, ViewScene, box
from tactile_sim.view.model_scene import scene_of_simulation
from tactile_sim.view.viewer import Viewer

OUTAGE = 60.0
"""Duration of the outage [s].

Chromium delays websockets after about 16 failures, and viser's page causes one per second.
"""
BOX = ViewScene("a box", ("world", "box"), (Shape("box", 1, *box([0.2] * 3), np.ones(4)),))
BUSY = """() => new Promise((resolve) => {
  const { fetch } = window;
  window.fetch = (...request) => {
    window.fetch = fetch;
    const answer = fetch(...request);
    for (const end = Date.now() + 12000; Date.now() < end;);
    setTimeout(resolve, 1000);
    return answer;
  };
})"""
"""Script that makes the page busy after its next request, for longer than it waits for answers (10 s)."""
MIN_CONTRAST = 3.5
"""Minimum contrast ratio between pixels with and without contact.

Without the glow, taxels would be darker with contact, with a ratio of 0.3.
"""
MIN_LUMINANCE = 0.05
"""Minimum mean relative luminance of the first screen of a TriFinger, on which shapes cover everything.

A gray of 63 of 255 has this luminance.
"""
FIRST_SCREEN = 3.0
"""Simulation time by which the view is open in the browser [s]."""
FALL = 500
"""Number of steps of 2 ms after which the cube of touch_cube rests on the table."""


@dataclass(frozen=True)
class Outage:
    """A hidden tab and the visible tab of a view whose server has stopped."""

    tabs: tuple
    port: int
    stopped: float
    """Time at which the server stopped [s of `time.monotonic`]."""


@pytest.fixture(scope="module")
def outage(playwright, tmp_path_factory):
    """Open a view in two tabs and stop its server. Several tests of this file run during the outage."""
    with own_chromium(tmp_path_factory.mktemp("profile")) as address:
        browser = playwright.chromium.connect_over_cdp(address, no_defaults=True)
        tabs = tuple(browser.contexts[0].new_page() for _ in range(2))
        server = Viewer(BOX, Endpoint(port=0), None)
        try:
            server.show(paused_frame(1.0))
            for tab in tabs:
                tab.add_init_script(BLIND)
                tab.set_default_timeout(PATIENCE)
                tab.bring_to_front()
                tab.goto(server.url)
                until(lambda tab=tab: seconds(tab) == 1.0)
                tab.evaluate("window.loadedOnce = true")
                assert tab.get_by_role("status").is_hidden()
        finally:
            server.close()
        yield Outage(tabs, int(server.url.rpartition(":")[2]), time.monotonic())
        browser.close()


def test_tabs_report_an_outage(outage):
    """Start the outage that `test_tabs_reconnect_after_an_outage_of_60_s` ends."""
    for tab in outage.tabs:
        tab.get_by_role("status").wait_for()


def only_taxels(page):
    """Make the bodies transparent, so that only the taxels are visible."""
    page.get_by_label("transparent").check()
    unfold(page, "Look")
    for layer in ("force arrows", "contact points"):
        page.get_by_label(layer).uncheck()
    if page.get_by_label("feelers").is_visible():
        page.get_by_label("feelers").click()
        page.get_by_role("option", name="none").click()


def test_cube_is_active_after_landing_and_buttons_work(start, visit):
    page = visit(start("view", "touch_cube", "--port", 0)[1], drawn=True)
    press(page, "Pause")
    wait_for_text(page, "paused")
    only_taxels(page)
    press(page, "Reset")
    wait_for_text(page, re.compile("reset.*paused"))
    until(lambda: active_pixels(screenshot(page, "touch_cube_falls")) < 10)
    began = seconds(page)
    enter(page, "steps per click", str(FALL))
    press(page, "Step")
    until(lambda: seconds(page) == pytest.approx(began + FALL * 0.002))
    until(lambda: active_pixels(screenshot(page, "touch_cube_rests")) > 50)
    press(page, "Run")
    until(lambda: seconds(page) > began + FALL * 0.002 + 0.1)
    press(page, "Throw a ball")
    wait_for_text(page, re.compile("'ball_1'"))


def test_paused_scene_says_what_it_waits_for_until_it_runs(start, visit):
    page = visit(start("view", "balance", "--port", 0)[1])
    wait_for_text(page, "paused")
    text = page.get_by_role("note").inner_text()
    assert "Run" in text and config.load("balance").web.note in text
    press(page, "Run")
    page.get_by_role("note").wait_for(state="hidden")


@pytest.mark.parametrize("name", shipped_names("config"))
def test_first_screen_shows_touch(open_view, visit, name):
    simulation = Simulation(config.load(name))
    if not simulation.settings.start_paused:
        simulation.step(round(FIRST_SCREEN / simulation.engine.timestep))
    scene = scene_of_simulation(simulation)
    snapshot, engine = simulation.observe(), simulation.engine
    frame = ViewFrame(
        simulation.time,
        engine.body_positions.copy(),
        engine.body_quaternions.copy(),
        readings=np.linalg.norm(snapshot.readings, axis=1),
        paused=True,
    )
    viewer = open_view(scene)
    viewer.show(replace(frame, readings=np.zeros_like(frame.readings)))
    page = visit(viewer.url, drawn=True)
    until(lambda: viewer.clients == 1)
    unlit = drawn(page, f"{name}_without_touch")
    if name.startswith("trifinger"):
        assert luminance(unlit).mean() > MIN_LUMINANCE
    viewer.show(frame)

    def visible():
        pixels, ratio = contrast(screenshot(page, f"{name}_touch"), unlit)
        return pixels > 50 and ratio > MIN_CONTRAST

    until(visible, 20.0)


def test_tabs_reconnect_after_an_outage_of_60_s(outage):
    time.sleep(max(outage.stopped + OUTAGE - time.monotonic(), 0.0))
    lost = [int(re.search(r"(\d+) s ago", tab.get_by_role("status").inner_text())[1]) for tab in outage.tabs]
    assert all(seconds >= OUTAGE - 5.0 for seconds in lost)
    restarted = Viewer(BOX, Endpoint(port=outage.port), None)
    try:
        restarted.show(paused_frame(2.0))
        returned = time.monotonic()
        until(lambda: [seconds(tab) for tab in outage.tabs] == [2.0, 2.0])
        assert time.monotonic() - returned < 15.0  # takes 1 s on an idle machine
        for tab in outage.tabs:
            tab.get_by_role("status").wait_for(state="hidden")
            assert tab.evaluate("window.loadedOnce")
        assert [tab.evaluate("document.hidden") for tab in outage.tabs] == [True, False]
    finally:
        restarted.close()
    for tab in outage.tabs:
        tab.close()  # the visible one takes most of a core


def test_busy_page_keeps_its_connection(open_view, visit):
    viewer = open_view(BOX)
    viewer.show(paused_frame(1.0))
    page = visit(viewer.url)
    until(lambda: viewer.clients == 1)
    clients = list(viewer.server.get_clients())
    page.evaluate(BUSY)
    page.wait_for_timeout(2000)
    assert list(viewer.server.get_clients()) == clients


def test_bag_plays_and_seeks(start, visit, tmp_path):
    making = Making(tmp_path / "fall")
    Cube().write(making)
    making.bag.close()
    page = visit(start("view", making.bag.folder, "--port", 0)[1], drawn=True)
    until(lambda: seconds(page) == 1.0)  # it plays to its end without input
    only_taxels(page)
    until(lambda: active_pixels(screenshot(page, "bag_rests")) > 150)
    enter(page, "time [s]", "0.1")
    until(lambda: seconds(page) == 0.1)
    until(lambda: active_pixels(screenshot(page, "bag_falls")) < 10)
    page.get_by_text("next", exact=True).click()
    until(lambda: seconds(page) == pytest.approx(0.12))
    page.get_by_text("previous", exact=True).click()
    page.get_by_text("previous", exact=True).click()
    until(lambda: seconds(page) == pytest.approx(0.08))
    plot, cursor = page.locator("#force-strip .plot"), page.locator("#force-strip .cursor")
    force = page.locator("#force-strip output")
    plot.scroll_into_view_if_needed()

    def place(share):
        area = plot.bounding_box()
        return area["x"] + share * area["width"], area["y"] + area["height"] / 2

    def cursor_share():
        area, line = plot.bounding_box(), cursor.bounding_box()
        return (line["x"] - area["x"]) / area["width"]

    for at, expected in ((0.3, WEIGHT), (0.1, 0.0)):
        page.mouse.click(*place(at))
        until(lambda at=at: abs(seconds(page) - at) < 0.01)
        until(lambda at=at: abs(cursor_share() - at) < 0.01)
        until(lambda expected=expected: float(force.inner_text()) == pytest.approx(expected, rel=0.01))
    page.mouse.move(*place(0.1))
    page.mouse.down()
    page.mouse.move(*place(0.2), steps=3)
    until(lambda: abs(seconds(page) - 0.2) < 0.01)
    page.mouse.up()
    until(lambda: float(field(page, "time [s]").input_value()) == pytest.approx(seconds(page)))
    screenshot(page, "bag_strip")
    press(page, "Play")
    until(lambda: seconds(page) > 0.5)
    until(lambda: abs(cursor_share() - 1.0) < 0.01)  # it follows to the end


def test_two_browsers_show_the_same_and_one_may_disconnect(box_view, visit):
    viewer, _ = box_view
    viewer.show(paused_frame(1.0))
    first, second = visit(viewer.url), visit(viewer.url)
    until(lambda: viewer.clients == 2)
    viewer.show(paused_frame(2.0))
    until(lambda: [seconds(page) for page in (first, second)] == [2.0, 2.0])
    first.close()
    until(lambda: viewer.clients == 1)
    viewer.show(paused_frame(3.0, fault="too fast"))
    until(lambda: seconds(second) == 3.0)
    wait_for_text(second, "too fast")
    wait_for_text(second, "stopped")
    viewer.notify("done")
    wait_for_text(second, "done")


def test_page_is_loading_until_the_first_frame(box_view, visit):
    viewer, _ = box_view
    page = visit(viewer.url)
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    cover = page.locator("#loading")
    assert viewer.content.title in cover.inner_text() and viewer.content.title in page.title()
    cover.get_by_text("starting physics").wait_for()  # all meshes are there, but no frame
    assert cover.is_visible() and not viewer.drawn
    viewer.show(paused_frame(0.0))
    cover.wait_for(state="detached")
    until(lambda: viewer.drawn)
    other = visit(viewer.url)
    other.locator("#loading").wait_for(state="detached")
    assert active_pixels(screenshot(other, "opened")) == 0
    assert errors == []


CONFIG = """
/**:
  ros__parameters:
    scene: touch_cube.xml
    start_paused: true
    skin: {scales: {cube: 0.02}}
"""
FPS = 30
"""Default frame rate of films [Hz]."""
STEPS, DURATION = 150, 0.3
"""Number of recorded steps of 2 ms, and their total duration [s]. The cube rests on the table."""
LEGEND = 45
"""Height of the part of an image that contains the legend [px]."""


def download(page, button):
    with page.expect_download() as started:
        press(page, button)
    return started.value


def test_recording_becomes_bag_film_and_replay(start, visit, browser, tmp_path):
    folder, cube = tmp_path / "out", tmp_path / "cube.yaml"
    cube.write_text(CONFIG)
    process, url = start("view", cube, "--port", 0, "--out", folder)
    page = visit(url, drawn=True)
    unfold(page, "Record and save")
    assert page.get_by_role("button", name="Film (MP4)").is_disabled()
    page.get_by_label("reset to").click()
    page.get_by_role("option", name="rest").click()
    press(page, "Reset")
    wait_for_text(page, re.compile("reset.*paused"))
    press(page, "Record")
    wait_for_text(page, re.compile("recording .* MB"))
    began = seconds(page)
    enter(page, "steps per click", str(STEPS))
    press(page, "Step")
    until(lambda: seconds(page) == pytest.approx(began + DURATION))
    press(page, "Stop recording")
    wait_for_text(page, re.compile("recorded .* MB: "))
    until(lambda: active_pixels(screenshot(page, "recorded")[LEGEND:]) > 50)

    saved = tmp_path / "image.png"
    download(page, "Image (PNG)").save_as(saved)
    canvas = page.evaluate("(({ width, height }) => [width, height])(window.__viserMutable.canvas)")
    image = Image.open(saved).convert("RGB")
    assert list(image.size) == canvas and active_pixels(np.asarray(image)[LEGEND:]) > 50

    [bag] = folder.iterdir()
    with AnyReader([bag]) as reader:
        topics = {connection.topic for connection in reader.connections}
        duration = (reader.end_time - reader.start_time) / 1e9
        frames = [
            reader.deserialize(data, connection.msgtype).data
            for connection, _, data in reader.messages()
            if connection.topic == "/tactile/frame"
        ]
    assert {"/clock", "/tf", "/scene_markers", "/tactile/cube/layout"} <= topics
    assert duration == pytest.approx(DURATION, abs=0.01)
    assert len(frames) == pytest.approx(100 * DURATION, abs=3) and np.abs(frames).max() > 0.05

    film = download(page, "Film (MP4)")
    assert film.suggested_filename == f"{bag.name}.mp4"
    with av.open(film.path()) as container:
        count = sum(1 for _ in container.decode(video=0))
    assert count == pytest.approx(FPS * DURATION, abs=1)

    replay = download(page, "Replay (HTML)")
    assert sorted(file.name for file in folder.iterdir()) == [bag.name, f"{bag.name}.html", f"{bag.name}.mp4"]
    replay.save_as(tmp_path / "replay.html")
    offline = browser.new_context(offline=True).new_page()
    offline.set_default_timeout(PATIENCE)
    offline.goto((tmp_path / "replay.html").as_uri())
    offline.locator("#force-strip .plot").wait_for()
    offline.context.close()

    press(page, "Run")
    press(page, "Record")  # this file is completed by Ctrl-C
    wait_for_text(page, re.compile(r"recording (0\.[1-9]|[1-9]).* s, "))
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE / 1000) == 0
    [second] = {path for path in folder.iterdir() if path.is_dir()} - {bag}
    with open(next(second.glob("*.mcap")), "rb") as file:
        summary = make_reader(file).get_summary()
    assert summary.statistics.message_count > 0  # only a complete file has a summary
