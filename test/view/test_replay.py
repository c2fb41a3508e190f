"""Replays: pages that play a bag from a file, without a server or a network."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from support.chromium import PATIENCE, until
from support.falling_bag import COUNT, LANDING, STEP, WEIGHT, Cube, Making
from support.view_clients import FRAME, SCENE, Recorder

from tactile_sim.commands import main
from tactile_sim.view.replay import ReplayRecorder

WIDTH, HEIGHT = 560, 420
LEGEND = 260
"""Width of the part of the window that contains the color scale [px]."""


@pytest.fixture(scope="module")
def fall(tmp_path_factory):
    """Return the bag of a cube that falls for 0.2 s, rests, and ends after 1 s."""
    making = Making(tmp_path_factory.mktemp("replay") / "fall")
    Cube(surface=True).write(making)
    making.bag.close()
    return making.bag.folder


def write(bag, out, *options):
    command = [sys.executable, "-m", "tactile_sim", "plot", str(bag), "--html", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE / 1000)


def test_replay_opens_offline_and_seeks(fall, browser, tmp_path):
    page_file = tmp_path / "fall.html"
    written = write(fall, page_file, "--fps", "25")
    assert written.returncode == 0 and written.stderr.count("Traceback") == 0
    assert not (tmp_path / "fall_plots").exists()
    page = browser.new_context(offline=True, viewport={"width": WIDTH, "height": HEIGHT}).new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.set_default_timeout(PATIENCE)
    page.goto(page_file.as_uri())
    plot = page.locator("#force-strip .plot")
    plot.wait_for()
    slider = page.locator("[role=slider]")
    until(lambda: float(slider.get_attribute("aria-valuenow")) > 0.0)  # it plays
    duration = float(slider.get_attribute("aria-valuemax"))
    assert duration == pytest.approx((COUNT - 1) * STEP / 1e9, abs=0.04)

    def seek(seconds):
        area = plot.bounding_box()
        page.mouse.click(area["x"] + seconds / duration * area["width"], area["y"] + area["height"] / 2)
        until(lambda: abs(float(slider.get_attribute("aria-valuenow")) - seconds) < 0.01)

    def lit():
        """Return the number of orange and yellow pixels, which show readings through the cube."""
        taken = np.asarray(Image.open(BytesIO(page.screenshot())).convert("RGB"))[:, : WIDTH - LEGEND]
        red, _, blue = np.moveaxis(taken.astype(int), 2, 0)
        return int((red > blue + 60).sum())

    landing = LANDING * STEP / 1e9
    seek(0.9)
    until(lambda: lit() > 1000)
    shown = page.locator("#force-strip output")
    until(lambda: float(shown.inner_text()) == pytest.approx(WEIGHT, rel=0.01))  # drawn one frame later
    seek(landing / 2)
    until(lambda: lit() == 0)
    until(lambda: float(shown.inner_text()) == 0.0)
    seek(0.9)  # forward again
    until(lambda: lit() > 1000)
    assert all(re.match(r"file:|data:|blob:", url) for url in requests)
    page.context.close()


def test_strip_shows_the_largest_reading_of_all_pads_of_a_body(open_view):
    ends = np.array([[0.0, 0.0, -0.1], [0.0, 0.0, 0.1]])
    scene = dataclasses.replace(
        SCENE, skin_bodies=np.array([1, 1]), pads=("low", "high"), taxel_counts=np.array([1, 1]),
        taxel_positions=ends, taxel_normals=10 * ends, taxel_spacings=np.full(2, 0.1),
    )  # fmt: skip
    recorder = ReplayRecorder(open_view(scene, Recorder()))
    for time in (0.0, 0.5):
        recorder.add(dataclasses.replace(FRAME, time=time, taxel_scale=1.0, readings=np.array([0.0, 0.5])))
    assert re.search(r"/i>box \\u003coutput>", recorder.page())


def test_missing_folder_is_created(fall, tmp_path):
    assert main(["plot", str(fall), "--html", str(tmp_path / "new/fall.html"), "--to", "0.1"]) == 0
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["fall.html"]
    for wrong in ("new", "film.mp4"):
        assert main(["plot", str(fall), "--html", str(tmp_path / wrong), "--force"]) == 2
    assert not (tmp_path / "film.mp4").exists()


@pytest.mark.parametrize("options", [["--from", "5"], ["--body", "foot"]])
def test_replay_without_data_is_an_error_and_leaves_no_file(fall, tmp_path, options):
    written = write(fall, tmp_path / "none.html", *options)
    assert written.returncode == 2 and written.stderr.count("\n") <= 2
    assert "Traceback" not in written.stderr
    assert list(tmp_path.iterdir()) == []
