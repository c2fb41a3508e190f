"""The node ``tactile_sim``: a simulation, its topics, services and parameters."""

from __future__ import annotations

import argparse
import gc
import signal
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import rclpy
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from tactile_sim import config, kernel_cache
from tactile_sim.cli import split_ros_arguments
from tactile_sim.commands import counted, require_ros
from tactile_sim.commands.run import MATCHING_PATIENCE, RECORDED_DEPTH
from tactile_sim.config.parameter_file import read_sections
from tactile_sim.errors import ConfigError, TactileSimError
from tactile_sim.loop.runner import Runner
from tactile_sim.ros import bridges, parameters
from tactile_sim.ros.commands import Commands
from tactile_sim.ros.outlets import DEPTH
from tactile_sim.ros.publishers import Publishers
from tactile_sim.ros.requests import NodeRequests
from tactile_sim.ros.services import Services
from tactile_sim.ros.transport import roomy
from tactile_sim.simulation import Simulation
from tactile_sim.view import address
from tactile_sim.view.feed import ViewFeed

NAME = "tactile_sim"
FLUSH, FLUSH_RECORDED = 1.0, 10.0
"""What was sent may take so long to arrive [s of wall time] before the node ends: a bag misses nothing."""
DISCOVERY, LOOKS = 2.0, 5
"""After so long [s of wall time] the other nodes are known, on a busy machine after some times that."""


def run(
    config_file: str | Path | None,
    duration: float | None = None,
    ros_args: list[str] | None = None,
    depth: int = DEPTH,
    web: bool = False,
    recorded: float = 0.0,
    elsewhere: bool = False,
    start_clock: bool = False,
) -> int:
    """Run the node until it is told to stop; return the exit code.

    Args:
        config_file: shipped name or path of a parameter file; None where ``ros_args`` name one.
        duration: simulation time [s] after which the node ends by itself.
        ros_args: what follows ``--ros-args``.
        depth: how many messages of a topic wait for a listener who is late.
        web: whether to show it in the browser too.
        recorded: how long [s of wall time] to wait, before time runs, for a recorder to listen to all topics.
        elsewhere: whether the next free port will do where that of the view is taken.
        start_clock: whether the recorder waits for ``/clock`` before it subscribes.

    Raises:
        TactileSimError: the parameters or the scene cannot be used.
    """
    arguments = list(ros_args or [])
    if config_file is not None:
        arguments = ["--params-file", str(config.find(config_file)), *arguments]
    for file in parameters.parameter_files(arguments):
        # rcl says less of what is wrong with a file, and takes some wrong ones.
        read_sections(file, parameters.source_of(file))
    try:
        with roomy():
            rclpy.init(args=["--ros-args", *arguments], signal_handler_options=SignalHandlerOptions.NO)
            node = Node(NAME, automatically_declare_parameters_from_overrides=True)
    except (RuntimeError, ParameterException, ValueError) as error:
        raise ConfigError(f"ROS refuses the arguments: {_one_line(error)}") from None
    try:
        _spin(node, arguments, duration, depth, web, recorded, elsewhere, start_clock)
    finally:
        node.destroy_node()
        rclpy.shutdown()
    return 0


