"""Declarations of all topics that publish the state of a simulation, one module per kind of topic."""

from __future__ import annotations

from collections.abc import Iterator

from tactile_sim.ros import bridges
from tactile_sim.ros.topic import Topic
from tactile_sim.ros.topics import (
    cameras,
    engine,
    feelers,
    images,
    markers,
    pads,
    scene,
    sensors,
    skin_markers,
    state,
    transforms,
)
from tactile_sim.simulation import Simulation

KINDS = (
    pads,
    state,
    engine,
    feelers,
    images,
    cameras,
    bridges,
    sensors,
    markers,
    skin_markers,
    scene,
    transforms,
)
"""Modules with a function ``topics(simulation)``. The topics of a stream are published in this order.

`transforms` is last, because `sensors` adds frames to ``simulation.sensor_frames``.
"""


def simulation_topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield all topics of a simulation.

    Raises:
        ConfigError: The package of a configured bridge is not installed.
    """
    for kind in KINDS:
        yield from kind.topics(simulation)
