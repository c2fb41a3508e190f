"""Parameter files, without ROS. That rcl reads them the same is tested in ros/test_config_equals_rcl.py."""

import math

import pytest

from tactile_sim import ConfigError
from tactile_sim.config import parameter_file


def read(tmp_path, text, node="/tactile_sim"):
    file = tmp_path / "my.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return parameter_file.read(file, "my.yaml", node)


def parameters(*lines):
    return "/**:\n  ros__parameters:\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-2", 0.01),
        ("1", 1),
        ("1.", 1.0),
        (".5", 0.5),
        ("010", 8),
        ("0x10", 16),
        ("1_000", "1_000"),
        ("yes", True),
        ("Off", False),
        ("tRuE", "tRuE"),
        ("null", "null"),
        ("12:30", "12:30"),
        ("-.inf", -math.inf),
        ("99999999999999999999", 1e20),
        ("1e999", "1e999"),
        ("2024-01-01", "2024-01-01"),
    ],
)
def test_a_plain_scalar_is_what_rcl_makes_of_it(tmp_path, text, value):
    read_value = read(tmp_path, parameters(f"key: {text}"))["key"]
    assert read_value == value
    assert type(read_value) is type(value)


def test_nan_is_a_number(tmp_path):
    assert math.isnan(read(tmp_path, parameters("key: .nan"))["key"])


def test_what_is_in_quotes_stays_text(tmp_path):
    assert read(tmp_path, parameters("""a: '1'""", '''b: "yes"''', "c: !!str 2")) == {
        "a": "1",
        "b": "yes",
        "c": "2",
    }


def test_names_with_dots_slashes_and_colons_stay_whole(tmp_path):
    text = parameters('skin: {scales: {left.palm: 1, a/b: 2, "robot0:palm": 3, "finger_*": 4}}')
    assert read(tmp_path, text) == {
        "skin.scales.left.palm": 1,
        "skin.scales.a/b": 2,
        "skin.scales.robot0:palm": 3,
        "skin.scales.finger_*": 4,
    }


@pytest.mark.parametrize(
    ("section", "node", "applies"),
    [
        ("/**", "/tactile_sim", True),
        ("/**", "/ns/tactile_sim", True),
        ("tactile_sim", "/tactile_sim", True),
        ("/tactile_sim", "/tactile_sim", True),
        ("tactile_sim", "/ns/tactile_sim", False),
        ("/ns/tactile_sim", "/ns/tactile_sim", True),
        ("ns/tactile_sim", "/ns/tactile_sim", True),
        ("/*/tactile_sim", "/ns/tactile_sim", True),
        ("/*/tactile_sim", "/tactile_sim", False),
        ("/**/tactile_sim", "/tactile_sim", True),
        ("/ns/*", "/ns/tactile_sim", True),
        ("other", "/tactile_sim", False),
    ],
)
def test_a_section_is_for_the_nodes_its_name_stands_for(tmp_path, section, node, applies):
    text = f"{section}:\n  ros__parameters: {{key: 1}}\n/**:\n  ros__parameters: {{other: 2}}\n"
    assert ("key" in read(tmp_path, text, node)) is applies


def test_a_later_section_wins_over_an_earlier_one(tmp_path):
    text = "tactile_sim:\n  ros__parameters: {a: 1}\n/**:\n  ros__parameters: {a: 2}\n"
    assert read(tmp_path, text) == {"a": 2}


def test_a_namespace_may_be_a_level_of_its_own(tmp_path):
    text = "ns:\n  tactile_sim:\n    ros__parameters: {a: 1}\n"
    assert read(tmp_path, text, "/ns/tactile_sim") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"/**:\n  ros__parameters:\n    scene: \xe9\n", "my.yaml: line 3 is not UTF-8"),
        ("/**:\n  ros__parameters:\n    scene: [a\n", "my.yaml: line 4, column 1: not YAML"),
        ("/**:\n\tros__parameters:\n", "my.yaml: line 2, column 1: not YAML"),
        ("a: \x07\n", "my.yaml: not YAML"),
        ("- 1\n", "my.yaml: line 1: the top has to be a mapping: '/**:'"),
        ("hello\n", "my.yaml: line 1: the top has to be a mapping: '/**:'"),
        ("scene: cube.xml\n", "my.yaml: line 1: 'scene' stands above the parameters"),
        ("/**:\n  scene: cube.xml\n", "my.yaml: line 2: 'scene' stands above the parameters"),
        (
            "/**:\n  ros__parameters:\n",
            "my.yaml: line 2: 'ros__parameters:' holds nothing; the parameters stand",
        ),
        ("/**: {ros_parameters: {scene: a}}\n", "'scene' stands below 'ros_parameters'; did you mean 'ros__"),
        ("/**: {ros_parameters: {skin: {kind: a}}}\n", "'kind' stands below 'ros_parameters'; did you mean"),
        ("ros__parameters: {scene: a}\n", "'ros__parameters:' needs a node's name above it"),
        (
            "",
            "my.yaml: holds no parameters for the node /tactile_sim, nothing at all; write them below '/**:'",
        ),
        ("other: {ros__parameters: {a: 1}}\n", "for the node /tactile_sim, only for 'other'"),
        (parameters("scene:"), "my.yaml: line 3: scene has no value"),
        (parameters("feelers: {}"), "my.yaml: feelers: rcl takes no empty mapping; leave the key out"),
        (parameters("a: []"), "my.yaml: line 3: a: rcl takes no empty list; leave the key out"),
        (parameters("a: [1, 2.5]"), "line 3: a: a list needs one type, but has 1 and 2.5"),
        (parameters("a: [{b: 1}]"), "line 3: a: a list can hold plain values only"),
        (parameters("a: &x 1", "b: *x"), "line 4: b: rcl takes no alias; write the value of *x out"),
        (parameters("a: 1", "b: 2", "a: 3"), "line 5: a is there twice"),
        (parameters("control: {left.elbow: {kp: 1}}"), "write 'control.left.elbow.KEY: VALUE'"),
        (parameters("? [a]", ": 1"), "my.yaml: line 3: a key has to be a word"),
        ("/**:\n  ros__parameters: " + "{a: " * 3000 + "1" + "}" * 3000, "my.yaml: is nested too deeply"),
    ],
)
def test_a_broken_file_is_refused_with_the_place_and_the_remedy(tmp_path, text, message):
    with pytest.raises(ConfigError) as error:
        read(tmp_path, text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_names_one_of_nearly_its_name(tmp_path):
    (tmp_path / "robot.yaml").touch()
    with pytest.raises(ConfigError, match="robt.yaml: no such file; did you mean 'robot.yaml'"):
        parameter_file.read(tmp_path / "robt.yaml", "robt.yaml")


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(ConfigError, match="is a folder, not a YAML file"):
        parameter_file.read(tmp_path, "here")
