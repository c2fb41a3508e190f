"""The view in headless Chromium with software rendering."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from support.chromium import (
    CHROMIUM,
    HEIGHT,
    PANEL,
    PATIENCE,
    WIDTH,
    active_pixels,
    contrast,
    enter,
    field,
    paused_frame,
    press,
    screenshot,
    seconds,
    until,
    wait_for_text,
)
from support.falling_bag import Cube, Making
from support.view_clients import Recorder

from tactile_sim import config
from tactile_sim.simulation import Simulation
from tactile_sim.view.content import Shape, ViewFrame, ViewScene
from tactile_sim.view.scene.from_model import scene_of_simulation
from tactile_sim.view.scene.primitives import box
from tactile_sim.view.viewer import FIELD_OF_VIEW, Viewer
from tactile_sim.view.web.address import Endpoint

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)
OUTAGE = 20_000
"""Duration of the outage [ms].

Chromium delays websockets after about 16 failures, and viser's page causes one per second.
"""
MIN_CONTRAST = 3.0
"""Contrast ratio of taxels in contact, which were darker than others (0.3) before they glowed."""
FIRST_SCREEN = 3.0
"""Simulation time at which a user has opened the view [s]."""
FALL = 500
"""Number of steps of 2 ms after which the cube of touch_cube rests on the table."""


@pytest.fixture
def serve():
    """Return a function that starts ``tactile_sim view SOURCE`` and returns its URL."""
    started = []

    def serve(source):
        command = [sys.executable, "-m", "tactile_sim", "view", str(source), "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        for line in process.stdout:
            if line.startswith("web view: "):
                return line.split()[-1]
        raise AssertionError(f"exit code {process.wait()}")

    yield serve
    for process in started:
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE / 1000) == 0


def only_taxels(page):
    """Show only the taxels, through transparent bodies."""
    page.get_by_label("transparent").check()
    page.get_by_text("Layers").click()
    for layer in ("force arrows", "contact points"):
        page.get_by_label(layer).uncheck()
    if page.get_by_label("feelers").is_visible():
        page.get_by_label("feelers").click()
        page.get_by_role("option", name="none").click()


def test_cube_is_active_after_landing_and_buttons_work(serve, visit):
    page = visit(serve("touch_cube"))
    press(page, "Pause")
    wait_for_text(page, "paused")
    only_taxels(page)
    press(page, "Reset")
    wait_for_text(page, re.compile("reset.*paused"))
    until(lambda: active_pixels(screenshot(page, "touch_cube_falls")) < 10)
    start = seconds(page)
    enter(page, "steps per click", str(FALL))
    press(page, "Step")
    until(lambda: seconds(page) == pytest.approx(start + FALL * 0.002))
    until(lambda: active_pixels(screenshot(page, "touch_cube_rests")) > 200)
    press(page, "Run")
    until(lambda: seconds(page) > start + FALL * 0.002 + 0.1)
    press(page, "Throw a ball")
    wait_for_text(page, re.compile("'ball_1'"))


@pytest.mark.parametrize("name", ["touch_cube", "infant", "hand", "worm", "trifinger"])
def test_first_screen_shows_touch(visit, name):
    simulation = Simulation(config.load(name))
    simulation.step(round(FIRST_SCREEN / simulation.engine.timestep))
    scene = scene_of_simulation(simulation)
    snapshot, engine = simulation.observe(), simulation.engine
    frame = ViewFrame(
        simulation.time,
        engine.body_positions.copy(),
        engine.body_quaternions.copy(),
        readings=np.linalg.norm(snapshot.taxels, axis=1),
        paused=True,
    )
    viewer = Viewer(scene, Endpoint(port=0), None)
    try:
        viewer.show(replace(frame, readings=np.zeros_like(frame.readings)))
        page = visit(viewer.url)
        until(lambda: viewer.clients == 1)
        page.wait_for_timeout(2500)  # until the scene is drawn
        unlit = screenshot(page, f"{name}_without_touch")
        viewer.show(frame)

        def visible():
            pixels, ratio = contrast(screenshot(page, f"{name}_touch"), unlit)
            return pixels > 200 and ratio > MIN_CONTRAST

        until(visible, 20.0)
    finally:
        viewer.close()


def test_bag_plays_and_seeks(serve, visit, tmp_path):
    making = Making(tmp_path / "fall")
    Cube().write(making)
    making.bag.close()
    page = visit(serve(making.bag.folder))
    until(lambda: seconds(page) == 1.0)  # plays to its end without input
    only_taxels(page)
    until(lambda: active_pixels(screenshot(page, "bag_rests")) > 1000)
    enter(page, "time [s]", "0.1")
    until(lambda: seconds(page) == 0.1)
    until(lambda: active_pixels(screenshot(page, "bag_falls")) < 10)
    page.get_by_text("next", exact=True).click()
    until(lambda: seconds(page) == pytest.approx(0.12))
    page.get_by_text("previous", exact=True).click()
    page.get_by_text("previous", exact=True).click()
    until(lambda: seconds(page) == pytest.approx(0.08))
    press(page, "Play")
    until(lambda: seconds(page) > 0.5)


@pytest.fixture
def box_view():
    """Yield a view of a box, and the recorded requests."""
    vertices, faces = box([0.2] * 3)
    scene = ViewScene(
        "a box",
        ("world", "box"),
        (Shape("box", 1, vertices, faces, np.ones(4)),),
        taxel_scale=2.0,
        pushable_bodies=(1,),
        actuators=("lift", "turn"),
        control_ranges=np.array([[-1.0, 1.0], [-np.inf, np.inf]]),
        keyframes=("high",),
        actions=("throw",),
    )
    recorder = Recorder()
    viewer = Viewer(scene, Endpoint(port=0, token="secret"), recorder)
    yield viewer, recorder.requests
    viewer.close()


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


@pytest.fixture
def skin_view():
    """A view of a box with a fine skin on its sides, and the recorded requests."""
    vertices, faces = box([0.2] * 3)
    grid = np.stack(np.meshgrid(*[np.linspace(-0.09, 0.09, 10)] * 2), -1).reshape(-1, 2)
    positions, normals = [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            positions.append(np.insert(grid, axis, sign * 0.1, axis=1))
            normals.append(np.tile(sign * np.eye(3)[axis], (len(grid), 1)))
    count = 6 * len(grid)
    scene = ViewScene(
        "a box with skin",
        ("world", "box"),
        (Shape("box", 1, vertices, faces, np.ones(4)),),
        pushable_bodies=(1,),
        skin_bodies=np.array([1]),
        taxel_counts=np.array([count]),
        pads=("box",),
        taxel_ids=np.arange(count),
        taxel_positions=np.concatenate(positions),
        taxel_normals=np.concatenate(normals),
        taxel_spacings=np.array([0.02]),
        center=np.zeros(3),
        extent=0.4,
        camera=np.array([0.0, -0.6, 0.0]),
    )
    recorder = Recorder()
    viewer = Viewer(scene, Endpoint(port=0), recorder)
    viewer.show(paused_frame(0.0, readings=0.001 * np.arange(count)))
    yield viewer, recorder.requests
    viewer.close()


def screen_point(x, z):
    """Pixel at which the camera of `skin_view` sees a point (x, -0.1, z) [m]."""
    focal = HEIGHT / 2 / np.tan(FIELD_OF_VIEW / 2)
    distance = 0.6 * HEIGHT / (WIDTH - PANEL) - 0.1  # farther away in a tall window
    return (WIDTH - PANEL) / 2 + focal * x / distance, HEIGHT / 2 - focal * z / distance


def taxel_at(x, z):
    """Index of the taxel at (x, -0.1, z) [m]."""
    return 2 * 100 + 10 * round((z + 0.09) / 0.02) + round((x + 0.09) / 0.02)


def test_hover_shows_the_reading_and_a_click_pins_or_pokes(skin_view, visit):
    viewer, requests = skin_view
    page = visit(viewer.url)
    until(lambda: viewer.clients == 1)
    page.wait_for_timeout(1500)
    [client] = viewer.server.get_clients().values()

    def label():
        page.mouse.move(*screen_point(0.03 + 1e-3 * len(tried), -0.05))  # until the page has loaded
        tried.append(1)
        return client.scene.get_handle_by_name("/hovered_taxel")

    tried = []
    until(label)
    page.mouse.move(*screen_point(0.03, -0.05))
    taxel = taxel_at(0.03, -0.05)
    text = f"box #{taxel}: {0.001 * taxel:.3g} N (0.030, -0.100, -0.050) m"
    until(lambda: label() is not None and client.scene.get_handle_by_name("/hovered_taxel").text == text)
    screenshot(page, "hover")
    page.mouse.click(*screen_point(0.03, -0.05))
    wait_for_text(page, "pinned taxels [N]")
    wait_for_text(page, f"box #{taxel}")
    page.get_by_text("Click on a body").click()
    page.get_by_label("action").click()
    page.get_by_role("option", name="poke the skin").click()
    page.mouse.click(*screen_point(-0.05, 0.07))
    until(lambda: requests)
    [(name, (body, point, force, _))] = requests
    assert (name, body) == ("press", 1)
    assert point == pytest.approx([-0.05, -0.1, 0.07])
    assert force == pytest.approx([0.0, 1.0, 0.0])  # 1 N into the body


def test_drag_with_ctrl_pulls_the_body_and_keys_act(skin_view, visit):
    viewer, requests = skin_view
    page = visit(viewer.url)
    until(lambda: viewer.clients == 1)
    page.wait_for_timeout(2500)
    page.mouse.move(*screen_point(0.0, 0.05))
    page.keyboard.down("Control")
    page.mouse.down()
    for x in (0.02, 0.05, 0.08):
        page.mouse.move(*screen_point(x, 0.05))
        page.wait_for_timeout(100)
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


def test_camera_buttons_look_from_the_top_at_the_contacts_and_follow(skin_view, visit):
    viewer, _ = skin_view
    page = visit(viewer.url)
    until(lambda: viewer.clients == 1)
    [client] = viewer.server.get_clients().values()
    page.get_by_text("Camera", exact=True).click()
    page.get_by_text("top", exact=True).click()
    until(lambda: client.camera.position[2] > 0.3 and abs(client.camera.position[1]) < 0.01)
    taxel, readings = taxel_at(0.03, -0.05), np.zeros(600)
    readings[taxel] = 1.0
    viewer.show(paused_frame(0.1, readings=readings))
    page.get_by_text("contacts", exact=True).click()
    until(lambda: np.allclose(client.camera.look_at, [0.03, -0.1, -0.05], atol=1e-3))
    page.get_by_text("follow", exact=True).click()
    page.wait_for_timeout(500)
    moved = replace(paused_frame(0.2, readings=readings), body_positions=np.array([[0.0] * 3, [0.2, 0, 0]]))
    viewer.show(moved)
    until(lambda: np.allclose(client.camera.look_at, [0.23, -0.1, -0.05], atol=1e-3))


def test_camera_is_farther_away_in_a_tall_window(box_view, visit):
    viewer, _ = box_view
    viewer.show(paused_frame(0.0))
    visit(viewer.url)
    start = viewer.server.initial_camera
    distance = HEIGHT / (WIDTH - PANEL) * np.linalg.norm(start.position - start.look_at)

    def distances():
        cameras = [client.camera for client in viewer.server.get_clients().values()]
        return [np.linalg.norm(camera.position - camera.look_at) for camera in cameras]

    until(lambda: distances() == [pytest.approx(distance, rel=0.05)])


def test_inputs_send_their_values_and_nothing_else(box_view, visit):
    viewer, requests = box_view
    page = visit(viewer.url)
    viewer.show(paused_frame(0.0))
    page.get_by_text("Actuators (2)").click()
    until(lambda: field(page, "turn").input_value() == "3")  # the current control
    assert requests == []
    for k, (label, value) in enumerate((("turn", "-2"), ("real-time factor", "0.25"))):
        field(page, label).fill("")
        field(page, label).press_sequentially(value)
        until(lambda k=k: len(requests) == k + 1)  # not with the 0 of 0.25
    page.get_by_label("reset to").click()
    page.get_by_role("option", name="high").click()
    press(page, "Reset")
    until(lambda: len(requests) == 3)
    assert requests == [
        ("set_control", (1, -2.0)),
        ("set_parameter", ("real_time_factor", 0.25)),
        ("reset", ("high",)),
    ]


def test_invalid_numbers_are_rejected_and_the_field_reverts(box_view, visit):
    viewer, requests = box_view
    page = visit(viewer.url)
    viewer.show(paused_frame(0.0))
    page.get_by_text("Actuators (2)").click()
    until(lambda: field(page, "turn").input_value() == "3")
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
    # A slow browser presses Step only after the field has reverted to 1.
    assert requests in ([], [("step", (1,))])
    page.get_by_text("got ''").wait_for(state="hidden")  # notices disappear


def test_slider_value_is_clamped(box_view, visit):
    viewer, requests = box_view
    page = visit(viewer.url)
    viewer.show(paused_frame(0.0))
    page.get_by_text("Actuators (2)").click()
    until(lambda: field(page, "lift").input_value() == "0.25")
    enter(page, "lift", "1000000000")
    until(lambda: requests)
    page.get_by_text("Actuators (2)").click()
    assert set(requests) == {("set_control", (0, 1.0))}


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
    viewer.notify("done")
    wait_for_text(second, "done")


def test_pages_reconnect_after_an_outage_of_20_s(visit):
    scene = ViewScene("a box", ("world", "box"), (Shape("box", 1, *box([0.2] * 3), np.ones(4)),))
    first = Viewer(scene, Endpoint(port=0), None)
    first.show(paused_frame(1.0))
    port = int(first.url.rpartition(":")[2])
    pages = [visit(first.url), visit(first.url, focused=False)]
    until(lambda: [seconds(page) for page in pages] == [1.0, 1.0])
    for page in pages:
        page.evaluate("window.loadedOnce = true")
        assert page.get_by_role("status").is_hidden()
    first.close()
    for page in pages:
        page.get_by_role("status").wait_for()
    pages[0].wait_for_timeout(OUTAGE)
    second = Viewer(scene, Endpoint(port=port), None)
    try:
        second.show(paused_frame(2.0))
        returned = time.monotonic()
        until(lambda: [seconds(page) for page in pages] == [2.0, 2.0])
        assert time.monotonic() - returned < 15.0  # 0.5 s on an idle machine
        for page in pages:
            page.get_by_role("status").wait_for(state="hidden")
            assert page.evaluate("window.loadedOnce")
    finally:
        second.close()
