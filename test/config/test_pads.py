"""Invalid pads cause one error that names the key and the fault."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

from tactile_sim import ConfigError, config
from tactile_sim.commands import main
from tactile_sim.config.mapping import split_key
from tactile_sim.config.settings import RECORDS
from tactile_sim.simulation import Simulation

SCENE = """<mujoco><worldbody>
  <body name="tip"><geom type="box" size=".02 .02 .01" pos="0 0 -.01"/>
    <site name="a"/><site name="b" pos=".01 0 0"/></body>
  <body name="other" pos="1 0 0"><geom name="o" size=".1"/><site name="c"/></body>
  <body name="bare" pos="2 0 0"/>
</worldbody></mujoco>"""
GRID = {"rows": 2, "columns": 2, "pitch": [0.004, 0.004]}
TAXELS = "x,y,z,nx,ny,nz\n0,0,0,0,0,1\n.004,0,0,0,0,1\n"


def refused(folder, pads, **keys) -> str:
    """Return the one-line error for invalid pads."""
    (folder / "scene.xml").write_text(SCENE)
    with pytest.raises(ConfigError) as error:
        Simulation(
            config.from_mapping({"scene": "scene.xml", "skin": {"pads": pads}, **keys}, folder, "my.yaml")
        )
    assert "\n" not in str(error.value)
    return str(error.value)


LAYOUTS = {
    "missing column": (TAXELS.replace(",nz", ""), "'nz'"),
    "unknown column": (TAXELS.replace("nz", "nzz"), "'nzz'"),
    "no normals": ("x,y,z\n0,0,0\n", "normals"),
    "NaN pose": (TAXELS.replace(".004", "nan"), "nan"),
    "infinity": (TAXELS.replace(".004", "inf"), "line 3: column 'x'"),
    "text": (TAXELS.replace(".004", "four"), "line 3"),
    "no header": (TAXELS.partition("\n")[2], "line 1"),
    "semicolons": (TAXELS.replace(",", ";"), "'x;y;z;nx;ny;nz'"),
    "short line": (TAXELS + "1,2\n", "line 4"),
    "empty": ("", "t.csv: is empty"),
    "no taxels": ("x,y,z,nx,ny,nz\n", "0"),
    "normal of length zero": (TAXELS.replace("0,0,1\n.", "0,0,0\n."), "taxel 0"),
    "ids twice": ("id," + TAXELS.replace("\n0", "\n4,0").replace("\n.004", "\n4,.004"), "taxel 0"),
    "a position twice": (TAXELS.replace(".004", "0"), "0 and 1"),
    "a place twice": (
        "row,column," + TAXELS.replace("\n0", "\n1,1,0").replace("\n.004", "\n1,1,.004"),
        "row and column",
    ),
    "negative id": ("id," + TAXELS.replace("\n0", "\n-1,0").replace("\n.004", "\n4,.004"), "-1"),
    "far off its body": (TAXELS.replace(".004,0,0", ".004,0,.05"), "50 mm"),
}


@pytest.mark.parametrize(("content", "fact"), LAYOUTS.values(), ids=LAYOUTS)
def test_invalid_layouts_are_refused_with_key_and_place(content, fact, tmp_path):
    (tmp_path / "t.csv").write_text(content)
    line = refused(tmp_path, {"p": {"body": "tip", "layout": "t.csv"}})
    assert line.startswith("my.yaml: skin.pads.p") and fact in line


UNREADABLE = {
    "none.csv": (None, "no"),
    "t.txt": (TAXELS.encode(), ".csv"),
    "latin.csv": (TAXELS.encode() + b"# caf\xe9\n", "line 4, column 6: "),
    "long.csv": (TAXELS.encode() + b"1" * 200_000, "line 4: "),
    "t.npz": (b"PK\x03\x04 nothing", "numpy.savez"),
    "csv.npz": (TAXELS.encode(), "numpy.savez"),
    "t.yaml": (b"- 1", "positions"),
    "open.yaml": (b"positions: [[0,0\n", "line 2, column 1: "),
    "latin.yaml": (b"a: \xe9", "line 1, column 4: "),
    "far.npz": ({"positions": np.zeros((2, 2)), "normals": np.ones((2, 3))}, "(2, 2)"),
    "objects.npz": ({"normals": np.array([{}])}, "'normals'"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable_layouts_are_refused_with_their_name_and_place(name, tmp_path):
    content, fact = UNREADABLE[name]
    if isinstance(content, dict):
        np.savez(tmp_path / name, **content)
    elif content is not None:
        (tmp_path / name).write_bytes(content)
    line = refused(tmp_path, {"p": {"body": "tip", "layout": name}})
    assert line.startswith("my.yaml: skin.pads.p.layout: ") and name in line and fact in line
    assert "codec" not in line and "pickle" not in line


PADS = {
    "no body": ({"grid": GRID}, ".p.body"),
    "unknown body": ({"body": "tipp", "grid": GRID}, "'tip'"),
    "a body that cannot feel": ({"body": "bare", "grid": GRID}, "'bare'"),
    "misspelled preset": ({"body": "tip", "preset": "xela_uspa"}, "'xela_uspa4"),
    "a preset without a body": ({"preset": "xela_uspa44"}, ".p.body"),
    "nothing": ({"body": "tip"}, "spacing"),
    "two layouts": ({"body": "tip", "grid": GRID, "layout": "a.csv"}, ".p.grid"),
    "part of a grid": ({"body": "tip", "grid": {"rows": 2}}, "pitch"),
    "unknown site": ({"sites": ["aa"]}, "'a'"),
    "sites of two bodies": ({"sites": ["?"]}, "'other'"),
    "sites of another body": ({"body": "other", "sites": ["a"]}, "'tip'"),
    "unknown geom": ({"geoms": ["g"], "spacing": 0.01}, "'g'"),
    "one site without a spacing": ({"sites": ["a"]}, ".p.spacing"),
    "geoms of a grid": ({"body": "tip", "grid": GRID, "geoms": ["o"]}, ".p.geoms"),
    "a place for a spacing": ({"body": "tip", "spacing": 0.01, "position": [0, 0, 0]}, ".p.position"),
    "an angle without a direction": (
        {"body": "tip", "spacing": 0.01, "region": {"within": 10}},
        "region.normal",
    ),
    "no direction": ({"body": "tip", "spacing": 0.01, "region": {"normal": [0, 0, 0]}}, "region.normal"),
    "no rotation": ({"body": "tip", "grid": GRID, "orientation": [0, 0, 0, 0]}, ".p.orientation"),
    "an empty region": ({"body": "tip", "spacing": 0.01, "region": {"box": [1, 1, 1, 2, 2, 2]}}, "'tip'"),
    "far off its body": ({"body": "tip", "grid": GRID, "position": [0, 0, 1]}, "e+03 mm"),
    "too many taxels": ({"body": "tip", "spacing": 1e-6}, ".p.spacing"),
    "a rate above the physics'": ({"body": "tip", "grid": GRID, "rate": 501}, "500 Hz"),
    "a rate that is never due": ({"body": "tip", "grid": GRID, "rate": 1e-300}, ".p.rate"),
    "a spacing above any body": ({"body": "tip", "spacing": 1e9}, ".p.spacing"),
    "another pad's name": ({"body": "tip", "grid": GRID, "outside": "far"}, "far"),
    "too few numbers": ({"body": "tip", "grid": GRID, "position": [0, 0]}, "3 numbers"),
    "unknown key": ({"body": "tip", "spacin": 0.01}, "'spacing'"),
    "unknown key of a grid": ({"body": "tip", "grid": {**GRID, "row": 1}}, "'rows'"),
    "a grid that is a number": ({"body": "tip", "grid": 4}, "pitch"),
}


@pytest.mark.parametrize(("pad", "fact"), PADS.values(), ids=PADS)
def test_invalid_pads_are_refused_with_their_key(pad, fact, tmp_path):
    line = refused(tmp_path, {"p": pad})
    assert "skin.pads.p" in line and fact in line


@pytest.mark.parametrize(
    ("pad", "group", "key", "zeros"),
    [
        ({"body": "tip", "spacing": 0.01}, "region", "normal", [0.0] * 3),
        ({"body": "tip", "grid": GRID}, "", "orientation", [0.0] * 4),
    ],
)
def test_the_remedy_for_a_direction_of_length_zero_is_a_valid_value(pad, group, key, zeros, tmp_path):
    line = refused(tmp_path, {"p": pad | ({group: {key: zeros}} if group else {key: zeros})})
    assert key in line and str(zeros) in line
    remedy = yaml.safe_load(line[line.rindex("[") :])
    pads = {"p": pad | ({group: {key: remedy}} if group else {key: remedy})}
    Simulation(config.from_mapping({"scene": "scene.xml", "skin": {"pads": pads}}, tmp_path, "my.yaml"))


@pytest.mark.parametrize(
    ("orientation", "count"),
    [
        ([0.0, 0.0, 0.0, 1.0], 0),  # on the upper face, facing up
        ([1.0, 0.0, 0.0, 0.0], 4),  # facing down, into the body
        ([0.5**0.5, 0.0, 0.0, 0.5**0.5], 4),  # facing sideways
        ([0.43589, 0.0, 0.0, 0.9], 0),  # 51.7 degrees
    ],
)
def test_pads_that_do_not_face_out_of_the_surface_are_logged(orientation, count, tmp_path, caplog):
    (tmp_path / "scene.xml").write_text(SCENE)
    pads = {"p": {"body": "tip", "grid": GRID, "orientation": orientation}}
    Simulation(config.from_mapping({"scene": "scene.xml", "skin": {"pads": pads}}, tmp_path, "my.yaml"))
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == bool(count)
    assert all(f"{count} of 4" in line and "skin.pads.p" in line for line in lines)


def test_names_of_pads_must_differ_in_their_topics(tmp_path):
    pad = {"body": "tip", "grid": GRID}
    assert "'tactile/a_b'" in refused(tmp_path, {"a-b": pad, "a.b": pad})
    skin = {"scales": {"other": 0.1}, "pads": {"other": pad}}
    (tmp_path / "scene.xml").write_text(SCENE)
    with pytest.raises(ConfigError, match=r"skin\.pads\.other"):
        Simulation(config.from_mapping({"scene": "scene.xml", "skin": skin}, tmp_path, "my.yaml"))


def test_check_refuses_a_pad_with_2_and_one_line(tmp_path, capsys):
    (tmp_path / "scene.xml").write_text(SCENE)
    (tmp_path / "my.yaml").write_text(
        "/**:\n  ros__parameters:\n    scene: scene.xml\n    skin: {pads: {p: {body: tip, preset: no}}}\n"
    )
    assert main(["check", str(tmp_path / "my.yaml")]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1) and "skin.pads.p.preset" in err


def test_names_of_pads_may_have_dots_and_those_of_keys():
    assert split_key("left.tip.grid.rows", RECORDS["skin.pads"]) == ("left.tip", "grid.rows")
    assert split_key("grid.spacing", RECORDS["skin.pads"]) == ("grid", "spacing")
    assert split_key("grid.grid.rows", RECORDS["skin.pads"]) == ("grid", "grid.rows")
    made = config.from_mapping({"scene": "s.xml", "skin.pads.left.tip.grid.rows": 2})
    assert made.skin.pads == {"left.tip": {"grid": {"rows": 2}}}
