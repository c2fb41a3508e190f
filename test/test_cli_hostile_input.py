"""Hostile configurations and scenes quickly cause a short one-line error and exit code 2."""

import os
import re
import resource
import subprocess
import sys
import time

import pytest

from tactile_sim.commands import main
from tactile_sim.common.errors import LONGEST_MESSAGE, LONGEST_VALUE

SCENE = """<mujoco>
  <asset>{assets}</asset>
  <worldbody>
    <body name="cube"><joint name="lift"/><geom type="box" size=".05 .05 .05"/></body>
    {bodies}
  </worldbody>
</mujoco>"""
LONG = "x" * 100_000
KEY = "x" * 1000
"""A long key; YAML keys have at most 1024 characters."""


def parameters(*lines, scales="{cube: 0.02}", scene="scene.xml"):
    lines = [f"scene: {scene}", f"skin: {{scales: {scales}}}", *lines]
    return "/**:\n  ros__parameters:\n" + "".join(f"    {line}\n" for line in lines)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Create a folder with a valid scene and make it the working folder."""
    (tmp_path / "scene.xml").write_text(SCENE.format(assets="", bodies=""))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rejected(folder, capfd):
    """Return a function that returns the one-line error of `check` for my.yaml."""

    def check(text=None):
        if text is not None:
            (folder / "my.yaml").write_text(text)
        begin = time.monotonic()
        assert main(["check", "my.yaml"]) == 2
        assert time.monotonic() - begin < 20
        [line] = capfd.readouterr().err.splitlines()
        assert line.startswith("tactile_sim: error: ")
        assert line.isprintable()
        assert len(line) <= LONGEST_MESSAGE + len("tactile_sim: error: ")
        return line

    return check


CONFIGURATIONS = {
    "scale 1e200": (parameters(scales="{cube: 1e200}"), "skin.scales.cube"),
    "scale 1e9": (parameters(scales="{cube: 1.1e9}"), "skin.scales.cube"),
    "spacing 1e200": (parameters("feelers: {cube: {spacing: 1e200}}"), "feelers.cube.spacing"),
    "tare at 1e308": (parameters("skin.sensor.cube.tare.at: 1e308"), "skin.sensor.cube.tare.at"),
    "kp 1e300": (parameters("control: {lift: {kp: 1e300}}"), "control.lift.kp"),
    "a surrogate": (parameters(r'contact_sensors: {grip: {geom1: "\ud800"}}'), "line 5"),
    "a surrogate in a key": (parameters(r'contact_sensors: {"\ud800": {geom1: a}}'), "line 5"),
    "an invalid address": (parameters(scene='"file://[::1/x"'), "file://[::1/x"),
    "a null in an address": (parameters(scene='"file:///%00"'), "scene"),
    "a device": (parameters(scene="/dev/zero"), "/dev/zero"),
    "a long value": (parameters(f"engine: {LONG}"), "engine"),
    "a long text": (parameters(f"engine: '{'a b ' * 30_000}'"), "engine"),
    "a long key": (parameters(f"{KEY}: 1"), "xxx"),
    "control characters": (parameters(scales=r'{"a\e[31m\n\u202e": 0.02}'), "skin.scales"),
    "deeply nested": (parameters("rates: " + "{a: " * 20_000), ""),
    "a bridge that is not installed": (parameters("bridges: [xela_server_ros2]"), "xela_server_ros2"),
}


@pytest.mark.parametrize(("text", "thing"), CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_hostile_configuration_gives_one_short_line(rejected, text, thing):
    assert thing in rejected(text)


def test_long_values_are_shortened_in_errors(rejected):
    line = rejected(parameters(scales=f"{{{KEY}: 0.02}}"))
    assert max(map(len, re.findall("x+", line))) <= LONGEST_VALUE


def test_mesh_without_a_hull_gives_one_line(folder, rejected):
    """MuJoCo's qhull library prints a page of text in this case."""
    (folder / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1e300 0 0\nf 1 2 3\nf 1 3 4\n")
    mesh = '<mesh name="flat" file="flat.obj"/>'
    geom = '<geom type="mesh" mesh="flat"/>'
    (folder / "scene.xml").write_text(SCENE.format(assets=mesh, bodies=geom))
    assert "flat" in rejected(parameters())


SPECIAL = ("fifo", "device", "sparse", "folder")


def make_special(path, kind):
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.touch()
        os.truncate(path, 1 << 40)


@pytest.mark.parametrize("kind", SPECIAL)
def test_configuration_must_be_a_regular_file(folder, rejected, kind):
    make_special(folder / "my.yaml", kind)
    assert "my.yaml" in rejected()


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize(
    ("assets", "bodies"),
    [
        ('<mesh name="m" file="thing.stl"/>', '<geom type="mesh" mesh="m"/>'),
        ('<texture name="t" type="2d" file="thing.stl"/>', ""),
        ("", '<include file="thing.stl"/>'),
        ("", '<include file="part.xml"/>'),
        ('<model name="m" file="thing.stl"/>', '<attach model="m" body="b" prefix="p"/>'),
    ],
    ids=["mesh", "texture", "include", "include in an include", "model"],
)
def test_assets_of_a_scene_must_be_regular_files(folder, rejected, kind, assets, bodies):
    make_special(folder / "thing.stl", kind)
    (folder / "part.xml").write_text('<mujoco><include file="thing.stl"/></mujoco>')
    (folder / "scene.xml").write_text(SCENE.format(assets=assets, bodies=bodies))
    assert "thing.stl" in rejected(parameters())


@pytest.mark.parametrize("kind", SPECIAL)
def test_scene_must_be_a_regular_file(folder, rejected, kind):
    make_special(folder / "scene.xml", kind)
    assert "scene.xml" in rejected(parameters())


@pytest.mark.parametrize("piece", ["<!--", "<?", "<!DOCTYPE", "<a", "<include ", "<", "<a>", "< "])
def test_repeated_opening_tags_are_parsed_in_linear_time(folder, rejected, piece):
    for text in (piece * 100_000, f"<mujoco>{piece * 100_000}"):
        (folder / "scene.xml").write_text(text)
        assert "scene.xml" in rejected(parameters())


MULTIPLIED = {
    "copies": ("", '<replicate count="2000000000"><geom size=".1"/></replicate>'),
    "nested copies": ("", '<replicate count="1000">' * 2 + '<geom size=".1"/>' + "</replicate>" * 2),
    "points": ("", '<flexcomp name="c" type="grid" count="99999 99999 1" spacing="1 1 1" mass="1"/>'),
    "cells": ('<hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/>', ""),
    "cells of an included file": ("", '<include file="part.xml"/>'),
}


@pytest.mark.parametrize(("assets", "bodies"), MULTIPLIED.values(), ids=MULTIPLIED)
def test_numbers_that_would_take_hours_are_rejected(folder, rejected, assets, bodies):
    part = '<mujoco><asset><hfield name="h" nrow="2000000000" ncol="9" size="1 1 1 1"/></asset></mujoco>'
    (folder / "part.xml").write_text(part)
    (folder / "scene.xml").write_text(SCENE.format(assets=assets, bodies=bodies))
    assert ".xml: <" in rejected(parameters())


def test_size_for_which_mujoco_gives_no_reason_is_rejected_with_a_likely_one(folder):
    """MuJoCo reports only ``Caught an unknown exception!`` if a body has too much user data."""
    scene = SCENE.format(assets="", bodies="").replace("<asset>", '<size nuser_body="2000000000"/><asset>')
    (folder / "scene.xml").write_text(scene)
    (folder / "my.yaml").write_text(parameters())
    limit = (8 << 30, 8 << 30)  # half of these numbers
    done = command("check", "my.yaml", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "scene.xml" in line and "memory" in line


def test_too_long_file_name_is_rejected(folder, rejected):
    bodies = f'<include file="{"y" * 10_000}.xml"/>'
    (folder / "scene.xml").write_text(SCENE.format(assets="", bodies=bodies))
    assert "scene.xml" in rejected(parameters())
    model = f'<model name="m" file="{"- " * 30_000}.xml"/>'
    (folder / "scene.xml").write_text(SCENE.format(assets=model, bodies=""))
    assert "scene.xml" in rejected(parameters())


def test_files_included_twice_are_read_in_linear_time(folder, rejected):
    for number in range(40):
        include = f'<include file="part{number + 1}.xml"/>'
        (folder / f"part{number}.xml").write_text(f"<mujoco>{include}{include}</mujoco>")
    (folder / "part40.xml").write_text("<mujoco/>")
    (folder / "scene.xml").write_text(SCENE.format(assets="", bodies='<include file="part0.xml"/>'))
    assert ".xml" in rejected(parameters())


def command(*arguments, preexec_fn=None, **environment):
    return subprocess.run(
        [sys.executable, "-m", "tactile_sim", *arguments],
        preexec_fn=preexec_fn,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("arguments", [("run", "touch_cube"), ("plot", "nowhere")])
def test_invalid_graphics_library_gives_one_line_in_each_command(arguments):
    done = command(*arguments, MUJOCO_GL="nope")
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "MUJOCO_GL=nope" in line


def test_library_warnings_are_one_line_without_source_text(folder):
    flex = '<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" mass="1" pos="0 -3 1"/>'
    (folder / "scene.xml").write_text(SCENE.format(assets="", bodies=flex))
    (folder / "my.yaml").write_text(parameters())
    done = command("check", "my.yaml")
    assert done.returncode == 0
    [line] = done.stderr.splitlines()
    assert line.startswith("tactile_sim: warning: ") and "cloth" in line and ".py" not in line


def test_long_arguments_are_shortened_in_errors():
    done = command("check", "touch_cube", "y" * 100_000)
    assert done.returncode == 2
    assert max(map(len, done.stderr.splitlines())) < 2 * LONGEST_MESSAGE


UNKNOWN = {
    "scale": "skin: {{scales: {{{}}}}}",
    "key": "{}",
    "rate": "rates: {{{}}}",
    "joint": "control: {{{}}}",
    "pad": "skin: {{pads: {{{}}}}}",
    "preset": "skin: {{pads: {{{}}}}}",
    "stage": "skin: {{sensor: {{cube: {{{}}}}}}}",
}
VALUES = {
    "joint": "{kp: 1.0}",
    "pad": "{body: nothing, spacing: 0.1}",
    "preset": "{body: nothing, preset: xela_uspa44}",
    "stage": "{std: 0.1}",
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_many_unknown_names_are_rejected_within_seconds(kind, folder):
    """Searching the nearest name for each of them took 17 s and more of CPU time."""
    entries = ", ".join(f"unknown_{k}: {VALUES.get(kind, '0.1')}" for k in range(2500))
    path = folder / "my.yaml"
    path.write_text(f"/**: {{ros__parameters: {{scene: scene.xml, {UNKNOWN[kind].format(entries)}}}}}")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [sys.executable, "-m", "tactile_sim", "check", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    assert done.returncode == 2
    *lines, last = done.stderr.splitlines()
    assert len(lines) == 20 and all("unknown_" in line or "nothing" in line for line in lines)
    assert "2480" in last
    assert spent < 6.0, spent  # 1 to 2 s, of which most are imports
