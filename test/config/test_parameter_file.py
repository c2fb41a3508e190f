"""Test parameter files without ROS; ros/test_config_equals_rcl.py compares the results with rcl."""

import math

import pytest
import yaml
from support.errors import raises

from tactile_sim import ConfigError, config
from tactile_sim.common.files import shipped_names
from tactile_sim.config import parameter_file
from tactile_sim.config.settings import KEYS, RECORDS, TABLES


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
def test_plain_scalar_is_converted_as_in_rcl(tmp_path, text, value):
    read_value = read(tmp_path, parameters(f"key: {text}"))["key"]
    assert read_value == value
    assert type(read_value) is type(value)


def test_nan_is_a_number(tmp_path):
    assert math.isnan(read(tmp_path, parameters("key: .nan"))["key"])


def test_quoted_scalar_is_text(tmp_path):
    assert read(tmp_path, parameters("""a: '1'""", '''b: "yes"''', "c: !!str 2")) == {
        "a": "1",
        "b": "yes",
        "c": "2",
    }


def test_names_can_have_dots_slashes_and_colons(tmp_path):
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
def test_section_applies_to_nodes_that_match_its_name(tmp_path, section, node, applies):
    text = f"{section}:\n  ros__parameters: {{key: 1}}\n/**:\n  ros__parameters: {{other: 2}}\n"
    assert ("key" in read(tmp_path, text, node)) is applies


def test_later_section_has_precedence(tmp_path):
    text = "tactile_sim:\n  ros__parameters: {a: 1}\n/**:\n  ros__parameters: {a: 2}\n"
    assert read(tmp_path, text) == {"a": 2}


def test_namespace_can_be_a_separate_level(tmp_path):
    text = "ns:\n  tactile_sim:\n    ros__parameters: {a: 1}\n"
    assert read(tmp_path, text, "/ns/tactile_sim") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (b"/**:\n  ros__parameters:\n    scene: \xe9\n", ["line 3", "UTF-8"]),
        ("/**:\n  ros__parameters:\n    scene: [a\n", ["line 4, column 1"]),
        ("/**:\n\tros__parameters:\n", ["line 2, column 1", "spaces"]),
        (parameters("scales: {*_tip: 0.004}"), ["line 3", "'*_tip'"]),
        (parameters("scales: {tip: 0,004}"), ["line 3", "scales.004", "point"]),
        ("a: \x07\n", ["YAML"]),
        ("- 1\n", ["line 1", "'/**:'"]),
        ("hello\n", ["line 1", "'/**:'", "'hello'"]),
        ("scene: cube.xml\n", ["line 1", "'scene'", "'/**:'"]),
        ("/**:\n  scene: cube.xml\n", ["line 2", "'scene'", "'ros__parameters:'"]),
        ("/**:\n  ros__parameters:\n", ["line 2", "'ros__parameters:'"]),
        ("/**: {ros_parameters: {scene: a}}\n", ["'scene'", "'ros_parameters'", "'ros__parameters'"]),
        ("/**: {ros_parameters: {skin: {kind: a}}}\n", ["'kind'", "'ros__parameters'"]),
        ("ros__parameters: {scene: a}\n", ["'ros__parameters:'", "'/**:'"]),
        ("", ["/tactile_sim", "'/**:'"]),
        ("other: {ros__parameters: {a: 1}}\n", ["/tactile_sim", "'other'"]),
        (parameters("scene:"), ["line 3", "scene"]),
        (parameters("feelers: {}"), ["feelers: "]),
        (parameters("a: []"), ["line 3: a: "]),
        (parameters("a: [1, 2.5]"), ["line 3: a: ", "1 and 2.5", "point"]),
        (parameters("a: [{b: 1}]"), ["line 3: a: "]),
        (parameters("a: &x 1", "b: *x"), ["line 4: b: ", "*x"]),
        (parameters("a: 1", "b: 2", "a: 3"), ["line 5: a "]),
        (parameters("control: {left.elbow: {kp: 1}}"), ["'control.left.elbow.KEY: VALUE'"]),
        (parameters("? [a]", ": 1"), ["line 3"]),
        ("/**:\n  ros__parameters: " + "{a: " * 3000 + "1" + "}" * 3000, ["nested"]),
    ],
)
def test_invalid_file_is_rejected_with_the_line_and_the_key(tmp_path, text, facts):
    with raises(ConfigError, "my.yaml: ", *facts):
        read(tmp_path, text)


def test_missing_file_suggests_a_similar_name(tmp_path):
    (tmp_path / "robot.yaml").touch()
    with raises(ConfigError, "robt.yaml", "'robot.yaml'"):
        parameter_file.read(tmp_path / "robt.yaml", "robt.yaml")


def test_folder_is_rejected(tmp_path):
    with raises(ConfigError, "here", "folder"):
        parameter_file.read(tmp_path, "here")


def test_no_key_is_anything_but_text_in_yaml_1_1():
    leaves = [leaf for checks in RECORDS.values() for leaf in checks]
    keys = {part for name in [*KEYS, *TABLES, *RECORDS, *leaves] for part in name.split(".")}
    assert [key for key in keys if not isinstance(yaml.safe_load(key), str)] == []


@pytest.mark.parametrize("name", shipped_names("config"))
def test_shipped_configurations_survive_pyyaml(tmp_path, name):
    file = config.find(name)
    copy = tmp_path / file.name
    copy.write_text(yaml.safe_dump(yaml.safe_load(file.read_text())))
    read = parameter_file.read(copy, name)
    assert config.from_mapping(read, file.parent, str(file)) == config.load(name)
