"""Bags carry the camera and the color scale of a live view, and the view of a bag opens with them."""

from __future__ import annotations

import dataclasses
import json
import re
import signal

import numpy as np
import pytest
from support.chromium import PATIENCE, enter, field, paused_frame, press, unfold, until, wait_for_text
from support.falling_bag import Cube, Making

from tactile_sim import bag
from tactile_sim.bag.messages import LiveView
from tactile_sim.commands import main
from tactile_sim.view.address import Endpoint
from tactile_sim.view.bag_index import BagIndex
from tactile_sim.view.bag_scene import read_scene
from tactile_sim.view.player import Player

CONFIG = """
/**:
  ros__parameters:
    scene: touch_cube.xml
    start_paused: true
    skin: {scales: {cube: 0.02}}
    web: {port: 0}
"""
VIEW = LiveView((1.0, -2.0, 0.5), (0.0, 0.1, 0.2), (0.0, 0.0, 1.0), 0.8, 2.5, False, True)
CAMERA = """() => {
  const camera = window.__viserMutable?.camera;
  return camera ? [...camera.position.toArray(), ...camera.quaternion.toArray(), camera.fov] : [];
}"""
"""Script that returns the position, the orientation and the field of view of the camera."""


@pytest.fixture
def cube(tmp_path):
    path = tmp_path / "cube.yaml"
    path.write_text(CONFIG)
    return path


def camera(page):
    return np.array(page.evaluate(CAMERA))


def move(page, name):
    """Move the camera with a button."""
    before = settled(page)
    if not page.get_by_role("button", name=name, exact=True).is_visible():
        unfold(page, "Look", exact=True)
    press(page, name)
    until(lambda: not np.allclose(camera(page), before, atol=1e-3))
    return settled(page)


def settled(page):
    """Wait until the camera has stopped and return it."""
    past = [camera(page)]

    def stopped():
        page.wait_for_timeout(700)
        past.append(camera(page))
        return len(past[-1]) and np.array_equal(past[-1], past[-2])

    until(stopped)
    return past[-1]


def views(path):
    """Return the live views in a bag."""
    return [LiveView.parse(text) for text in bag.read(path)["web_view"].data]


def test_view_of_a_recording_opens_like_the_live_view(start, visit, cube, tmp_path):
    process, url = start("view", cube, "--port", "0", "--out", tmp_path / "out")
    page = visit(url)
    wait_for_text(page, "paused")
    moved = move(page, "side")
    enter(page, "end of scale", "2.5")
    page.get_by_text("linear, fixed end").wait_for()
    press(page, "logarithmic")
    unfold(page, "Record and save")
    press(page, "Record")
    wait_for_text(page, re.compile("recording .* MB"))
    page.get_by_label("taxels as dots").check()  # also changes during the recording
    page.wait_for_timeout(1500)
    enter(page, "steps per click", "50")
    press(page, "Step")
    press(page, "Stop recording")
    wait_for_text(page, re.compile("recorded .* MB: "))
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE / 1000)
    [folder] = (tmp_path / "out").iterdir()
    first, *_, last = views(folder)
    assert (first.scale_end, first.logarithmic, first.dots, last.dots) == (2.5, True, False, True)
    assert np.degrees(last.field_of_view) == pytest.approx(moved[-1])

    shown = visit(start("view", folder, "--port", "0")[1])
    until(lambda: len(camera(shown)) and np.allclose(camera(shown), moved, atol=1e-3))
    unfold(shown, "Look")
    assert float(field(shown, "end of scale").input_value()) == 2.5
    shown.get_by_text("logarithmic, fixed end").wait_for()
    assert shown.get_by_label("taxels as dots").is_checked()


def test_bag_of_a_node_carries_the_view(start, visit, cube, tmp_path):
    pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")
    folder = tmp_path / "touch"
    process, url = start("run", cube, "--web", "--record", folder)
    page = visit(url)
    wait_for_text(page, "paused")
    move(page, "top")
    press(page, "Run")
    until(lambda: "0.000 s" not in page.inner_text("body"))
    page.wait_for_timeout(2000)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE / 1000)
    last = views(folder)[-1]
    sight = np.subtract(last.look_at, last.position)
    assert sight / np.linalg.norm(sight) == pytest.approx([0.0, 0.0, -1.0], abs=0.01)


