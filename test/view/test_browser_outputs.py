"""Buttons in the view that record a bag, save an image, and render a film and a replay."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import av
import numpy as np
import pytest
from mcap.reader import make_reader
from PIL import Image
from rosbags.highlevel import AnyReader
from support.chromium import (
    CHROMIUM,
    PATIENCE,
    active_pixels,
    enter,
    press,
    screenshot,
    seconds,
    until,
    wait_for_text,
)

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)
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
LEGEND = 90
"""Height of the part of an image that contains the legend [px]."""


@pytest.fixture
def view(tmp_path):
    """Yield a paused view of touch_cube that saves files in a new folder, its URL, and this folder."""
    folder, cube = tmp_path / "out", tmp_path / "cube.yaml"
    cube.write_text(CONFIG)
    command = [sys.executable, "-m", "tactile_sim", "view", str(cube), "--port", "0", "--out", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    url = next(line for line in process.stdout if line.startswith("web view: ")).split()[-1]
    yield process, url, folder
    process.kill()
    process.communicate()


def download(page, button):
    with page.expect_download() as started:
        press(page, button)
    return started.value


def test_recording_becomes_bag_film_and_replay(view, visit, browser, tmp_path):
    process, url, folder = view
    page = visit(url)
    page.get_by_text("Record and save").click()
    assert page.get_by_role("button", name="Film (MP4)").is_disabled()
    page.get_by_label("reset to").click()
    page.get_by_role("option", name="rest").click()
    press(page, "Reset")
    wait_for_text(page, re.compile("reset.*paused"))
    press(page, "Record")
    wait_for_text(page, re.compile("recording .* MB"))
    start = seconds(page)
    enter(page, "steps per click", str(STEPS))
    press(page, "Step")
    until(lambda: seconds(page) == pytest.approx(start + DURATION))
    press(page, "Stop recording")
    wait_for_text(page, re.compile("recorded .* MB: "))
    until(lambda: active_pixels(screenshot(page, "recorded")[LEGEND:]) > 200)

    saved = tmp_path / "image.png"
    download(page, "Image (PNG)").save_as(saved)
    canvas = page.evaluate("(({ width, height }) => [width, height])(window.__viserMutable.canvas)")
    image = Image.open(saved).convert("RGB")
    assert list(image.size) == canvas and active_pixels(np.asarray(image)[LEGEND:]) > 200

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
