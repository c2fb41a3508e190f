"""``check`` and ``info`` report invalid configurations and scenes in one line and exit with code 2."""

import os
import subprocess
import sys

import pytest

from tactile_sim.commands import main

SCENE = """<mujoco>
  <asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 1"/></asset>
  <worldbody>
    <body name="cube"><joint name="lift"/><geom type="box" size=".05 .05 .05"/></body>
    <body name="left.palm"><geom type="box" size=".05 .05 .05"/></body>
    <body name="ground"><geom type="plane" size="1 1 1"/></body>
    <body name="field"><geom type="hfield" hfield="hills"/></body>
  </worldbody>
  <keyframe><key name="home"/></keyframe>
</mujoco>"""
MESHED = """<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody>
<body name="cube"><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""


def parameters(*lines, scales="{cube: 0.02}", scene="scene.xml"):
    lines = [f"scene: {scene}", f"skin: {{scales: {scales}}}", *lines]
    return "/**:\n  ros__parameters:\n" + "".join(f"    {line}\n" for line in lines)


CASES = {
    # the file
    "not UTF-8": (b"/**:\n  \xe9: 1\n", ["my.yaml", "line 2", "UTF-8"]),
    "a scene": (b"\xef\xbb\xbf\n <mujoco model='\xe9'/>", ["my.yaml", "scene: my.yaml"]),
    # keys and values of the configuration
    "a rate that is never due": (parameters("rates: {tf: 1e-320}"), ["rates.tf", "1e-320"]),
    "an unknown choice": (parameters("contacts: skins"), ["contacts", "'skins'", "'skin'"]),
    "no stiffness of a body": (
        parameters("skin.stiffness: {cube: 0}"),
        ["skin.stiffness.cube", "[Pa]", "0"],
    ),
    "the thickness of an unknown body": (
        parameters("skin.thickness: {cub: 0.001}"),
        ["skin.thickness.cub", "'cub'", "'cube'"],
    ),
    "TriFinger keys for another engine": (
        "/**:\n  ros__parameters:\n    trifinger: {type: trifingeredu}\n",
        ["trifinger.type", "'mujoco'"],
    ),
    "an unknown TriFinger": (
        "/**:\n  ros__parameters:\n    engine: trifinger\n    trifinger: {type: trifingerpo}\n",
        ["trifinger.type", "'trifingerpo'", "'trifingerpro'"],
    ),
    "feelers without positions": (
        parameters("feelers: {cube: {length: 0.1}}"),
        ["feelers.cube", "image", "spacing"],
    ),
    "feelers with image and spacing": (
        parameters("feelers: {cube: {image: a.png, spacing: 0.01}}"),
        ["feelers.cube", "image", "spacing"],
    ),
    "feelers on an unknown body": (
        parameters("feelers: {cub: {spacing: 0.01}}"),
        ["feelers.cub", "'cub'", "'cube'"],
    ),
    "feelers without length": (
        parameters("feelers: {cube: {spacing: 0.01, length: 0}}"),
        ["feelers.cube.length", "[m]", "0"],
    ),
    # the skin
    "scale NaN": (parameters(scales="{cube: .nan}"), ["skin.scales.cube", "[m]", "nan"]),
    "a switch without value": (
        parameters("skin.sensor: {cube: {gain: {enabled: null}}}"),
        ["skin.sensor.cube.gain.enabled", "null"],
    ),
    "an empty skin": (parameters(scales="{cube: null}"), ["skin.scales"]),
    "a plane": (parameters(scales="{ground: 0.02}"), ["'ground/geom0'", "plane"]),
    "a height field": (parameters(scales="{field: 0.02}"), ["'field/geom0'", "height field"]),
    # joints and keyframes
    "control of an unknown joint": (parameters("control: {lft: {kp: 1}}"), ["lft", "'lift'"]),
    "an unknown keyframe": (parameters("motion: {keyframes: [hme]}"), ["hme", "'home'"]),
    # the scene
    "a missing scene": (parameters(scene="scen.xml"), ["scene", "'scen.xml'"]),
    "a scene in a missing package": (parameters(scene="package://nowhere/a.xml"), ["scene", "nowhere"]),
    "a folder": (parameters(scene="."), ["scene", "folder"]),
    "broken XML": (parameters(scene="broken.xml"), ["broken.xml", "line 2"]),
    "not XML": (parameters(scene="my.yaml"), ["my.yaml", "XML"]),
    "a scene not in UTF-8": (parameters(scene="latin.xml"), ["latin.xml", "line 1", "UTF-8"]),
    "a missing mesh": (parameters(scene="meshless.xml"), ["no.stl"]),
    "an unreadable mesh": (parameters(scene="unreadable.xml"), ["unreadable.xml", "line 1", "'m'"]),
    "a flat mesh": (parameters(scene="flat.xml"), ["flat"]),
}
"""Invalid configuration files, and texts that their error messages must contain.

