"""Configurations and scenes that cannot be used: ``check`` and ``info`` end with 2 and one line."""

import os
import subprocess
import sys

import pytest

from tactile_sim.cli import main

SCENE = """<mujoco>
  <asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 1"/></asset>
  <worldbody>
    <body name="cube"><joint name="lift"/><geom type="box" size=".05 .05 .05"/></body>
    <body name="left.palm"><geom type="box" size=".05 .05 .05"/></body>
    <body name="left_palm"><geom type="box" size=".05 .05 .05"/></body>
    <body name="bare"/>
    <body name="ghost"><geom size=".1" contype="0" conaffinity="0"/></body>
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
    "not UTF-8": (b"/**:\n  \xe9: 1\n", "my.yaml: line 2 is not UTF-8; save the file in that encoding"),
    "not YAML": (parameters("rates: {tf: 1"), "my.yaml: line 6, column 1: not YAML: expected ',' or '}'"),
    "a scene": (
        b"\xef\xbb\xbf\n <mujoco model='\xe9'/>",
        "my.yaml: is a scene, not a configuration; write a YAML file with 'scene: my.yaml' and 'skin:",
    ),
    "a list": ("- scene.xml\n", "my.yaml: line 1: the top has to be a mapping: '/**:'"),
    "no ROS levels": ("scene: scene.xml\n", "'scene' stands above the parameters; put '/**:' and"),
    "another node's": (
        "pump:\n  ros__parameters: {a: 1}\n",
        "no parameters for the node /tactile_sim, only for 'pump'",
    ),
    "a key without a value": (parameters("seed:"), "my.yaml: line 5: seed has no value; give one"),
    "an empty mapping": (parameters("feelers: {}"), "feelers: rcl takes no empty mapping; leave the key out"),
    # keys and values
    "no scene": (
        "/**:\n  ros__parameters: {seed: 1}\n",
        "the key 'scene' is missing; name an MJCF or URDF file",
    ),
    "an unknown key": (parameters("rate: 3"), "my.yaml: unknown key 'rate'; did you mean 'rates'?"),
    "an unknown rate": (parameters("rates: {tactil: 3}"), "'rates.tactil'; did you mean 'rates.tactile'?"),
    "text for a number": (
        parameters("rates: {tf: fast}"),
        "rates.tf: needs a finite number of at least 0 [Hz], but is 'fast'",
    ),
    "a flag for a number": (
        parameters("real_time_factor: yes"),
        "real_time_factor: needs a finite number of at least 0, but is true",
    ),
    "a number for a flag": (parameters("lockstep: 1"), "lockstep: needs true or false, but is 1"),
    "a negative rate": (
        parameters("rates: {tf: -1}"),
        "rates.tf: needs a finite number of at least 0 [Hz], but is -1",
    ),
    "an infinite factor": (parameters("real_time_factor: .inf"), "real_time_factor: needs a finite number"),
    "an unknown word": (parameters("contacts: skins"), "contacts: cannot be 'skins'; did you mean 'skin'?"),
    "a TriFinger in a scene": (
        parameters("engine: trifinger"),
        "scene: the engine trifinger brings its own; leave the key out, or choose another engine",
    ),
    "a TriFinger without its engine": (
        "/**:\n  ros__parameters:\n    trifinger: {type: trifingeredu}\n",
        "trifinger.type: belongs to the engine 'trifinger', but the engine is 'mujoco'; set 'engine:",
    ),
    "a TriFinger that is none": (
        "/**:\n  ros__parameters:\n    engine: trifinger\n    trifinger: {type: trifingerpo}\n",
        "trifinger.type: cannot be 'trifingerpo'; did you mean 'trifingerpro'?",
    ),
    "feelers that stand nowhere": (
        parameters("feelers: {cube: {length: 0.1}}"),
        "feelers.cube: has neither image nor spacing; give one: image: map.png, or spacing: 0.01",
    ),
    "feelers in two ways": (
        parameters("feelers: {cube: {image: a.png, spacing: 0.01}}"),
        "feelers.cube: has both image and spacing; give one",
    ),
    "feelers of no body": (
        parameters("feelers: {cub: {spacing: 0.01}}"),
        "feelers.cub: the scene has no body named 'cub'; did you mean 'cube'?",
    ),
    "feelers without length": (
        parameters("feelers: {cube: {spacing: 0.01, length: 0}}"),
        "feelers.cube.length: needs a finite number above 0 and at most 1e+06 [m], but is 0",
    ),
    # the skin
    "scale 0": (
        parameters(scales="{cube: 0}"),
        "skin.scales.cube: needs a finite number above 0 [m], but is 0",
    ),
    "a negative scale": (
        parameters(scales="{cube: -1}"),
        "skin.scales.cube: needs a finite number above 0 [m], but is -1",
    ),
    "scale NaN": (
        parameters(scales="{cube: .nan}"),
        "skin.scales.cube: needs a finite number above 0 [m], but is nan",
    ),
    "scale 1e-6": (parameters(scales="{cube: 1e-6}"), "makes too many taxels, about 6.0e+10 in all"),
    "an empty skin": (
        parameters(scales="{cube: null}"),
        "skin.scales: no body has a skin; give one its spacing",
    ),
    "an unknown body": (
        parameters(scales="{cub: 0.02}"),
        "skin.scales.cub: the scene has no body named 'cub'; did you mean 'cube'?",
    ),
    "a pattern for nothing": (
        parameters(scales='{"finger_*": 0.02}'),
        "skin.scales.finger_*: no body matches the pattern",
    ),
    "a body without geoms": (parameters(scales="{bare: 0.02}"), "the body 'bare' has no geom that collides"),
    "a body that collides with nothing": (
        parameters(scales="{ghost: 0.02}"),
        "the body 'ghost' has no geom that collides",
    ),
    "a plane": (
        parameters(scales="{ground: 0.02}"),
        "geom 'ground/geom0' is a plane",
    ),
    "a height field": (parameters(scales="{field: 0.02}"), "its geom 'field/geom0' is a height field"),
    "clashing topics": (
        parameters(scales="{left.palm: 0.02, left_palm: 0.02}"),
        "would share the topic 'tactile/left_palm'",
    ),
    # joints and keyframes
    "control for no joint": (parameters("control: {lft: {kp: 1}}"), "did you mean 'lift'?"),
    "an unknown keyframe": (parameters("motion: {keyframes: [hme]}"), "did you mean 'home'?"),
    # the scene
    "a missing scene": (parameters(scene="scen.xml"), "scene: no scene 'scen.xml' in "),
    "a scene in a missing package": (parameters(scene="package://nowhere/a.xml"), "source its workspace"),
    "a scene that is a folder": (parameters(scene="."), "is a folder; name the MJCF or URDF file in it"),
    "broken XML": (parameters(scene="broken.xml"), "broken.xml: line 2: broken XML"),
    "no MJCF": (parameters(scene="my.yaml"), "not a scene: there is no XML in it"),
    "a scene not in UTF-8": (parameters(scene="latin.xml"), "latin.xml: line 1 is not UTF-8"),
    "a missing mesh": (parameters(scene="meshless.xml"), "no.stl'; files start at the scene's folder"),
    "an unreadable mesh": (
        parameters(scene="unreadable.xml"),
        "unreadable.xml: line 1: 'm': stl_decoder: invalid header",
    ),
    "a flat mesh": (parameters(scene="flat.xml"), "flat"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Scenes of which all but the first are broken."""
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
    monkeypatch.chdir(tmp_path)  # where MuJoCo puts its log
    return tmp_path


