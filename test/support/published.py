"""Encode the messages of a simulation in this process, without a node."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tactile_sim.ros import cdr
from tactile_sim.ros.topics import simulation_topics
from tactile_sim.simulation import Simulation


def published(
    simulation: Simulation, names: Collection[str], steps: int, every: int = 1
) -> dict[str, dict[int, Any]]:
    """Step a simulation and return the decoded messages of some topics, by topic and stamp [ns].

    Messages are encoded at the current state and after every ``every`` steps.
    """
    topics = {topic.name: topic for topic in simulation_topics(simulation) if topic.name in names}
    found: dict[str, dict[int, Any]] = {name: {} for name in names}
    for step in range(0, steps + 1, every):
        simulation.step(every if step else 0)
        snapshot = simulation.observe()
        for name, topic in topics.items():
            found[name][snapshot.stamp] = cdr.decode(topic.type, topic.make(snapshot))
    return found