def test_last_browser_that_moved_its_camera_determines_the_view(box_view, visit):
    viewer, _ = box_view
    viewer.show(paused_frame(0.0))
    assert viewer.live_view is None
    first = visit(viewer.url)
    until(lambda: viewer.live_view is not None)
    second = visit(viewer.url)

    def looks_along(direction):
        sight = np.subtract(viewer.live_view.look_at, viewer.live_view.position)
        return np.allclose(sight / np.linalg.norm(sight), direction, atol=0.01)

    move(first, "top")
    until(lambda: looks_along([0.0, 0.0, -1.0]))
    move(second, "below")
    until(lambda: looks_along([0.0, 0.0, 1.0]))
    third = visit(viewer.url)
    settled(third)
    assert looks_along([0.0, 0.0, 1.0])
    move(first, "below")
    move(first, "top")
    until(lambda: looks_along([0.0, 0.0, -1.0]))


@pytest.fixture
def viewed(tmp_path):
    """Return a function that writes a bag of a falling cube with a live view, and returns its folder."""

    def write(text):
        making = Making(tmp_path / "viewed")
        Cube(count=3).write(making)
        making.put("/web_view", "std_msgs/String", 0, {"data": text})
        making.bag.close()
        return making.bag.folder

    return write


def test_repair_keeps_the_view_and_info_reports_it(viewed, capsys):
    folder = viewed(VIEW.text)
    assert main(["bag", "info", str(folder)]) == 0
    reported = capsys.readouterr().out
    assert all(text in reported for text in ("(1, -2, 0.5)", "(0, 0.1, 0.2)", "linear", "2.5"))
    (folder / "metadata.yaml").unlink()
    assert main(["bag", "repair", str(folder)]) == 0
    assert views(folder) == [VIEW]


def move_far(factor):
    """Return the live view with its camera at a multiple of the distance from the cube."""
    look_at = np.array([0.0, 0.0, 0.1])
    place = look_at + factor * np.array([0.6, 0.0, 0.8])
    return dataclasses.replace(VIEW, position=tuple(place), look_at=tuple(look_at))


@pytest.mark.parametrize(
    ("view", "used"),
    [
        (VIEW, True),
        (move_far(20.0), True),
        (move_far(2000.0), False),
        (move_far(9e5), False),
        (dataclasses.replace(VIEW, look_at=(2.0, -4.1, 0.8)), False),  # away from the cube
    ],
)
def test_camera_that_cannot_see_the_scene_is_noted_and_ignored(viewed, view, used):
    player = Player(viewed(view.text), Endpoint(port=0))
    try:
        camera = player.viewer.server.initial_camera
        assert np.allclose(camera.position, view.position) is used
        assert np.linalg.norm(camera.position) < 30.0
        assert ["web_view" in note for note in player.notes] == [True] * (not used)
    finally:
        player.close()


@pytest.mark.parametrize(
    "changes",
    [
        {"position": [0.0, 0.1, 0.2]},  # equal to look_at
        {"up": [0.0, 0.0, 0.0]},
        {"look_at": [1e300, 0.0, 0.0]},
        {"position": [1.0]},
        {"field_of_view": 0.0},
        {"field_of_view": 1e-9},
        {"field_of_view": 3.14},
        {"scale_end": float("nan")},
    ],
)
def test_invalid_views_in_bags_are_ignored(viewed, changes, capsys):
    text = json.dumps(dataclasses.asdict(VIEW) | changes)
    assert LiveView.parse(text) is None
    folder = viewed(text)
    assert main(["bag", "info", str(folder)]) == 0
    assert "camera" not in capsys.readouterr().out
    content = read_scene(BagIndex(folder))
    assert content.scene.live_view is None
    assert ["web_view" in note for note in content.notes] == [True]


@pytest.mark.parametrize("size", [(560, 420), (420, 640)])
def test_replay_opens_with_the_camera_and_the_scale_of_the_view(viewed, visit, tmp_path, size):
    assert main(["plot", str(viewed(VIEW.text)), "--html", str(tmp_path / "cube.html")]) == 0
    page = visit((tmp_path / "cube.html").as_uri(), size)
    page.locator("#force-strip .plot").wait_for()
    page.wait_for_timeout(1000)  # the page adapts other cameras to the window
    x, y, z = VIEW.position
    shown = settled(page)
    assert shown[:3] == pytest.approx([-y, z, -x], abs=1e-3)  # three.js has its y axis upward
    assert np.radians(shown[-1]) == pytest.approx(VIEW.field_of_view)
    ends = page.locator("#color-scale .ends span").all_inner_texts()
    assert [float(end) for end in ends] == [0.0, VIEW.scale_end]


def test_replay_prints_why_it_ignores_a_camera(viewed, tmp_path, capsys):
    folder = viewed(move_far(9e5).text)
    assert main(["plot", str(folder), "--html", str(tmp_path / "cube.html")]) == 0
    assert ["web_view" in line for line in capsys.readouterr().err.splitlines()].count(True) == 1