def write(folder, text):
    (folder / "my.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())


def test_the_scene_of_these_tests_is_fine_by_itself(folder, capfd):
    write(folder, parameters("control: {l*: {kp: 1}}", "motion: {keyframes: [home]}"))
    assert main(["check", "my.yaml"]) == 0, capfd.readouterr().err


@pytest.mark.parametrize(("text", "message"), CASES.values(), ids=CASES)
def test_check_ends_with_2_and_one_line_that_says_what_is_wrong(folder, capfd, text, message):
    write(folder, text)
    assert main(["check", "my.yaml"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("tactile_sim: error: ")
    assert err.count("\n") == 1
    assert message in err


def test_check_reports_all_errors_of_a_configuration(folder, capfd):
    write(folder, parameters("rate: 3", "seed: -1", "rates: {tf: fast}"))
    assert main(["check", "my.yaml"]) == 2
    lines = capfd.readouterr().err.splitlines()
    for line, key in zip(lines, ("'rate'", "seed", "rates.tf"), strict=True):
        assert line.startswith("tactile_sim: error: my.yaml: ") and key in line


@pytest.mark.parametrize("command", ["check", "info"])
@pytest.mark.parametrize("case", ["not UTF-8", "scale NaN", "broken XML"])
def test_a_process_of_its_own_shows_no_traceback(folder, command, case):
    text, message = CASES[case]
    write(folder, text)
    done = subprocess.run(
        [sys.executable, "-m", "tactile_sim", command, "my.yaml"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
