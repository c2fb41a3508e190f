"""Tactile topics of real sensors."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from rclpy.node import Node

from tactile_sim.names import topic_token
from tactile_sim.ros.outlets import DEPTH, LATCHED
from tactile_sim.ros.topics import pads
from tactile_sim.simulation import Simulation

FRAME = "tactile/frame"


@dataclass
class _Readings:
    """The part of a `Snapshot` that the topics of a pad publish."""

    stamp: int
    taxels32: np.ndarray
    valid: np.ndarray


class HardwareTopics:
    """Publishes layouts, arrays and frames as the simulation does.

    Readings of pads that are lost, or that have no sensor, are NaN and invalid in ``tactile/frame``.
    """

    def __init__(self, node: Node, simulation: Simulation, driven: Collection[str], stamp: int):
        """Publish the layouts of all pads.

        Args:
            node: The node.
            simulation: The simulation whose skin the sensors replace.
            driven: Names of the pads that have a sensor.
            stamp: Time of the layouts [ns].
        """
        skin, topics = simulation.skin, {topic.name: topic for topic in pads.topics(simulation)}
        readings = np.zeros((len(skin.positions), simulation.functions.channels), np.float32)
        self._readings = _Readings(stamp, readings, np.zeros(len(readings), np.uint8))
        self._slices = {pad.name: slice(pad.start, pad.stop) for pad in skin.pads}
        self._channels = dict(zip(self._slices, simulation.functions.pad_channels, strict=True))
        self._frame = topics[FRAME], node.create_publisher(topics[FRAME].type, FRAME, DEPTH)
        self._arrays, self._layouts = {}, []
        for pad in skin.pads:
            self._set(pad.name, np.nan, stamp)
            place = f"tactile/{topic_token(pad.name)}"
            layout = topics[f"{place}/layout"]
            publisher = node.create_publisher(layout.type, layout.name, LATCHED)
            publisher.publish(layout.make(self._readings))
            self._layouts.append(publisher)
            if pad.name in driven:
                array = topics[f"{place}/array"]
                self._arrays[pad.name] = array, node.create_publisher(array.type, array.name, DEPTH)
        self._changed = False
        """Whether ``tactile/frame`` has not been published since the last readings."""

    def send(self, name: str, readings: np.ndarray, stamp: int) -> None:
        """Publish the readings (n, channels) of a pad at a time [ns], and store them for the next frame."""
        self._set(name, readings, stamp)
        topic, publisher = self._arrays[name]
        if publisher.get_subscription_count():
            publisher.publish(topic.make(self._readings))

    def invalidate(self, name: str, stamp: int) -> None:
        """Make the readings of a pad NaN and invalid from a time [ns] on."""
        self._set(name, np.nan, stamp)

    def _set(self, name: str, readings: np.ndarray | float, stamp: int) -> None:
        rows, stored = self._slices[name], self._readings
        own = stored.taxels32[rows, : self._channels[name]]
        own[:] = readings
        stored.valid[rows] = np.isfinite(own).all(axis=1)
        stored.stamp, self._changed = stamp, True

    def send_frame(self) -> None:
        """Publish ``tactile/frame`` if anything has changed."""
        changed, self._changed = self._changed, False
        topic, publisher = self._frame
        if changed and publisher.get_subscription_count():
            publisher.publish(topic.make(self._readings))
