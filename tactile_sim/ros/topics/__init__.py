"""Declarations of all topics that publish the state of a simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tactile_sim.ros import bridges
from tactile_sim.ros.topic import Topic
from tactile_sim.ros.topics.images import camera_topics, image_topics
from tactile_sim.ros.topics.markers import marker_topics, scene_topics, skin_marker_topics
from tactile_sim.ros.topics.pads import feeler_topics, pad_topics
from tactile_sim.ros.topics.sensors import sensor_topics
from tactile_sim.ros.topics.state import engine_topics, frame_topics, state_topics
from tactile_sim.simulation import Simulation

KINDS: tuple[Callable[[Simulation], Iterator[Topic]], ...] = (
    pad_topics,
    state_topics,
    engine_topics,
    feeler_topics,
    image_topics,
    camera_topics,
    bridges.topics,
    sensor_topics,
    marker_topics,
    skin_marker_topics,
    scene_topics,
)
"""Functions that yield the topics of each kind. The topics of a stream are published in this order."""


def simulation_topics(
    simulation: Simulation, bodies: Callable[[], np.ndarray | None] = lambda: None
) -> Iterator[Topic]:
    """Yield all topics of a simulation.

    ``bodies`` returns the ids of the bodies in the next message on ``/tf``; None for all moving bodies.

    Raises:
        ConfigError: The package of a configured bridge is not installed.
    """
    for topics in KINDS:
        yield from topics(simulation)
    yield from frame_topics(simulation, bodies)  # after the sensors, which add frames
