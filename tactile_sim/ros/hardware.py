"""The node for real sensors. It publishes the same message types as the simulation."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import Float32MultiArray
from std_srvs.srv import Trigger

from tactile_sim import config
from tactile_sim.common.errors import ConfigError, TactileSimError
from tactile_sim.common.processes import require_ros, split_ros_arguments
from tactile_sim.common.signals import Stopped, StopRequest
from tactile_sim.common.text import counted
from tactile_sim.hardware import PadInput, StreamError, pad_inputs
from tactile_sim.hardware.pad_input import TARE_SAMPLES
from tactile_sim.hardware.papillarray import PACKAGE, pillar_forces
from tactile_sim.hardware.xela import XelaClient, sensors_of, values_of
from tactile_sim.ros import cdr, parameters
from tactile_sim.ros.hardware_status import HardwareStatus
from tactile_sim.ros.hardware_topics import HardwareTopics
from tactile_sim.ros.node import start_node
from tactile_sim.simulation import Simulation

CHECK_EVERY = 0.05
"""Wall time between two checks for pads that receive no messages [s]."""
LOG_EVERY = 10.0
"""Minimum wall time between two logged warnings about malformed messages [s]."""


def run(config_file: str | Path | None, ros_args: list[str], stop: StopRequest) -> int:
    """Run the node until a signal arrives.

    Args:
        config_file: Path of a parameter file, or name of a shipped one. None if ``ros_args`` contains one.
        ros_args: Arguments after ``--ros-args``.
        stop: The active stop request of this process.

    Returns:
        The exit code.

    Raises:
        TactileSimError: The parameters or the scene are invalid.
    """
    arguments = list(ros_args)
    if config_file is not None:
        arguments = ["--params-file", str(config.find(config_file)), *arguments]
    with ExitStack() as stack:
        node = start_node(arguments, stack)
        settings = parameters.read_settings(node, arguments)
        hardware = Hardware(node, Simulation(settings))
        stack.callback(hardware.close)
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        stack.callback(executor.shutdown, timeout_sec=1.0)
        while not stop.requested:
            executor.spin_once(timeout_sec=0.1)
        node.get_logger().info(f"the node ends: {stop.reason}")
    return 0


class Hardware:
    """Receives messages from sensors and publishes the readings of the corresponding pads.

    A pad is lost if it gets no valid message within ``hardware.timeout`` or the connection ends. Its readings
    are then invalid, and ``/diagnostics`` reports an ERROR immediately.
    """

    def __init__(self, node: Node, simulation: Simulation):
        """Publish the layouts and start receiving messages.

        Args:
            node: Node that subscribes and publishes.
            simulation: Simulation whose skin defines the pads and whose settings contain ``hardware``.

        Raises:
            ConfigError: ``hardware`` is invalid or does not fit the skin, or a package is not installed.
        """
        settings = simulation.settings
        self._node, self._settings = node, settings.hardware
        self._clock = Clock(clock_type=ClockType.SYSTEM_TIME)
        self._inputs = pad_inputs(simulation)
        self._topics = HardwareTopics(node, simulation, list(self._inputs), self._clock.now().nanoseconds)
        self._last: dict[str, float] = {}
        """Time at which each pad last received a valid message [s of `time.monotonic`]."""
        self._status = HardwareStatus(node, self._settings.driver, self._inputs)
        self._client: XelaClient | None = None
        node.create_service(Trigger, "~/tare", self._tare)
        self._timer(settings.rates.tactile, self._topics.send_frame)
        self._timer(settings.rates.diagnostics, self._status.publish)
        self._timer(1 / CHECK_EVERY, self._check_timeouts)
        self._subscribe()
        taxels = sum(pad.taxels for pad in self._inputs.values())
        node.get_logger().info(
            f"{settings.title}: {counted(len(self._inputs), 'pad')} with {counted(taxels, 'taxel')} from "
            f"{self._settings.driver}"
        )

    def close(self) -> None:
        """Close the connection to the sensor server, if there is one."""
        if self._client:
            self._client.close()

    # -- sensors ---------------------------------------------------------------------------------------------

    def _subscribe(self) -> None:
        driver = self._settings.driver
        if driver == "xela":
            queue: SimpleQueue = SimpleQueue()
            awake = self._node.create_guard_condition(lambda: self._drain(queue))

            def post(handle: Callable[[Any], None], value: Any) -> None:
                queue.put((handle, value))
                awake.trigger()

            self._client = XelaClient(
                self._settings.address,
                lambda text: post(self._accept_xela, text),
                lambda reason: post(self._update_connection, reason),
            )
            return
        kind, values = Float32MultiArray, lambda message: message.data
        if driver == "papillarray":
            try:
                kind = import_module(f"{PACKAGE}.msg").SensorState
            except ImportError as error:
                raise ConfigError(
                    f"hardware.driver: the package {PACKAGE!r} is not installed ({error}); build "
                    "Contactile's ros2_contactile_sensors and source its setup.bash"
                ) from None
            values = pillar_forces
        self._subscriptions = [
            self._node.create_subscription(
                kind,
                str(pad.settings.topic),
                partial(self._accept_message, name, values),
                qos_profile_sensor_data,
            )
            for name, pad in self._inputs.items()
        ]

    def _drain(self, queue: SimpleQueue) -> None:
        while not queue.empty():
            handle, value = queue.get()
            handle(value)

    def _update_connection(self, reason: str) -> None:
        """Update the diagnostics after the connection was lost or established.

        Args:
            reason: Why there is no connection; empty if there is one.
        """
        self._status.connection = reason
        if reason:
            for name in self._inputs:
                self._lose(name, f"no connection to {self._settings.address}: {reason}")
            self._status.publish()

    def _accept_xela(self, text: str | bytes) -> None:
        try:
            entries = sensors_of(text)
        except StreamError as error:
            self._reject(str(error))
            return
        stamp = self._clock.now().nanoseconds
        for name, pad in self._inputs.items():
            number = pad.settings.sensor
            if number not in entries:
                continue
            try:
                raw, calibrated = values_of(entries[number])
                if calibrated is None and not pad.settings.raw:
                    raise StreamError(
                        "'calibrated' is missing; enable it in xServ.ini, or set raw, baseline and scale"
                    )
                self._accept(name, raw if pad.settings.raw else calibrated, stamp)
            except StreamError as error:
                self._reject(f"{name}: sensor {number}: {error}", pad)

    def _accept_message(self, name: str, values: Callable[[Any], Any], message: Any) -> None:
        header = getattr(message, "header", None)
        stamp = cdr.nanoseconds(header.stamp.sec, header.stamp.nanosec) if header else 0
        try:
            self._accept(name, values(message), int(stamp) or self._clock.now().nanoseconds)
        except StreamError as error:
            self._reject(f"{name}: {error}", self._inputs[name])

    def _accept(self, name: str, values: Any, stamp: int) -> None:
        """Convert the values in a message to readings of a pad and publish them with a stamp [ns].

        Raises:
            StreamError: The values are malformed, in which case nothing is published.
        """
        pad = self._inputs[name]
        readings = pad.readings(values)
        self._last[name] = time.monotonic()
        self._topics.send(name, readings, pad.forces, stamp)
        if self._status.lost[name]:
            self._status.lost[name] = ""
            self._node.get_logger().info(f"{name}: receives readings")
            self._status.publish()

    def _reject(self, error: str, pad: PadInput | None = None) -> None:
        """Count a malformed message, and log it at most every `LOG_EVERY` seconds."""
        self._status.reject(error)
        if pad:
            pad.reject(error)
        self._node.get_logger().warning(f"malformed message: {error}", throttle_duration_sec=LOG_EVERY)

    def _check_timeouts(self) -> None:
        """Invalidate the readings of pads whose last valid message is older than the timeout."""
        now, timeout, lost = time.monotonic(), self._settings.timeout, self._status.lost
        late = [name for name, last in self._last.items() if now - last > timeout and not lost[name]]
        for name in late:
            self._lose(name, f"no message for {timeout:g} s")
        if late:
            self._status.publish()

    def _lose(self, name: str, reason: str) -> None:
        """Invalidate the readings of a pad, and log the reason if it is new."""
        if self._status.lost[name] != reason:
            self._node.get_logger().error(f"{name}: {reason}")
        self._status.lost[name] = reason
        self._topics.invalidate(name, self._clock.now().nanoseconds)

    def _tare(self, request: Any, response: Any) -> Any:
        empty = [name for name, pad in self._inputs.items() if not pad.tare()]
        response.success = not empty
        response.message = (
            f"no message yet for {', '.join(empty)}"
            if empty
            else f"the mean of the last {TARE_SAMPLES} messages counts as zero"
        )
        return response

    def _timer(self, rate: float, call: Callable[[], None]) -> None:
        if rate:
            self._node.create_timer(1 / rate, call, clock=Clock(clock_type=ClockType.STEADY_TIME))


def main(arguments: list[str] | None = None) -> int:
    """Run the executable ``hardware``.

    Args:
        arguments: Arguments including ``--ros-args``; by default, the command line arguments of this process.

    Returns:
        The exit code.
    """
    ours, ros_arguments = split_ros_arguments(sys.argv[1:] if arguments is None else arguments)
    try:
        if ours:
            raise ConfigError(
                f"hardware: unknown argument {ours[0]!r}; usage: hardware --ros-args --params-file FILE"
            )
        require_ros("hardware")
        with StopRequest() as stop:
            return run(None, ros_arguments, stop)
    except TactileSimError as error:
        print(f"tactile_sim: error: {error}", file=sys.stderr)
        return 2
    except Stopped as stopped:
        return stopped.exit_code
