"""The node for real sensors. It publishes the same message types as the simulation."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from queue import Queue
from typing import Any, NamedTuple

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import Float32MultiArray
from std_srvs.srv import Trigger

from tactile_sim import config
from tactile_sim.common.errors import ConfigError, TactileSimError
from tactile_sim.common.names import topic_token
from tactile_sim.common.processes import require_ros, split_ros_arguments
from tactile_sim.common.signals import Stopped, StopRequest
from tactile_sim.common.text import counted
from tactile_sim.ros import cdr, parameters
from tactile_sim.ros.node import start_node
from tactile_sim.ros.outlets import DEPTH, LATCHED
from tactile_sim.ros.pad_input import (
    PACKAGE,
    TARE_SAMPLES,
    MeasuredPad,
    PadInput,
    StreamError,
    XelaClient,
    pad_inputs,
    pillar_forces,
    sensors_of,
    values_of,
)
from tactile_sim.ros.topic import Topic
from tactile_sim.ros.topics.pads import pad_topics
from tactile_sim.simulation import Simulation

CHECK_EVERY = 0.05
"""Wall time between two checks for pads that receive no messages [s]."""
LOG_EVERY = 10.0
"""Minimum wall time between two logged warnings about malformed messages [s]."""
MAX_WAITING = 50
"""Number of waiting messages above which the client stops to receive, so that the server must wait."""
FRAME = "tactile/frame"
KINDS = ("array", "wrench", "state")
"""Topics of a pad that are published whenever its sensor sends a message."""


def run(config_file: str | Path | None, ros_args: list[str], stop: StopRequest) -> int:
    """Run the node until a signal arrives."""
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
            queue: Queue = Queue(MAX_WAITING)
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

    def _drain(self, queue: Queue) -> None:
        for _ in range(queue.qsize()):  # those that arrive meanwhile are read in the next call
            handle, value = queue.get()
            handle(value)

    def _update_connection(self, reason: str) -> None:
        """Update the diagnostics after the connection was lost or established."""
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
        """Convert the values in a message to readings of a pad and publish them with a stamp [ns]."""
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


class HardwareStatus:
    """Publishes the status of the message stream and of each pad.

    Attributes:
        lost: Why each pad's readings are invalid, keyed by pad name; an empty string if they are valid.
        connection: Why there is no connection to the sensor server; empty if there is one or none is needed.
    """

    def __init__(self, node: Node, driver: str, inputs: Mapping[str, PadInput]):
        self._node, self._driver, self._inputs = node, driver, inputs
        self._clock = Clock(clock_type=ClockType.SYSTEM_TIME)
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", DEPTH)
        self.lost = dict.fromkeys(inputs, "no message yet")
        self.connection = ""
        self._malformed, self._last_malformed = 0, ""
        self._reported_malformed = 0
        """Number of malformed messages when the status was last published."""

    def reject(self, error: str) -> None:
        """Count a malformed message and store its error for the next status."""
        self._malformed += 1
        self._last_malformed = error

    def publish(self) -> None:
        """Publish the status of the stream and of all pads.

        The stream's level is ERROR while a pad is lost. Otherwise, it is WARN if any message since the last
        status was malformed.
        """
        name = self._node.get_name()
        lost = [pad for pad, reason in self.lost.items() if reason]
        stream = DiagnosticStatus(name=f"{name}: hardware", hardware_id=self._driver)
        if lost:
            stream.level, stream.message = DiagnosticStatus.ERROR, f"no readings of {', '.join(lost)}"
        elif self._malformed > self._reported_malformed:
            stream.level, stream.message = DiagnosticStatus.WARN, f"malformed message: {self._last_malformed}"
        else:
            stream.level, stream.message = DiagnosticStatus.OK, "all pads receive readings"
        self._reported_malformed = self._malformed
        stream.values = _values(
            malformed=self._malformed, last_malformed=self._last_malformed, connection=self.connection
        )
        array = DiagnosticArray(status=[stream])
        array.header.stamp = self._clock.now().to_msg()
        for pad, reason in self.lost.items():
            status = DiagnosticStatus(name=f"{name}: {pad}", hardware_id=self._driver)
            status.level = DiagnosticStatus.ERROR if reason else DiagnosticStatus.OK
            status.message = reason or "receives readings"
            counts = self._inputs[pad]
            status.values = _values(
                received=counts.received, malformed=counts.malformed, last_malformed=counts.last_error
            )
            array.status.append(status)
        self._publisher.publish(array)


def _values(**values: Any) -> list[KeyValue]:
    return [KeyValue(key=key, value=str(value)) for key, value in values.items()]


@dataclass
class _Readings:
    """Substitute for a `Snapshot`, with the attributes from which a pad's messages are encoded."""

    stamp: int
    readings32: np.ndarray
    valid: np.ndarray
    wrenches: np.ndarray
    """Net force and torque of each pad (pads, 6), as in `Snapshot.wrenches` [N, N m]."""
    pad_table: tuple[np.ndarray, np.ndarray]


