"""``tactile_sim protocol`` and ``tactile_sim fit``: files, reports and invalid input."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from support.bags import HEADER, MS, SEPARATOR, TYPES, Writing

from tactile_sim import config
from tactile_sim.commands import main
from tactile_sim.common.files import find_shipped
from tactile_sim.fit import Recording, output
from tactile_sim.fit.diagnosis import faults
from tactile_sim.fit.recording import read_bag

SCENE = (
    '<mujoco><worldbody><body name="tip"><geom type="box" size=".006 .006 .006"/></body></worldbody></mujoco>'
)
CONFIG = """
/**:
  ros__parameters:
    scene: pad.xml
    seed: 3
    skin:
      touch_function: normal
      response_function: nearest
      scales: {tip: 0.012}
      sensor:
        tip: {hysteresis: {fraction: 0.1}, gain: {value: 2.0}, noise: {std: 0.01}, clip: {high: 50.0}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the working folder, which contains a configuration."""
    (tmp_path / "pad.xml").write_text(SCENE)
    (tmp_path / "pad.yaml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_fitted_configuration_makes_the_recorded_readings(folder, capsys):
    protocol = "protocol pad.yaml --pad tip --hold 0.3 --rate 50 --simulate --out"
    assert main([*protocol.split(), "real.csv"]) == 0
    options = "--pad tip --out fitted.yaml --plot fit.png --stages hysteresis delay curve"
    assert main(["fit", "pad.yaml", "real.csv", *options.split()]) == 0
    report = capsys.readouterr().out
    assert "POOR" not in report
    for key in ("hysteresis.fraction", "gain.taxels", "noise.std", "spread of noise", "area of hysteresis"):
        assert key in report
    assert (folder / "fit.png").read_bytes().startswith(b"\x89PNG")
    stages = config.load("fitted.yaml").skin.sensor["tip"]
    assert stages["hysteresis"]["fraction"] == pytest.approx(0.1, rel=0.05)
    assert stages["clip"] == {"high": 50.0}
    assert main([*protocol.replace("pad.yaml", "fitted.yaml").split(), "again.csv"]) == 0
    real, again = (np.genfromtxt(name, delimiter=",", names=True) for name in ("real.csv", "again.csv"))
    for k in range(8):
        difference = real[f"reading_{k}"] - again[f"reading_{k}"]
        assert np.sqrt(np.mean(difference**2)) < 0.02 * np.ptp(real[f"reading_{k}"])


def test_fitted_configuration_in_another_folder_has_the_same_files(folder):
    (folder / "gripper.xml").write_text(SCENE)  # the name of a shipped scene
    (folder / "taxels.csv").write_text("x,y,z,nx,ny,nz\n0,0,0,0,0,1\n.004,0,0,0,0,1\n")
    content = CONFIG.replace("pad.xml", "gripper.xml") + "    package_paths: [packages, /opt]\n"
    (folder / "packages").mkdir()
    (folder / "pad.yaml").write_text(content + "    skin.pads.tip.layout: taxels.csv\n")
    (folder / "elsewhere").mkdir()
    text = output.parameters("pad.yaml", "tip", {}, {}, folder / "elsewhere")
    found = yaml.safe_load(text)["/**"]["ros__parameters"]
    assert found["scene"] == str(folder / "gripper.xml")
    assert found["skin.pads.tip.layout"] == str(folder / "taxels.csv")
    assert found["package_paths"] == [str(folder / "packages"), "/opt"]
    text = output.parameters("gripper", "left_pad", {}, {}, folder)
    assert yaml.safe_load(text)["/**"]["ros__parameters"]["scene"] == str(
        find_shipped("scenes", "gripper.xml")
    )
    assert "scene: gripper.xml" in output.parameters("gripper", "left_pad", {}, {}, folder / "elsewhere")


def test_protocol_presses_each_taxel_and_slides(folder):
    assert main("protocol pad.yaml --pad tip --load 3 --hold 0.2 --out motion.csv".split()) == 0
    motion = np.genfromtxt("motion.csv", delimiter=",", names=True)
    assert motion["force"].max() == 3.0
    assert set(motion["taxel"]) == set(range(-1, 8))
    sliding = motion["shear"] > 0
    assert set(motion["taxel"][sliding]) >= set(range(8))
    np.testing.assert_allclose(motion["shear"][sliding], 0.5 * motion["force"][sliding], rtol=1e-6)
    for taxel in range(8):
        held = (motion["taxel"] == taxel) & ~sliding & (motion["force"] == 3.0)
        assert 0.18 < np.ptp(motion["time"][held]) < 0.25
    assert main("protocol pad.yaml --pad tip --out motion.csv".split()) == 2


def test_bag_is_read_with_the_force_of_a_sensor(folder, monkeypatch):
    definition = "std_msgs/Header header\ngeometry_msgs/Wrench wrench" + SEPARATOR
    definition += (
        "MSG: geometry_msgs/Wrench\ngeometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque" + SEPARATOR
    )
    definition += "MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z" + SEPARATOR + HEADER
    array = "std_msgs/Header header\nuint32 layout_id\nstring body\nstring quantity\nstring unit\n"
    array += "uint32 taxel_count\nuint8 channels\nfloat32[] data" + SEPARATOR + HEADER
    types = {"geometry_msgs/msg/WrenchStamped": definition, "tactile_sim/msg/TactileArray": array}
    for name, text in types.items():
        monkeypatch.setitem(TYPES, name, text)
    normals = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    data = np.random.default_rng(1).normal(size=(30, 2, 3)).astype(np.float32)
    writing = Writing(folder / "bag")
    for k in range(30):
        header = {"stamp": 10 * MS * k, "frame_id": "tip"}
        fields = {"header": header, "body": "tip", "taxel_count": 2, "channels": 3, "data": data[k]}
        writing.put("/tactile/tip/array", "tactile_sim/msg/TactileArray", 10 * MS * k, fields)
        wrench = {"header": header, "wrench": {"force": {"y": 3.0 * k, "z": 4.0 * k}}}
        writing.put("/ft", "geometry_msgs/msg/WrenchStamped", 10 * MS * k, wrench)
    writing.bag.close()
    recording = read_bag(folder / "bag", "tip", "/ft", normals)
    np.testing.assert_allclose(recording.force, 5.0 * np.arange(30))
    np.testing.assert_allclose(recording.readings, -np.stack([data[:, 0, 2], data[:, 1, 0]], axis=1))
    np.testing.assert_allclose(recording.times, 0.01 * np.arange(30))


GOOD = "time,force,taxel," + ",".join(f"reading_{k}" for k in range(8)) + "\n"
ROWS = "".join(f"{0.01 * k},{k % 7},2," + ",".join(["0.5"] * 7) + f",{k % 7}\n" for k in range(40))
INVALID = {
    "no time": (GOOD.replace("time", "tine") + ROWS, ["time"]),
    "no force": (GOOD.replace("force", "x") + ROWS, ["force", "load_0"]),
    "no readings": (GOOD.replace("reading", "r") + ROWS, ["reading_0"]),
    "a gap": (GOOD.replace("reading_3", "reading_8") + ROWS, ["reading_8"]),
    "text": (GOOD + ROWS.replace("0.5", "half", 1), ["line 2", "'half'", "'reading_0'"]),
    "semicolons": ((GOOD + ROWS).replace(",", ";"), ["line 2", "commas"]),
    "a long cell": (GOOD + ROWS + "1" * 200_000, ["line 42"]),
    "a long header": ("t" * 200_000 + ROWS, ["line 1"]),
    "a short row": (GOOD + ROWS + "1,2\n", ["line 42", "11", "2"]),
    "nan": (GOOD + ROWS.replace("0.5", "nan", 1), ["finite"]),
    "short": (GOOD + "".join(ROWS.splitlines(True)[:5]), ["20", "5"]),
    "time stands still": (GOOD + ROWS + ROWS, ["time", "0.39"]),
    "wrong taxel": (GOOD + ROWS.replace(",2,", ",9,"), ["taxel", "7"]),
    "no load": (GOOD + "".join(f"{0.01 * k},0,2" + ",0" * 7 + f",{k}\n" for k in range(40)), ["load"]),
    "constant load": (GOOD + "".join(f"{0.01 * k},3,2" + ",0" * 7 + f",{k}\n" for k in range(40)), ["3 N"]),
    "other pad": ((GOOD + ROWS).replace("reading_7", "x"), ["8", "7"]),
    "empty": ("", ["rows", "0"]),
    "header only": (GOOD, ["rows", "1"]),
}


@pytest.mark.parametrize("case", INVALID)
def test_invalid_recording_is_one_error(case, folder, capsys):
    text, facts = INVALID[case]
    (folder / "bad.csv").write_text(text)
    assert main(["fit", "pad.yaml", "bad.csv", "--pad", "tip"]) == 2
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 1
    assert all(fact in error[0] for fact in ["bad.csv", *facts])


@pytest.mark.parametrize(
    ("command", "fact"),
    [
        ("fit pad.yaml none.csv --pad tip", "none.csv"),
        ("fit pad.yaml none.csv --pad tpi", "'tip'"),
        ("fit pad.yaml none.csv --pad tip --stages hysterese", "'hysteresis'"),
        ("fit pad.yaml none.csv --pad tip --plot fit.bmp", ".png"),
        ("fit pad.yaml none.csv --pad tip --out pad.yaml", "--force"),
        ("protocol pad.yaml --pad tip --taxels 8 --out x.csv", "0 to 7"),
        ("fit pad.yaml none.csv --pad tip --reference /ft", "--reference"),
        ("protocol slip.yaml --pad tip --simulate --out x.csv", "'slip'"),
        ("protocol pad.yaml --pad tip --rate 1e9 --out x.csv", "samples"),
        ("protocol pad.yaml --pad tip --load 1e308 --out x.csv", "samples"),
        ("protocol pad.yaml --pad tip --rate 9999 --simulate --out x.csv", "500"),
    ],
)
def test_invalid_argument_is_one_error(command, fact, folder, capsys):
    (folder / "slip.yaml").write_text(CONFIG.replace("normal", "slip"))
    assert main(command.split()) == 2
    assert fact in capsys.readouterr().err


FAULTS = {
    "sign": ({"force": -1.0}, "sign"),
    "grams": ({"force": 1 / 0.00980665}, "grams"),
    "milliseconds": ({"time": 1000.0}, "milliseconds"),
    "numbered from 1": ({"taxel": 1}, "numbered from 1"),
    "never respond": ({"dead": 2}, "never respond"),
    "clipped": ({"clip": 2.0}, "clipped"),
    "one taxel": ({"only": 1}, "press each taxel"),
    "drift": ({"drift": 2.0}, "drifts"),
    "late reference": ({"late": 0.1}, "before the load"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_fault_of_a_recording_is_named(case, record):
    change, fact = FAULTS[case]
    recording, pad = record(
        {"noise": {"std": 0.01}}, taxels=[change["only"]] * 3 if "only" in change else range(7)
    )
    force, taxel, readings = (
        recording.force * change.get("force", 1.0),
        recording.taxel,
        recording.readings.copy(),
    )
    if "taxel" in change:
        taxel = np.where(taxel >= 0, taxel + 1, taxel)
    readings[:, change.get("dead", [])] = 0.0
    readings = np.minimum(readings, change.get("clip", np.inf))
    readings += change.get("drift", 0.0) * np.linspace(0, 1, len(readings))[:, None]
    force = np.interp(recording.times, recording.times + change.get("late", 0.0), force)
    times = recording.times * change.get("time", 1.0)
    found = faults(Recording("changed", times, readings, force, taxel), pad)
    assert any(fact in text for text in found)
    assert not faults(recording, pad) or "only" in change


def test_share_of_the_pressed_taxel_is_named_and_no_file_is_written(folder, capsys):
    command = "protocol pad.yaml --pad tip --indenter taxel --hold 0.3 --rate 50 --simulate --out real.csv"
    assert main(command.split()) == 0
    content = CONFIG.replace("nearest", "spread_linear")
    (folder / "spread.yaml").write_text(content.partition("      sensor")[0])
    command = "fit spread.yaml real.csv --pad tip --out fitted.yaml --stages hysteresis delay"
    assert main(command.split()) == 1
    captured = capsys.readouterr()
    assert "cause: the pressed taxel has" in captured.out
    assert "--poor" in captured.err
    assert not (folder / "fitted.yaml").exists()
    assert main([*command.split(), "--indenter", "taxel"]) == 0
