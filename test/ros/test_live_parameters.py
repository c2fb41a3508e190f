"""Parameters of a running node, and the effect of ROS arguments at its start."""

from __future__ import annotations

import signal

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParameters  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from support.ros import PATIENCE, stamp, wait_for  # noqa: E402
from tactile_sim.msg import TactileArray, TactileFrame  # noqa: E402

from tactile_sim import bag  # noqa: E402


def set_parameter(ros, name, value):
    kind = {bool: "bool", int: "integer", float: "double", str: "string"}[type(value)]
    parameter = Parameter(
        name=name,
        value=ParameterValue(
            type=getattr(ParameterType, f"PARAMETER_{kind.upper()}"), **{f"{kind}_value": value}
        ),
    )
    return ros.call(SetParameters, "/tactile_sim/set_parameters", parameters=[parameter]).results[0]


def test_live_parameters_take_effect_and_others_are_rejected(ros, parameters):
    frames = ros.listen(TactileFrame, "tactile/frame")
    ros.run(**parameters)
    wait_for(lambda: frames)
    assert frames[-1].channels == 3
    assert set_parameter(ros, "skin.touch_function", "normal").successful
    wait_for(lambda: frames[-1].channels == 1 and frames[-1].quantity == "normal")
    assert set_parameter(ros, "rates.tactile", 50).successful  # an integer in place of a float
    wait_for(lambda: set(np.diff([stamp(frame) for frame in frames[-6:]])) == {20_000_000}, "50 Hz")
    for name, value, reason in (
        ("rates.tactile", -1.0, "rates.tactile"),
        ("rates.tactile", 501, "rates.tactile"),  # the physics takes 500 steps/s
        ("rates.tactile", 501.0, "rates.tactile"),
        ("skin.touch_function", "norml", "'normal'"),
        ("scene", "other.xml", ""),
        ("rates.tactle", 1.0, ""),
    ):
        result = set_parameter(ros, name, value)
        assert not result.successful
        assert reason in result.reason
    values = ros.call(GetParameters, "/tactile_sim/get_parameters", names=["rates.tactile", "engine"]).values
    assert (values[0].integer_value, values[1].string_value) == (50, "mujoco")


def test_parameter_switches_a_stage_and_is_recorded(ros, parameters):
    skin = parameters["skin"] | {"sensor": {"*": {"offset": {"value": 1.0}}}}
    frames = ros.listen(TactileFrame, "tactile/frame")
    process = ros.start("run", ros.config(**parameters | {"skin": skin}), "--record", "bag")
    wait_for(lambda: frames and set(frames[-1].data) == {1.0})  # nothing touches the arm
    name = "skin.sensor.*.offset.enabled"
    assert set_parameter(ros, name, False).successful
    wait_for(lambda: set(frames[-1].data) == {0.0})
    assert not set_parameter(ros, name, 1).successful
    assert set_parameter(ros, name, True).successful
    wait_for(lambda: set(frames[-1].data) == {1.0})
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0
    events = bag.read(ros.folder / "bag")["/parameter_events"].changed_parameters
    changes = [
        (changed, bool(value))
        for event in events
        for changed, value in zip(event.name, event.value.bool_value, strict=True)
    ]
    assert changes == [(name, False), (name, True)]


def test_parameter_descriptors_have_ranges_and_choices(ros, parameters):
    qos = {"/tactile/frame.publisher.reliability": "best_effort"}
    process = ros.run(**parameters, rates={"tactile": 1e4, "markers": 500.0}, qos_overrides=qos)
    [info] = ros.node.get_publishers_info_by_topic("/tactile/frame")
    assert info.qos_profile.reliability.name == "BEST_EFFORT"
    names = ["rates.tactile", "markers.force_scale", "seed", "engine"]
    rate, scale, seed, engine = ros.call(
        DescribeParameters, "/tactile_sim/describe_parameters", names=names
    ).descriptors
    assert all(described.description for described in (rate, scale, seed, engine))
    [span] = rate.floating_point_range
    assert (span.from_value, span.to_value) == (0.0, 500.0)
    assert scale.floating_point_range[0].from_value == 0.0
    [span] = seed.integer_range
    assert (span.from_value, span.to_value) == (0, 2**63 - 1)
    assert "trifinger" in engine.additional_constraints and engine.read_only
    values = ros.call(GetParameters, "/tactile_sim/get_parameters", names=["rates.tactile", "rates.markers"])
    assert [value.double_value for value in values.values] == [500.0, 500.0]
    warnings = [line for line in ros.output(process).splitlines() if "WARN" in line]
    assert ["rates.tactile" in line for line in warnings] == [True]


def test_namespace_applies_to_relative_topics(ros, parameters):
    process = ros.start("run", ros.config(**parameters), "--ros-args", "-r", "__ns:=/left")
    arrays = ros.listen(TactileArray, "/left/tactile/arm/array")
    clocks = ros.listen(Clock, "/clock")
    wait_for(lambda: arrays and clocks)
    assert ros.call(Trigger, "/left/tactile_sim/tare").success
    topics = {name for name, _ in ros.node.get_topic_names_and_types()}
    own = topics - {"/clock", "/tf", "/tf_static", "/diagnostics", "/rosout", "/parameter_events"}
    assert own and all(name.startswith("/left/") for name in own)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