class _Driven(NamedTuple):
    """A pad that receives data from a real sensor."""

    measured: MeasuredPad
    pad: int
    """Index of the pad in ``skin.pads``."""
    row: int
    """Row in the tables of pad states, or -1 if the pad has no state."""
    publishers: list[tuple[Topic, Publisher]]


class HardwareTopics:
    """Publishes layouts, arrays, wrenches, states and frames in the same way as the simulation.

    In ``tactile/frame``, readings of pads that are lost or have no sensor are NaN and marked as invalid.
    """

    def __init__(self, node: Node, simulation: Simulation, driven: Collection[str], stamp: int):
        """Publish the layouts of all pads."""
        skin, topics = simulation.skin, {topic.name: topic for topic in pad_topics(simulation)}
        readings = np.zeros((len(skin.positions), simulation.functions.channels), np.float32)
        states = simulation.pad_states.pads
        self._readings = _Readings(
            stamp,
            readings,
            np.zeros(len(readings), np.uint8),
            np.zeros((len(skin.pads), 6)),
            (np.zeros((len(states), 2), np.int32), np.zeros((len(states), 19))),
        )
        self._slices = {pad.name: slice(pad.start, pad.stop) for pad in skin.pads}
        self._channels = dict(zip(self._slices, simulation.functions.pad_channels, strict=True))
        self._frame = topics[FRAME], node.create_publisher(topics[FRAME].type, FRAME, DEPTH)
        self._driven: dict[str, _Driven] = {}
        self._layouts = []
        for index, pad in enumerate(skin.pads):
            self._set(pad.name, np.nan, stamp)
            place = f"tactile/{topic_token(pad.name)}"
            layout = topics[f"{place}/layout"]
            publisher = node.create_publisher(layout.type, layout.name, LATCHED)
            publisher.publish(layout.make(self._readings))
            self._layouts.append(publisher)
            if pad.name in driven:
                own = [topics[f"{place}/{kind}"] for kind in KINDS if f"{place}/{kind}" in topics]
                publishers = [(topic, node.create_publisher(topic.type, topic.name, DEPTH)) for topic in own]
                row = states.index(index) if index in states else -1
                self._driven[pad.name] = _Driven(MeasuredPad(simulation, index), index, row, publishers)
        self._changed = False
        """True if readings have changed since the last call of `send_frame`."""

    def send(self, name: str, readings: np.ndarray, forces: np.ndarray, stamp: int) -> None:
        """Publish the messages of a pad, and store its readings for the next ``tactile/frame``.

        - ``readings``: (n, channels) readings in the unit of the pad's touch function.
        - ``forces``: (n, 3) force on each taxel along its first tangent, second tangent and inward normal
          [N].
        """
        self._set(name, readings, stamp)
        driven = self._driven[name]
        driven.measured.update(forces, stamp)
        self._readings.wrenches[driven.pad] = driven.measured.wrench
        if driven.measured.state:
            for all_rows, own in zip(self._readings.pad_table, driven.measured.state, strict=True):
                all_rows[driven.row] = own[0]
        for topic, publisher in driven.publishers:
            if publisher.get_subscription_count():
                publisher.publish(topic.make(self._readings))

    def invalidate(self, name: str, stamp: int) -> None:
        """Set the readings of a pad to NaN and mark them as invalid, for the next ``tactile/frame``."""
        self._set(name, np.nan, stamp)

    def _set(self, name: str, readings: np.ndarray | float, stamp: int) -> None:
        rows, stored = self._slices[name], self._readings
        own = stored.readings32[rows, : self._channels[name]]
        own[:] = readings
        stored.valid[rows] = np.isfinite(own).all(axis=1)
        stored.stamp, self._changed = stamp, True

    def send_frame(self) -> None:
        """Publish ``tactile/frame`` if any reading has changed since the last call."""
        changed, self._changed = self._changed, False
        topic, publisher = self._frame
        if changed and publisher.get_subscription_count():
            publisher.publish(topic.make(self._readings))


def main(arguments: list[str] | None = None) -> int:
    """Run the executable ``hardware``."""
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
