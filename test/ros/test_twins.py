"""Warnings about other simulations in the ROS domain."""

from __future__ import annotations

import signal

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from rclpy.node import Node  # noqa: E402
from support.ros import wait_for  # noqa: E402

from tactile_sim.ros.node import TwinWatch  # noqa: E402


@pytest.fixture
def warnings_of(ros):
    """Return a function that starts nodes and returns the warnings of the first one.

    Each argument of that function is a node's namespace and clock rate [Hz].
    """
    nodes = []

    def start(*simulations: tuple[str, float]) -> list[str]:
        for namespace, rate in simulations:
            node = Node("tactile_sim", namespace=namespace, context=ros.node.context)
            node.declare_parameter("rates.clock", rate)
            ros.executor.add_node(node)
            nodes.append(node)
        first = nodes[0]
        wait_for(lambda: first.get_node_names().count("tactile_sim") == len(simulations), "discovery")
        warnings: list[str] = []
        watch = TwinWatch(first, warnings.append, interval=0.2)
        wait_for(lambda: warnings or watch.looks_left < 0, "the last query")
        return warnings

    yield start
    for node in nodes:
        ros.executor.remove_node(node)
        node.destroy_node()


@pytest.mark.parametrize(
    ("own", "other", "count"), [(100.0, 100.0, 1), (100.0, 0.0, 0), (0.0, 100.0, 0), (100.0, 50.0, 1)]
)
def test_warning_only_for_two_clock_publishers(warnings_of, own, other, count):
    warnings = warnings_of(("/left", own), ("/right", other))
    assert len(warnings) == count
    assert all("/right/tactile_sim" in line for line in warnings)


def test_warning_for_same_name_and_namespace(warnings_of):
    assert len(warnings_of(("/left", 0.0), ("/left", 0.0))) == 1


def test_nodes_warn_only_of_those_that_publish_the_clock_too(ros):
    def start(namespace, *parameters):
        rules = "--ros-args", "-r", f"__ns:=/{namespace}", *parameters
        return ros.start("run", "touch_cube", "--duration", "60", *rules)

    def warnings(process):
        return (line for line in process.stdout if "WARN" in line and "/clock" in line)

    # A node asks the others in the order of their namespaces, and warns once.
    silent = start("a_silent", "-p", "rates.clock:=0.0")
    left, right = start("left"), start("right")
    assert "/right/tactile_sim" in next(warnings(left))
    assert "/left/tactile_sim" in next(warnings(right))
    silent.send_signal(signal.SIGINT)
    assert not list(warnings(silent))
