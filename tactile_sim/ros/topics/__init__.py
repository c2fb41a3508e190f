"""Declarations of all topics that publish the state of a simulation, one module per kind of topic."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

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
)
"""Modules with a function ``topics(simulation)``. The topics of a stream are published in this order."""


def simulation_topics(
    simulation: Simulation, bodies: Callable[[], np.ndarray | None] = lambda: None
) -> Iterator[Topic]:
    """Yield all topics of a simulation."""
    for kind in KINDS:
        yield from kind.topics(simulation)
    yield from transforms.topics(simulation, bodies)  # after `sensors`, which adds sensor frames
