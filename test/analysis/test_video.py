"""The video of a bag: as long as the bag, and the landing is seen in both halves."""

from __future__ import annotations

import os
import subprocess
import sys
from ctypes.util import find_library

import av
import numpy as np
import pytest
from falling import COUNT, LANDING, STEP, Cube

from tactile_sim.analysis.film import HEIGHT, SCENE, WIDTH
from tactile_sim.cli import main

pytestmark = pytest.mark.skipif(
    not ({"DISPLAY", "MUJOCO_GL"} & os.environ.keys() or find_library("EGL")),
    reason="no OpenGL: apt install libegl1 libgl1-mesa-dri",
)


def film(bag, out, *options):
    """In a process of its own, as MuJoCo chooses its OpenGL when it is imported."""
    command = [sys.executable, "-m", "tactile_sim", "plot", str(bag), "--video", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def pictures(path):
    with av.open(str(path)) as container:
        [stream] = container.streams.video
        frames = [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(stream)]
        return frames, container.duration / av.time_base, float(stream.average_rate)


def test_a_video_lasts_as_the_bag_and_both_halves_change_when_the_cube_lands(fall, tmp_path):
    done = film(fall, tmp_path / "fall.mp4", "--fps", "10")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{tmp_path / 'fall.mp4'}: 10 pictures, 1.00 s"]
    assert [path.name for path in tmp_path.iterdir()] == ["fall.mp4"]
    frames, duration, rate = pictures(tmp_path / "fall.mp4")
    assert (len(frames), rate) == (10, 10.0)
    assert duration == pytest.approx((COUNT - 1) * STEP / 1e9, abs=1e-3)
    assert frames[0].shape == (HEIGHT, WIDTH, 3)

    def differ(first, second, half):
        left = slice(0, SCENE) if half == "scene" else slice(SCENE, WIDTH)
        return np.mean(np.abs(frames[first][100:600, left] - frames[second][100:600, left]).max(axis=2) > 40)

    landed = LANDING * STEP / 1e9 * rate  # the picture of the impact
    before, after = int(landed) - 1, int(landed) + 1
    assert differ(0, before, "scene") > 0.02, "it falls"
    assert differ(after, after + 5, "scene") < 0.002, "it rests"
    assert differ(0, before, "skin") < 0.002, "nothing is felt"
    assert differ(before, after, "skin") > 0.01, "the lower face feels the table"
    assert differ(after, after + 5, "skin") < 0.002


def test_tactile_images_are_shown_where_the_bag_has_them(make_bag, tmp_path):
    done = film(make_bag(Cube(images=True)), tmp_path / "fall.mp4", "--fps", "10", "--to", "0.5")
    assert done.returncode == 0, done.stderr
    frames, duration, _ = pictures(tmp_path / "fall.mp4")
    assert len(frames) == 5 and duration == pytest.approx(0.5, abs=1e-3)
    middle = (HEIGHT - 70) // 6, (SCENE + WIDTH) // 2
    assert frames[0][middle].max() < 40 and frames[-1][middle].min() > 220


def test_without_pyav_the_line_to_install_it_is_told(fall, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "av", None)
    assert main(["plot", str(fall), "forces", "-o", str(tmp_path), "--video", str(tmp_path / "x.mp4")]) == 2
    assert capsys.readouterr().err.endswith("not installed: pip install av\n")
    assert not list(tmp_path.iterdir())
