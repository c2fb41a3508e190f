"""Publish the tactile topics for real sensors."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher

from tactile_sim.common.names import topic_token
from tactile_sim.hardware.measured_pad import MeasuredPad
from tactile_sim.ros.outlets import DEPTH, LATCHED
from tactile_sim.ros.topic import Topic
from tactile_sim.ros.topics import pads
from tactile_sim.simulation import Simulation

FRAME = "tactile/frame"
KINDS = ("array", "wrench", "state")
"""Topics of a pad that are published whenever its sensor sends a message."""


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
        """Publish the layouts of all pads.

        Args:
            node: Node that publishes.
            simulation: Simulation whose skin defines the pads.
            driven: Names of the pads that have a real sensor.
            stamp: Stamp of the layouts [ns].
        """
        skin, topics = simulation.skin, {topic.name: topic for topic in pads.topics(simulation)}
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

        Args:
            name: Name of the pad.
            readings: (n, channels) readings in the unit of the pad's touch function.
            forces: (n, 3) force on each taxel along its first tangent, second tangent and inward normal [N].
            stamp: Time at which the readings were measured [ns].
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
        """Set the readings of a pad to NaN and mark them as invalid, for the next ``tactile/frame``.

        Args:
            name: Name of the pad.
            stamp: Time of the change [ns].
        """
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