test/config tests the errors that need no scene, and those of names of bodies.
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Create scenes, of which only ``scene.xml`` is valid, in the working folder."""
    files = {
        "scene.xml": SCENE,
        "broken.xml": "<mujoco>\n<worldbody>\n",
        "meshless.xml": MESHED.format("no.stl"),
        "unreadable.xml": MESHED.format("text.stl"),
        "flat.xml": MESHED.format("flat.obj"),
        "text.stl": "no mesh",
        "flat.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "latin.xml").write_bytes("<mujoco model='é'/>".encode("latin-1"))
    monkeypatch.chdir(tmp_path)  # because MuJoCo writes a log file
    return tmp_path


def write(folder, text):
    (folder / "my.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())


def test_the_scene_of_these_tests_is_valid(folder, capfd):
    write(folder, parameters("control: {l*: {kp: 1}}", "motion: {keyframes: [home]}"))
    assert main(["check", "my.yaml"]) == 0, capfd.readouterr().err


def test_check_warns_of_excessive_rates_and_spacings(folder, capfd):
    write(folder, parameters("rates: {tactile: 10000.0, tf: 500.0}", scales="{cube: 4, left.palm: 0.04}"))
    assert main(["check", "my.yaml"]) == 0
    lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith("warning: ")]
    facts = [
        ("rates.tactile", " 500 Hz", "10000"),
        ("skin.scales.cube", " 4 m", "0.5 m"),
        ("skin.scales", "'cube'", " 4 m", "600 cm²"),
    ]
    for line, expected in zip(lines, facts, strict=True):
        assert all(fact in line for fact in expected)


@pytest.mark.parametrize(("text", "facts"), CASES.values(), ids=CASES)
def test_check_gives_one_line_with_the_facts(folder, capfd, text, facts):
    write(folder, text)
    assert main(["check", "my.yaml"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("tactile_sim: error: ")
    assert err.count("\n") == 1
    assert all(fact in err for fact in facts), err


def test_check_reports_all_errors_of_a_configuration(folder, capfd):
    write(folder, parameters("rate: 3", "seed: -1", "rates: {tf: fast}"))
    assert main(["check", "my.yaml"]) == 2
    lines = capfd.readouterr().err.splitlines()
    for line, key in zip(lines, ("'rate'", "seed", "rates.tf"), strict=True):
        assert line.startswith("tactile_sim: error: my.yaml: ") and key in line


SEVERAL = {
    "a value and a name": (
        parameters("skin.stiffness: {cube: 0, cub: 1e5}", "skin.thickness: {left: 0.001}"),
        ["skin.stiffness.cube", "skin.stiffness.cub:", "skin.thickness.left"],
    ),
    "names of bodies": (
        parameters("feelers: {cup: {spacing: 0.01}}", scales="{cube: -1, cub: 0.02, plm: 0.02}"),
        ["skin.scales.cube", "skin.scales.cub:", "skin.scales.plm", "feelers.cup"],
    ),
    "pads": (
        parameters(
            "seed: -1",
            "skin.pads: {a: {body: cub, spacing: 0.01}, b: {body: cube, preset: none}, c: {spacing: 0}}",
        ),
        ["seed", "skin.pads.a.body", "skin.pads.b.preset", "skin.pads.c.spacing"],
    ),
    "names without invalid values": (
        parameters(
            "skin.thickness: {left: 0.001}", "skin.stiffness: {cub: 1e5}", "feelers: {cup: {spacing: 0.1}}"
        ),
        ["skin.stiffness.cub", "skin.thickness.left", "feelers.cup"],
    ),
    "names of bodies and pads": (
        parameters(
            "skin.pads: {a: {body: cub, spacing: 0.01}}",
            "skin.sensor: {cbe: {gain: {value: 2.0}}, a: {gain: {value: 2.0}}}",
            "skin.state: {aa: {on_force: 0.1}, cube: {on_force: 0.1}}",
            "control: {hnge: {kp: 1.0}}",
            "contact_sensors: {touch: {geom1: cubby}}",
            "motion.keyframes: [hom, heme]",
            "grippers: {hand: {joints: [hnge, heng]}}",
            scales="{cub: 0.02}",
        ),
        [
            "skin.scales.cub:",
            "skin.pads.a.body",
            "skin.sensor.cbe:",
            "skin.state.aa:",
            "control.hnge:",
            "contact_sensors.touch.geom1",
            "'hom'",
            "'heme'",
            "'hnge'; ",
            "'heng'",
        ],
    ),
    "names of stages": (
        parameters(
            "skin.sensor: {cub: {gain: {value: 2.0}}, box: {gain: {value: 2.0}}}",
            "skin.state: {cub: {on_force: 0.1}}",
        ),
        ["skin.sensor.cub:", "skin.sensor.box:", "skin.state.cub:"],
    ),
    "sensors of pads": (
        parameters("seed: -1", "hardware.pads: {cub: {topic: a}, box: {topic: b}, cube: {topic: c}}"),
        ["seed", "no pad 'cub'", "no pad 'box'"],
    ),
    "sensors of pads without invalid values": (
        parameters("hardware.pads: {cub: {topic: a}, box: {topic: b}}"),
        ["no pad 'cub'", "no pad 'box'"],
    ),
    "sensors of an invalid pad": (
        parameters("skin.pads: {a: {body: cube, spacing: -1}}", "hardware.pads: {a: {topic: a}}"),
        ["skin.pads.a.spacing"],
    ),
    "robots": (
        parameters("robots: {a: {file: one.urdf}, b: {file: two.urdf}}"),
        ["robots.a.file", "robots.b.file"],
    ),
    "an unreadable scene": (parameters("seed: -1", scene="broken.xml"), ["seed", "broken.xml: line 2"]),
    "a missing scene": (parameters("rates: {tf: fast}", scene="scen.xml"), ["rates.tf", "'scen.xml'"]),
    # consequences of an invalid value are not errors
    "no skin": (parameters("skin.scale: {cube: 0.02}", scales="0.02"), ["skin.scale.cube", "skin.scales"]),
    "an invalid pad": (
        parameters("skin.pads: {a: {body: cube, spacing: -1}}", "skin.sensor: {a: {tare: {at: -1}}}"),
        ["skin.pads.a.spacing", "skin.sensor.a.tare.at"],
    ),
    "no object": (
        parameters("object: {ball: {shape: sphere, size: [0.1]}}", scales="{ball: 0.02}"),
        ["object.ball.shape", "object.ball.size"],
    ),
}
"""Configurations, and a fact of each error that is expected."""


@pytest.mark.parametrize(("text", "facts"), SEVERAL.values(), ids=SEVERAL)
def test_check_reports_errors_of_values_and_of_the_scene_together(folder, capfd, text, facts):
    write(folder, text)
    assert main(["check", "my.yaml"]) == 2
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == len(facts), lines
    assert all(any(fact in line for line in lines) for fact in facts), lines


@pytest.mark.parametrize("case", ["not UTF-8", "scale NaN", "broken XML"])
def test_info_gives_the_same_line_as_check(folder, capfd, case):
    write(folder, CASES[case][0])
    errors = []
    for command in ("check", "info"):
        assert main([command, "my.yaml"]) == 2
        out, err = capfd.readouterr()
        assert out == ""
        errors.append(err)
    assert errors[0] == errors[1]


@pytest.mark.parametrize(("command", "case"), [("check", "broken XML"), ("info", "scale NaN")])
def test_a_new_process_shows_no_traceback(folder, command, case):
    text, facts = CASES[case]
    write(folder, text)
    done = subprocess.run(
        [sys.executable, "-m", "tactile_sim", command, "my.yaml"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert all(fact in done.stderr for fact in facts)
    assert done.stderr.count("\n") == 1
