"""Combine messages into frames with the readings of all taxels of a robot at one time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from tactile_sim.analysis.robots import Robot
from tactile_sim.bag.messages import Message

PATIENCE = 100
"""Maximum number of incomplete frames that wait for missing arrays. The oldest is dropped first."""


class Frame(NamedTuple):
    """Readings of all taxels of a robot at one time."""

    stamp: int
    """Time of the readings [ns]."""
    layout_id: int
    quantities: tuple[str, ...]
    """Name of the touch function of each pad."""
    units: tuple[str, ...]
    """Unit of each pad's readings."""
    bodies: tuple[str, ...]
    """Name of each pad, or of its body in old bags without pad names."""
    counts: np.ndarray
    """Number of taxels on each of the b pads (b,)."""
    readings: np.ndarray
    """Readings of all taxels (taxels, channels), grouped by pad."""


class PadReadings(NamedTuple):
    """Readings of one pad at one time."""

    readings: np.ndarray
    """Readings of the pad's taxels (taxels, channels), in ``unit``."""
    valid: np.ndarray
    """(taxels,) bool, False for taxels whose reading must not be used."""
    quantity: str
    unit: str


class Frames(Protocol):
    """Interface of objects that turn the messages on ``topics`` into frames."""

    @property
    def topics(self) -> Collection[str]: ...

    def of(self, message: Message) -> Iterator[Frame]:
        """Process a message, and yield the frame that it contains or completes, if any."""


class Arrays:
    """Combines the TactileArray messages that have the same stamp, one per topic, into a frame."""

    def __init__(self, topics: Collection[str]) -> None:
        self.topics = topics
        self._waiting: dict[int, dict[str, Any]] = {}

    def of(self, message: Message) -> Iterator[Frame]:
        arrays = self._waiting.setdefault(message.stamp, {})
        arrays[message.topic] = message.value
        if len(arrays) == len(self.topics):
            del self._waiting[message.stamp]
            parts = [arrays[topic] for topic in sorted(arrays)]
            readings = [readings_of(part) for part in parts]
            most = max(part.shape[1] for part in readings)
            yield Frame(
                message.stamp,
                parts[0].layout_id,
                tuple(part.quantity for part in parts),
                tuple(part.unit for part in parts),
                tuple(pad_of(part) for part in parts),
                np.array([part.taxel_count for part in parts]),
                np.concatenate([np.pad(part, ((0, 0), (0, most - part.shape[1]))) for part in readings]),
            )
        elif len(self._waiting) > PATIENCE:
            del self._waiting[min(self._waiting)]


class FrameTopic:
    """Reads frames from the messages on the topic ``tactile/frame``."""

    def __init__(self, topic: str) -> None:
        self.topics = {topic}

    def of(self, message: Message) -> Iterator[Frame]:
        value = message.value
        readings = readings_of(value)
        bodies, counts = pads_of(value), np.asarray(value.taxel_counts, np.int64)
        yield Frame(message.stamp, value.layout_id, *quantities_of(value), bodies, counts, readings)


def frames_of_skin(robot: Robot) -> Frames:
    """Return the source of a robot's frames: ``tactile/frame`` if recorded, or else the bodies' arrays."""
    return FrameTopic(robot.frame) if robot.frame else Arrays(robot.arrays)


def pad_of(value: Any) -> str:
    """Return the pad name in an array or layout message, or the body name in old messages without pads."""
    return getattr(value, "pad", "") or value.body


def pads_of(value: Any) -> tuple[str, ...]:
    """Return the pad names in a TactileFrame, or the body names in old messages without pads."""
    return tuple(getattr(value, "pads", ()) or value.bodies)


def quantities_of(value: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the measured quantity and the unit of each pad in a TactileFrame.

    Messages from old bags have a single quantity and unit, which are then returned for every pad.
    """
    count = len(pads_of(value))
    quantities, units = tuple(getattr(value, "quantities", ())), tuple(getattr(value, "units", ()))
    return (
        quantities if len(quantities) == count else (value.quantity,) * count,
        units if len(units) == count else (value.unit,) * count,
    )


def by_pad(value: Any) -> dict[str, PadReadings]:
    """Return the readings in a message, keyed by pad name.

    Args:
        value: A decoded TactileArray or TactileFrame; older versions of these messages are supported.
    """
    readings = readings_of(value)
    valid = np.asarray(getattr(value, "valid", ()), bool)
    if len(valid) != len(readings):
        valid = np.ones(len(readings), bool)
    if not hasattr(value, "taxel_counts"):
        return {pad_of(value): PadReadings(readings, valid, value.quantity, value.unit)}
    pads, stops = pads_of(value), np.cumsum(value.taxel_counts, dtype=np.int64)
    quantities, units = quantities_of(value)
    own = getattr(value, "pad_channels", ())
    channels = own if len(own) else [readings.shape[1]] * len(pads)
    return {
        pad: PadReadings(readings[stop - count : stop, :width], valid[stop - count : stop], quantity, unit)
        for pad, stop, count, width, quantity, unit in zip(
            pads, stops, value.taxel_counts, channels, quantities, units, strict=False
        )
    }


def readings_of(value: Any) -> np.ndarray:
    """Return the readings (taxels, channels) in a message; empty if the message is inconsistent."""
    if value.channels == 0 or len(value.data) % value.channels:
        return np.zeros((0, max(1, value.channels)), np.float32)
    return np.asarray(value.data.reshape(-1, value.channels))


def finite(readings: np.ndarray) -> np.ndarray:
    """Convert readings to float64, and replace NaN and infinity with 0."""
    return np.nan_to_num(readings.astype(np.float64), posinf=0.0, neginf=0.0)
