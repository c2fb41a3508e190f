"""Our loader and rcl read the same values from a parameter file."""

import math

import pytest

rclpy = pytest.importorskip("rclpy")

from tactile_sim import ConfigError, config  # noqa: E402
from tactile_sim.config import parameter_file  # noqa: E402

PLAIN = """
1 -1 +1 0 -0 +0 010 08 -08 0x10 -0x10 0x 0x.8 0x1p3 0x1p-1080 0x1p2000 0b11 0o17 1_000 1__0
9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 0xffffffffffffffff
1. .5 -.5 1e-2 1E3 1e5 1.5e+3 1e e5 1e400 1e308 1e-310 5e-324 0e999 2.2250738585072014e-308 1.5.0 0.1f
.inf -.inf +.inf .Inf -.INF inf -inf infinity INFINITY infinit .nan .NaN nan -nan NaN nan(1) nan() .iNf
yes no Yes NO on off On OFF y n Y N true false True FALSE tRuE yEs
null Null NULL ~ nil none
12:30 12:30:45 2024-01-01 a/b left.palm robot0:palm 1,000 1-2 é ١
""".split()
NASTY = """/**:
  ros__parameters:
    single: '1'
    double: "yes"
    empty: ""
    folded: >
      two
      lines
    literal: |-
      12
    literal_newline: |
      12
    tagged: !!str 12
    tagged_otherwise: !!float 12
    sentence: 1 2
    spaced: " 1"
    escaped: "a\\tb\\u00e9"
    lists: {integers: [1, 2], floats: [1e-2, 2.0], words: [a, "1"], flags: [yes, off], nulls: [null, ~]}
    skin: {scales: {left.palm: 1, "finger_*": .02, "robot0:palm": 1e-2, a/b: 3, "1": 4, no: 5, "a b": 6}}
    rates.tactile: 3
    control.left.elbow.kp: 4
    top.with.dot: {inner: 5, more: {deep: 6}, last: 7}
    after: 8
tactile_sim:
  ros__parameters: {after: 9, own: 1}
/*:
  ros__parameters: {one_level: true}
/ns/tactile_sim:
  ros__parameters: {not_ours: 1}
other:
  ros__parameters: {after: 10}
---
/**/tactile_sim:
  ros__parameters: {second_document: 1}
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Disable the discovery of other nodes."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF")


def read_by_rcl(file):
    context = rclpy.Context()
    rclpy.init(args=["--ros-args", "--params-file", str(file)], context=context)
    try:
        node = rclpy.create_node(
            "tactile_sim",
            context=context,
            automatically_declare_parameters_from_overrides=True,
            start_parameter_services=False,
        )
        values = {name: parameter.value for name, parameter in node.get_parameters_by_prefix("").items()}
        node.destroy_node()
    finally:
        context.shutdown()
    of_the_node = ("use_sim_time", "start_type_description_service")
    return {
        name: list(value) if hasattr(value, "tolist") else value
        for name, value in values.items()
        if name not in of_the_node
    }


def same(ours, theirs):
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, float) and math.isnan(ours):
        return isinstance(theirs, float) and math.isnan(theirs)
    # repr distinguishes -0.0 from 0.0.
    return type(ours) is type(theirs) and repr(ours) == repr(theirs)


@pytest.mark.parametrize("text", [
    "/**:\n  ros__parameters:\n" + "".join(f"    key{i}: {value}\n" for i, value in enumerate(PLAIN)),
    NASTY,
], ids=["plain scalars", "the rest of YAML"])  # fmt: skip
def test_loader_reads_same_values_as_rcl(tmp_path, text):
    file = tmp_path / "nasty.yaml"
    file.write_text(text, encoding="utf-8")
    ours, theirs = parameter_file.read(file, "nasty.yaml"), read_by_rcl(file)
    assert set(ours) == set(theirs)
    assert {name: (ours[name], theirs[name]) for name in ours if not same(ours[name], theirs[name])} == {}


def test_settings_from_rcl_values_equal_settings_from_file(tmp_path):
    file = tmp_path / "my.yaml"
    file.write_text("""/**:
  ros__parameters:
    scene: cube.xml
    engine: null
    real_time_factor: 2
    tf: off
    seed: 0x10
    frame_prefix: ""
    skin:
      touch_function: ~
      scales: {left.palm: 1e-2, "finger_*": 1, gone: null}
      sensor: {"f*": {noise: {std: 1}, dead_taxels: {taxels: [1, 2]}}, left.palm.delay.time: 1e-2}
    control: {elbow: {kp: 1, kd: .5}}
    motion: {keyframes: [home, "1"]}
    rates: {tactile: 1e2, tf: 0}
""")
    settings = config.load(file)
    assert settings == config.from_mapping(read_by_rcl(file), tmp_path, str(file))
    assert settings.skin.scales == {"left.palm": 0.01, "finger_*": 1.0, "gone": None}
    assert settings.skin.sensor == {
        "f*": {"noise": {"std": 1.0}, "dead_taxels": {"taxels": (1, 2)}},
        "left.palm": {"delay": {"time": 0.01}},
    }
    assert (settings.seed, settings.tf, settings.motion.keyframes) == (16, "off", ("home", "1"))


@pytest.mark.parametrize(
    "text",
    [
        "- 1\n",
        "scene: cube.xml\n",
        "/**:\n  ros__parameters:\n    a:\n",
        "/**:\n  ros__parameters:\n    a: {}\n    b: 1\n",
        "/**:\n  ros__parameters:\n    a: [1, 2.5]\n",
        "/**:\n  ros__parameters:\n    a: &x 1\n    b: *x\n",
        "/**:\n  ros__parameters:\n    a: [1\n",
        "ros__parameters: {a: 1}\n",
    ],
)
def test_loader_rejects_what_rcl_rejects(tmp_path, text):
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(Exception, match="params file"):
        read_by_rcl(file)
    with pytest.raises(ConfigError):
        parameter_file.read(file, "bad.yaml")
