"""The node ``tactile_sim``, which runs a simulation and offers its topics, services and parameters."""

from __future__ import annotations

import argparse
import gc
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from std_msgs.msg import String

from tactile_sim import config
from tactile_sim.bag.messages import VIEW_TOPIC
from tactile_sim.common.errors import ConfigError, TactileSimError
from tactile_sim.common.processes import require_ros, split_ros_arguments
from tactile_sim.common.signals import Stopped, StopRequest
from tactile_sim.common.text import counted
from tactile_sim.config.parameter_file import read_sections
from tactile_sim.ros import bridges, parameters
from tactile_sim.ros.bag_output import BagOutput
from tactile_sim.ros.commands import Commands
from tactile_sim.ros.outlets import LATCHED
from tactile_sim.ros.publishers import Publishers
from tactile_sim.ros.recorder_process import (
    ROSBAG2_NODE,
    RecorderProcess,
    await_recorder,
    flush,
    write_qos_overrides,
)
from tactile_sim.ros.services import offer_actions
from tactile_sim.ros.transport import large_fastdds_buffers
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.runner import Runner
from tactile_sim.view.address import Endpoint, announcement
from tactile_sim.view.publisher import ViewPublisher

NAME = "tactile_sim"


def run(
    config_file: str | Path | None,
    duration: float | None,
    ros_args: list[str],
    stop: StopRequest,
    *,
    recorder: RecorderProcess | None = None,
    web: bool = False,
    allow_other_port: bool = False,
    rosbag2_qos: Path | None = None,
    out: Path | None = None,
) -> int:
    """Run the node until a signal arrives or the duration has elapsed."""
    gc.freeze()  # exclude the objects of modules, which would slow down the collection below by 0.2 s
    arguments = list(ros_args)
    if config_file is not None:
        arguments = ["--params-file", str(config.find(config_file)), *arguments]
    recording = rosbag2_qos is not None or recorder is not None
    with ExitStack() as stack:
        node = start_node(arguments, stack)
        stop.check()
        settings = parameters.read_settings(node, arguments)
        bridges.require(settings)
        endpoint = Endpoint(settings.web.host, settings.web.port, settings.web.token, allow_other_port)
        if web:
            endpoint.check()
        folder = endpoint.output_folder(out, "--web-out") if web else None
        if node.get_parameter("use_sim_time").value:
            node.get_logger().warning("use_sim_time is ignored: this node publishes the simulation time")
            node.set_parameters([Parameter("use_sim_time", value=False)])
        simulation = Simulation(settings)
        stop.check()
        cameras = simulation.open_cameras()
        if cameras:
            stack.callback(cameras.close)
        publishers = Publishers(node, simulation, recording, cameras)
        stack.callback(publishers.outlets.close)
        if rosbag2_qos:
            write_qos_overrides(rosbag2_qos, publishers.outlets.profiles())
        view = None
        if web:
            view = ViewPublisher.open(simulation, endpoint, folder)
            stack.callback(view.close)
        runner = Runner(simulation, publishers)
        if folder:
            stack.callback(BagOutput(runner, folder, node.resolve_topic_name, cameras).close)
        publishers.set_runner(runner)
        if cameras:
            cameras.on_lost = lambda reason: runner.post(lambda: publishers.warn(reason))
        # Before services start, so that their clients can end the node cleanly.
        stop.call(lambda: runner.stop(stop.reason))
        _serve(node, runner, stack)
        _log_summary(node, simulation)
        if view:
            publish_live_view(node, runner)
            view.serve(runner)
            node.get_logger().info(announcement(endpoint.host, view.url))
        if recording:
            await_recorder(recorder, publishers, node, stop)
        if recorder:
            recorder.watch(
                lambda fault: runner.post(lambda: publishers.lose_recorder(fault, simulation.stamp))
            )
        # Exclude all existing objects from garbage collection; they live as long as the node.
        gc.collect()
        gc.freeze()
        runner.run(duration)
        if runner.end_reason:
            node.get_logger().info(f"the node ends: {runner.end_reason}")
        flush(recorder, publishers, node, recording)
        if loss := publishers.loss():
            node.get_logger().warning(loss)
    return 2 if publishers.recorder_fault or (duration is not None and runner.fault) else 0


def start_node(arguments: list[str], stack: ExitStack) -> Node:
    """Start ROS and create the node; the exit stack shuts both down."""
    for file in parameters.parameter_files(arguments):
        # Check them first, because rcl accepts some invalid files and its errors have less detail.
        read_sections(file, parameters.source_of(file))
    try:
        with large_fastdds_buffers():
            rclpy.init(args=["--ros-args", *arguments], signal_handler_options=SignalHandlerOptions.NO)
            stack.callback(rclpy.shutdown)
            node = Node(NAME, automatically_declare_parameters_from_overrides=True)
    except (RuntimeError, ParameterException, ValueError) as error:
        raise ConfigError(f"--ros-args: rejected by ROS: {_one_line(error)}") from None
    stack.callback(node.destroy_node)
    return node


def _serve(node: Node, runner: Runner, stack: ExitStack) -> None:
    """Serve commands, service calls and parameter changes in a thread until the exit stack is closed."""
    Commands(node, runner)
    # The loop runs in this thread. Another thread receives from ROS and posts to the loop's mailbox.
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    runner.set_parameter = parameters.setter(node, executor)
    offer_actions(node, runner)
    if find_spec("simulation_interfaces"):
        from tactile_sim.ros.simulation_interfaces import SimulationInterfaces  # requires the package

        SimulationInterfaces(node, runner)
    if find_spec("control_msgs") and find_spec("trajectory_msgs"):
        from tactile_sim.ros.actions import (
            FollowTrajectory,  # requires the packages
            offer_grippers,
        )

        FollowTrajectory(node, runner, executor)
        offer_grippers(node, runner, executor)
    TwinWatch(node, node.get_logger().warning)
    parameters.offer(
        node,
        runner.simulation.settings,
        1 / runner.simulation.engine.timestep,
        lambda changed: runner.post(lambda: runner.update(changed)),
    )
    listener = threading.Thread(target=_spin, args=(executor,), daemon=True)
    listener.start()
    stack.callback(listener.join, timeout=1.0)
    stack.callback(executor.shutdown, timeout_sec=1.0)


