"""Test videos of bags: duration, images before and after the cube lands, and missing PyAV."""

from __future__ import annotations

import os
import subprocess
import sys
from ctypes.util import find_library

import av
import numpy as np
import pytest
from support.falling_bag import COUNT, LANDING, STEP, Cube

from tactile_sim.commands import main
from tactile_sim.figures.video import HEIGHT, MARGIN, SCENE, STRIP, WIDTH

pytestmark = pytest.mark.skipif(
    not ({"DISPLAY", "MUJOCO_GL"} & os.environ.keys() or find_library("EGL")),
    reason="no OpenGL: apt install libegl1 libgl1-mesa-dri",
)


def render(bag, out, *options):
    """Run ``plot --video`` in a new process, since MuJoCo selects its OpenGL backend when it is imported."""
    command = [sys.executable, "-m", "tactile_sim", "plot", str(bag), "--video", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def read_video(path):
    with av.open(str(path)) as container:
        [stream] = container.streams.video
        frames = [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(stream)]
        return frames, container.duration / av.time_base, float(stream.average_rate)


def test_video_has_the_duration_of_the_bag_and_both_halves_change_at_landing(fall, tmp_path):
    done = render(fall, tmp_path / "fall.mp4", "--fps", "10")
    assert done.returncode == 0, done.stderr
    [line] = done.stdout.splitlines()
    assert line.startswith(str(tmp_path / "fall.mp4")) and "10" in line and "1.00 s" in line
    assert [path.name for path in tmp_path.iterdir()] == ["fall.mp4"]
    frames, duration, rate = read_video(tmp_path / "fall.mp4")
    assert (len(frames), rate) == (10, 10.0)
    assert duration == pytest.approx((COUNT - 1) * STEP / 1e9, abs=1e-3)
    assert frames[0].shape == (HEIGHT, WIDTH, 3)

    def differ(first, second, half):
        left = slice(0, SCENE) if half == "scene" else slice(SCENE, WIDTH)
        return np.mean(np.abs(frames[first][100:600, left] - frames[second][100:600, left]).max(axis=2) > 40)

    landed = LANDING * STEP / 1e9 * rate  # the frame at the impact
    before, after = int(landed) - 1, int(landed) + 1
    assert differ(0, before, "scene") > 0.01, "the cube falls"
    assert differ(after, after + 5, "scene") < 0.002, "the cube is at rest"
    assert differ(0, before, "skin") < 0.002, "no load"
    assert differ(before, after, "skin") > 0.01, "load on the lower face"
    assert differ(after, after + 5, "skin") < 0.002


def test_strip_of_a_video_plots_the_force_and_the_time(fall, tmp_path):
    assert render(fall, tmp_path / "fall.mp4", "--fps", "10").returncode == 0
    frames, duration, rate = read_video(tmp_path / "fall.mp4")
    for number, frame in enumerate(frames):
        white = (frame[HEIGHT - STRIP // 3] > 180).all(axis=1)
        share = (np.flatnonzero(white)[0] - MARGIN) / (WIDTH - 2 * MARGIN)
        assert share == pytest.approx(number / rate / duration, abs=0.01)
    colored = np.ptp(frames[0][HEIGHT - STRIP + 30 :], axis=2) > 60  # below the legend
    before, after = (np.flatnonzero(colored[:, x]).mean() for x in (WIDTH // 8, WIDTH * 7 // 8))
    assert before - after > 10  # pixels by which the line rises at the impact


def test_video_shows_recorded_tactile_images(make_bag, tmp_path):
    done = render(make_bag(Cube(images=True)), tmp_path / "fall.mp4", "--fps", "10", "--to", "0.5")
    assert done.returncode == 0, done.stderr
    frames, duration, _ = read_video(tmp_path / "fall.mp4")
    assert len(frames) == 5 and duration == pytest.approx(0.5, abs=1e-3)
    middle = (HEIGHT - STRIP - 70) // 6, (SCENE + WIDTH) // 2
    assert frames[0][middle].max() < 40 and frames[-1][middle].min() > 220


def test_missing_pyav_is_reported_with_the_command_to_install_it(fall, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "av", None)
    assert main(["plot", str(fall), "forces", "-o", str(tmp_path), "--video", str(tmp_path / "x.mp4")]) == 2
    assert "pip install av" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