def _spin(
    node: Node,
    arguments: list[str],
    duration: float | None,
    depth: int,
    web: bool,
    recorded: float,
    elsewhere: bool,
    start_clock: bool,
) -> None:
    settings = parameters.read_settings(node, arguments)
    bridges.require(settings)
    if web:
        address.check(settings.web.host, 0 if elsewhere else settings.web.port)
    if node.get_parameter("use_sim_time").value:
        node.get_logger().warning("use_sim_time is ignored: this node makes the simulation time")
        node.set_parameters([Parameter("use_sim_time", value=False)])
    if kernel_cache.empty:
        node.get_logger().info(kernel_cache.PATIENCE_ASKED)
    simulation = Simulation(settings)
    publishers = Publishers(node, simulation, depth)
    feed = ViewFeed.open(simulation, settings.web.host, settings.web.port, elsewhere) if web else None
    runner = Runner(simulation, publishers)
    publishers.tell_of(runner)
    # Before anything answers: whoever gets an answer may end the node properly.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: runner.stop())
    Commands(node, runner)
    # The loop has this thread for itself; what ROS brings is put into its mailbox by others.
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    requests = NodeRequests(runner, node, executor)
    Services(node, requests)
    if find_spec("simulation_interfaces"):
        from tactile_sim.ros.simulation_interfaces import SimulationInterfaces  # which needs it

        SimulationInterfaces(node, runner, requests)
    _look_for_twins(node)
    parameters.offer(
        node,
        settings,
        1 / simulation.engine.timestep,
        lambda changed: runner.post(lambda: runner.update(changed)),
    )

    listener = threading.Thread(target=_listen, args=(executor,), daemon=True)
    listener.start()
    for line in simulation.engine.limits:
        node.get_logger().warning(f"engine {settings.engine!r}: {line}")
    taxels, bodies = len(simulation.skin.positions), len(simulation.skin.bodies)
    feelers = len(simulation.feelers.positions)
    node.get_logger().info(
        f"{settings.scene}: {counted(taxels, 'taxel')} on {counted(bodies, 'body', 'bodies')}, "
        + (f"{counted(feelers, 'feeler')}, " if feelers else "")
        + f"{1 / simulation.engine.timestep:g} steps/s"
    )
    if feed:
        feed.serve(runner, requests)
        node.get_logger().info(address.told(settings.web.host, feed.address))
    if recorded:
        node.get_logger().info("waiting until the recorder listens to every topic")
    all_recorded = not recorded or publishers.await_listeners(recorded, lambda: runner.stopping, start_clock)
    if not (all_recorded or runner.stopping):
        node.get_logger().warning(
            f"not every topic is recorded from the start: the recorder did not find all within {recorded:g} s"
        )
    # All that has been made by now stays; without it the collector of cycles has next to nothing to look at.
    gc.collect()
    gc.freeze()
    try:
        runner.run(duration)
    finally:
        if feed:
            feed.close()
        publishers.flush(FLUSH_RECORDED if recorded else FLUSH)
        executor.shutdown(timeout_sec=1.0)
        listener.join(timeout=1.0)


def _look_for_twins(node: Node) -> None:
    """Once the others are discovered, says so if one of them has this node's name and thus its topics."""
    left = LOOKS

    def look() -> None:
        nonlocal left
        left -= 1
        spaces = [space for name, space in node.get_node_names_and_namespaces() if name == node.get_name()]
        if spaces.count(node.get_namespace()) > 1:
            node.get_logger().warning(
                f"another {node.get_fully_qualified_name()} is in this ROS domain and sends the same topics: "
                "give one a namespace (--ros-args -r __ns:=/left) or another ROS_DOMAIN_ID"
            )
        elif len(spaces) > 1 and node.get_parameter("rates.clock").value:
            node.get_logger().warning(
                "another tactile_sim is in this ROS domain, and one alone should send /clock: start all "
                "others with rates.clock: 0.0, or with another ROS_DOMAIN_ID"
            )
        elif left:
            return
        timer.cancel()

    timer = node.create_timer(DISCOVERY, look, clock=Clock(clock_type=ClockType.STEADY_TIME))


def _listen(executor: SingleThreadedExecutor) -> None:
    try:
        executor.spin()
    except ExternalShutdownException:
        pass


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def main(arguments: list[str] | None = None) -> int:
    """Run the executable ``sim``, whose configuration comes as ROS arguments; return the exit code."""
    ours, ros_arguments = split_ros_arguments(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(ours)
    recording: dict[str, Any] = {}
    if options.recorded:
        recording = {"depth": RECORDED_DEPTH, "recorded": MATCHING_PATIENCE, "start_clock": True}
    try:
        require_ros("sim")
        return run(None, ros_args=ros_arguments, web=options.web, **recording)
    except TactileSimError as error:
        print(f"tactile_sim: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sim",
        usage="sim [-h] [--web] [--recorded] --ros-args --params-file FILE [...]",
        description="Run the ROS 2 node of tactile_sim.",
        epilog="The configuration is a ROS 2 parameter file; shipped ones are in share/tactile_sim/config.\n"
        "  ros2 run tactile_sim sim --ros-args --params-file my_robot.yaml -r __ns:=/left\n"
        "`tactile_sim run --help` and `ros2 launch tactile_sim sim.launch.py --show-args` offer more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--web", action="store_true", help="show the scene in a browser")
    parser.add_argument(
        "--recorded",
        action="store_true",
        help="wait until `ros2 bag record --all --use-sim-time` has subscribed to every topic",
    )
    return parser