def _log_summary(node: Node, simulation: Simulation) -> None:
    """Log the size and initial state of the simulation and what its engine does not support."""
    settings = simulation.settings
    for line in simulation.engine.unsupported:
        node.get_logger().warning(f"engine {settings.engine!r}: {line}")
    taxels, bodies = len(simulation.skin.positions), len({pad.body_id for pad in simulation.skin.pads})
    feelers = len(simulation.feelers.positions)
    node.get_logger().info(
        f"{settings.title}: {counted(taxels, 'taxel')} on {counted(bodies, 'body', 'bodies')}, "
        + (f"{counted(feelers, 'feeler')}, " if feelers else "")
        + f"{1 / simulation.engine.timestep:g} steps/s"
        + ("; paused until ~/pause or ~/step" if settings.start_paused else "")
    )


def _spin(executor: SingleThreadedExecutor) -> None:
    try:
        executor.spin()
    except ExternalShutdownException:
        pass


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def main(arguments: list[str] | None = None) -> int:
    """Run the executable ``sim``."""
    ours, ros_arguments = split_ros_arguments(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(ours)
    try:
        require_ros("sim")
        with StopRequest() as stop:
            return run(None, None, ros_arguments, stop, web=options.web, rosbag2_qos=options.recorded)
    except TactileSimError as error:
        print(f"tactile_sim: error: {error}", file=sys.stderr)
        return 2
    except Stopped as stopped:
        return stopped.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sim",
        usage="sim [-h] [--web] [--recorded FILE] --ros-args --params-file FILE [...]",
        description="Run the ROS 2 node of tactile_sim.",
        epilog="The configuration is a ROS 2 parameter file; shipped ones are in share/tactile_sim/config.\n"
        "  ros2 run tactile_sim sim --ros-args --params-file my_robot.yaml -r __ns:=/left\n"
        "`tactile_sim run --help` and `ros2 launch tactile_sim sim.launch.py --show-args` offer more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--web", action="store_true", help="show the scene in a browser")
    parser.add_argument(
        "--recorded",
        type=Path,
        metavar="FILE",
        help="write FILE for `ros2 bag record --all --use-sim-time --qos-profile-overrides-path FILE`, and "
        f"wait until this recorder (node {ROSBAG2_NODE}) has subscribed to every topic",
    )
    return parser


def publish_live_view(node: Node, runner: Runner) -> None:
    """Publish the view on `VIEW_TOPIC` whenever a user changes it."""
    publisher = node.create_publisher(String, VIEW_TOPIC, LATCHED)
    runner.on_view.append(lambda view: publisher.publish(String(data=view)))


INTERVAL, LOOKS = 2.0, 5
"""Interval between two queries for other nodes [s of wall time], and number of queries.

Several queries are needed because discovery is slow on a busy machine.
"""
CLOCK = "rates.clock"


class TwinWatch:
    """Warns once if another node with the same name publishes the same topics or ``/clock``.

    A node in the same namespace publishes the same topics. A node in another namespace conflicts only if
    ``rates.clock`` is above 0 in both nodes.
    """

    def __init__(self, node: Node, warn: Callable[[str], object], interval: float = INTERVAL):
        """Start a timer that looks for other nodes in the ROS graph."""
        self._node, self._warn = node, warn
        self.looks_left = LOOKS
        self._clients: dict[str, Client] = {}
        """Clients of the parameter services of other nodes, by namespace."""
        self._asked: set[str] = set()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(interval, self._look, clock=steady)

    def _look(self) -> None:
        node = self._node
        spaces = [space for name, space in node.get_node_names_and_namespaces() if name == node.get_name()]
        if spaces.count(node.get_namespace()) > 1:
            self._end(
                f"another {node.get_fully_qualified_name()} is in this ROS domain and publishes the same "
                "topics: give one a namespace (--ros-args -r __ns:=/left) or another ROS_DOMAIN_ID"
            )
        elif self.looks_left == 0:
            self._end()
        elif node.get_parameter(CLOCK).value:
            for space in sorted({*spaces} - {node.get_namespace()}):
                self._ask(space)
        self.looks_left -= 1

    def _ask(self, space: str) -> None:
        """Request the parameter ``rates.clock`` of another node once its parameter service is found."""
        twin = f"{space.rstrip('/')}/{self._node.get_name()}"
        if space not in self._clients:
            self._clients[space] = self._node.create_client(GetParameters, f"{twin}/get_parameters")
        if space in self._asked or not self._clients[space].service_is_ready():
            return
        self._asked.add(space)

        def answered(future: Future) -> None:
            if any(parameter_value_to_python(value) for value in future.result().values):
                self._end(
                    f"{twin} is in this ROS domain and publishes /clock, too; only one node should: start "
                    f"all others with {CLOCK}: 0.0, or with another ROS_DOMAIN_ID"
                )

        request = GetParameters.Request(names=[CLOCK])
        self._clients[space].call_async(request).add_done_callback(answered)

    def _end(self, warning: str = "") -> None:
        """Stop the queries, and log the warning if it is not empty."""
        if self._timer.is_canceled():
            return
        self._timer.cancel()
        for client in self._clients.values():
            self._node.destroy_client(client)
        if warning:
            self._warn(warning)
