"""Test the command ``tactile_sim plot``: output files, errors, and cleanup after an interrupt."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from support.falling_bag import COUNT, LANDING, Cube, Making

from tactile_sim import BagError
from tactile_sim.bag.writer import BagWriter
from tactile_sim.commands import main
from tactile_sim.figures.plots import FIGURES
from tactile_sim.figures.video import pixels_of

PATIENCE = 120.0  # timeout of all waits [s]


def plot(*arguments, **options):
    command = [sys.executable, "-m", "tactile_sim", "plot", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)


def test_all_figures_are_written_and_replaced_only_with_force(fall, tmp_path, capsys):
    done = plot(fall, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    names = ["contacts.png", "forces.png", "map.png", "peak.png", "raster.png"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    assert [line.rpartition("/")[2] for line in sorted(done.stdout.splitlines())] == names
    for name in names:
        assert Image.open(tmp_path / "out" / name).size[0] > 900
    before = (tmp_path / "out/forces.png").stat().st_mtime_ns
    assert main(["plot", str(fall), "forces", "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "forces.png" in error and "--force" in error and len(error.splitlines()) == 1
    assert (tmp_path / "out/forces.png").stat().st_mtime_ns == before
    assert main(["plot", str(fall), "forces", "-o", str(tmp_path / "out"), "--force"]) == 0
    assert (tmp_path / "out/forces.png").stat().st_mtime_ns > before


def test_svg_has_text_labels_and_is_reproducible(fall, tmp_path, capsys):
    texts = []
    for folder in ("a", "b"):
        assert main(["plot", str(fall), "--format", "svg", "-o", str(tmp_path / folder)]) == 0
        texts.append({path.name: path.read_text() for path in (tmp_path / folder).iterdir()})
    assert texts[0] == texts[1]
    labels = {
        "forces.svg": ["net force [N]", "simulation time [s]", "cube"],
        "raster.svg": ["simulation time [s]", "force per taxel [N]", "25 of 150"],
        "contacts.svg": ["cube – table", "contact force [N]", "bodies in contact"],
        "peak.svg": [" mm", "29.4 N", "force per taxel [N]"],
    }
    for name, wanted in labels.items():
        for label in wanted:
            assert label in texts[0][name], (name, label)


def test_dpi_and_size_give_the_pixels_of_a_figure(fall, tmp_path, capsys):
    out = ["-o", str(tmp_path), "--force"]
    for size in ("6x4", "152.4x101.6mm"):
        assert main(["plot", str(fall), "forces", "peak", "--dpi", "50", "--size", size, *out]) == 0
        for name in ("forces", "peak"):
            assert Image.open(tmp_path / f"{name}.png").size == (300, 200)
    assert main(["plot", str(fall), "raster", "--format", "pdf", "--size", "6x4", *out]) == 0
    assert b"/MediaBox [ 0 0 432 288 ]" in (tmp_path / "raster.pdf").read_bytes()
    for wrong in (("--dpi", "0"), ("--size", "6"), ("--size", "6x4cm"), ("--size", "nanx4")):
        with pytest.raises(SystemExit, match="2"):
            main(["plot", str(fall), *wrong])


def test_style_gives_a_light_or_a_dark_background(fall, tmp_path):
    for style, bright in (("light", True), ("dark", False)):
        out = ["-o", str(tmp_path / style), "--style", style, "--dpi", "40"]
        assert main(["plot", str(fall), *out]) == 0
        for name in ("forces", "raster", "peak", "map", "contacts"):
            gray = np.asarray(Image.open(tmp_path / style / f"{name}.png").convert("L"))
            assert (gray[0] > 250).all() if bright else (gray[0] < 50).all(), name
            assert np.ptp(gray.astype(int)) > 120, name  # text remains legible


def test_frames_are_numbered_and_lit_from_landing_on(make_bag, tmp_path, capsys):
    bag, out = make_bag(Cube(images=True)), tmp_path / "images"
    assert main(["plot", str(bag), "--frames", str(out)]) == 0
    files = sorted(path.name for path in (out / "cube").iterdir())
    assert files == [f"{number:07d}.png" for number in range(COUNT)]
    lit = [Image.open(out / "cube" / name).getextrema()[0] == (255, 255) for name in files]
    assert lit == [number >= LANDING for number in range(COUNT)]
    assert main(["plot", str(bag), "--frames", str(out)]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["plot", str(bag), "--frames", str(out), "--force", "--from", "0.9"]) == 0
    assert len(list((out / "cube").iterdir())) == 6


def test_figures_and_options_are_accepted_in_any_order(fall, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["plot", "--format", "svg", str(fall), "--force", "forces", "-o", str(out), "raster"]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["forces.svg", "raster.svg"]
    with pytest.raises(SystemExit, match="2"):
        main(["plot", "--format", "svg"])
    assert "BAG" in capsys.readouterr().err


def invalid_arguments(make_bag):
    """Return tuples of invalid arguments and the texts that their error message must contain."""
    words = Making(make_bag.folder("words"))
    words.put("/chatter", "std_msgs/String", 0, {"data": "hello"})
    words.bag.close()
    empty = BagWriter(make_bag.folder("empty"))
    empty.close()
    fall, two = make_bag(), make_bag(Cube("/left"), Cube("/right"))
    return [
        ([words.bag.folder], "tactile/frame", "/chatter"),
        ([empty.folder], str(empty.folder), "tactile/frame"),
        ([fall.parent / "absent"], "absent"),
        ([fall, "--body", "cub"], "'cub'", "'cube'"),
        ([fall, "force"], "'force'", "forces, raster, peak, map, contacts"),
        ([fall, "--from", "2"], str(fall), "2 s"),
        ([fall, "--from", "2", "--to", "1"], "--from", "2", "--to", "1"),
        ([two], "--namespace", "/left", "/right"),
        ([two, "--namespace", "up"], "'up'", "/left, /right"),
        ([fall, "--video", "x.txt"], "--video", "x.txt", ".mp4"),
        ([fall, "-o", fall / "metadata.yaml"], "metadata.yaml"),
        ([fall, "--frames", "x"], "--frames", "tactile/BODY/image"),
        ([make_bag(Cube(images=True)), "--frames", fall / "metadata.yaml"], "metadata.yaml"),
        ([make_bag(Cube(without=["/layout"])), "peak"], "peak", "tactile/BODY/layout"),
        ([make_bag(Cube(without=["/layout"])), "--video", "x.mp4"], "--video", "tactile/BODY/layout"),
    ]


def test_invalid_arguments_give_one_line_and_no_files(make_bag, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for arguments, *facts in invalid_arguments(make_bag):
        default = [] if "-o" in arguments else ["-o", "out"]
        assert main(["plot", *map(str, arguments), *default]) == 2, arguments
        error = capsys.readouterr().err
        assert all(fact in error for fact in facts), (error, facts)
        assert len(error.splitlines()) == 1
        assert not list(tmp_path.iterdir())


def test_bag_without_layouts_gives_the_other_figures_and_a_line_for_each_skipped_one(
    make_bag, tmp_path, capsys
):
    assert main(["plot", str(make_bag(Cube(without=["/layout"]))), "-o", str(tmp_path / "out")]) == 0
    assert sorted(path.stem for path in (tmp_path / "out").iterdir()) == ["contacts", "forces", "raster"]
    lines = capsys.readouterr().err.splitlines()
    for name, line in zip(("peak", "map"), lines, strict=True):
        assert name in line and "tactile/BODY/layout" in line


@pytest.mark.parametrize("array", ["positions", "normals"])
def test_layout_with_a_number_that_is_not_finite_counts_as_missing(make_bag, tmp_path, capsys, array):
    cube = Cube()
    getattr(cube, array)[3, 1] = np.nan
    assert main(["plot", str(make_bag(cube)), "-o", str(tmp_path / "out")]) == 0
    assert sorted(path.stem for path in (tmp_path / "out").iterdir()) == ["contacts", "forces", "raster"]
    lines = capsys.readouterr().err.splitlines()
    for name, line in zip(("peak", "map"), lines, strict=True):
        assert name in line and "tactile/BODY/layout" in line


def test_help_lists_every_figure(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["plot", "--help"])
    before_list = capsys.readouterr().out.partition("options:")[0]
    assert all(name in before_list for name in FIGURES)


def test_damaged_bag_is_drawn_as_far_as_readable_and_damage_is_reported(
    make_bag, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("tactile_sim.bag.mcap_file.CHUNK_SIZE", 2000)
    whole = make_bag(Cube(count=40))
    folder = tmp_path / "torn"
    shutil.copytree(whole, folder)
    [file] = folder.glob("*.mcap")
    os.truncate(file, file.stat().st_size * 2 // 3)
    assert main(["plot", str(folder), "forces", "-o", str(tmp_path / "out")]) == 0
    assert "fall_0.mcap" in capsys.readouterr().err
    assert (tmp_path / "out/forces.png").stat().st_size > 1000


def test_full_disk_gives_one_line_and_no_files(fall, tmp_path):
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    done = plot(
        fall,
        "peak",
        "-o",
        tmp_path / "out",
        preexec_fn=small,
        env=os.environ | {"MPLCONFIGDIR": str(tmp_path)},
    )
    assert done.returncode == 2, done.stderr
    assert "peak.png" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_leaves_no_partial_video(make_bag, tmp_path, number, code):
    bag = make_bag(Cube(count=80))
    out = tmp_path / "long.mp4"
    command = [sys.executable, "-m", "tactile_sim", "plot", str(bag), "--video", str(out), "--fps", "240"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        while process.poll() is None and not list(tmp_path.iterdir()):
            pass_time(process)
        if process.poll() is None:
            process.send_signal(number)
        error = process.communicate(timeout=PATIENCE)[1]
    finally:
        process.kill()
    if "libegl1" in error:
        pytest.skip("no OpenGL: apt install libegl1 libgl1-mesa-dri")
    assert process.returncode == code, error
    assert "Traceback" not in error and list(tmp_path.iterdir()) == []


def pass_time(process):
    try:
        process.wait(0.05)
    except subprocess.TimeoutExpired:
        pass


@pytest.mark.parametrize(
    "wrong", [{"height": 3}, {"step": 5}, {"width": 3}, {"width": 0}, {"height": 0, "step": 0}]
)
def test_image_whose_size_contradicts_its_data_is_an_error(wrong):
    image = {"height": 2, "width": 2, "step": 6, "encoding": "rgb8", "data": np.arange(12, dtype=np.uint8)}
    assert pixels_of(SimpleNamespace(**image)).tolist() == image["data"].reshape(2, 2, 3).tolist()
    with pytest.raises(BagError):
        pixels_of(SimpleNamespace(**image | wrong))
