"""All topics that show a simulation. Each module yields those of one kind; each topic is declared once."""

from __future__ import annotations

from collections.abc import Iterator

from tactile_sim.ros import bridges
from tactile_sim.ros.topic import Topic
from tactile_sim.ros.topics import (
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

KINDS = (pads, state, engine, feelers, images, bridges, sensors, markers, skin_markers, scene, transforms)
"""Modules with a function ``topics(simulation)``; topics of one stream are published in this order.

Transforms are last, because sensors add frames.
"""


def simulation_topics(simulation: Simulation) -> Iterator[Topic]:
    """Iterate over the topics of a simulation.

    Args:
        simulation: The simulation.

    Raises:
        ConfigError: A configured bridge cannot be offered.
    """
    for kind in KINDS:
        yield from kind.topics(simulation)
