"""Topics that an engine declares, such as ``finger/applied_torque`` of the TriFinger."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import numpy as np

from tactile_sim.engines import EngineTopic
from tactile_sim.registry import engine_plugin
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, filled
from tactile_sim.simulation import Simulation


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield the topics that the engine's plug-in declares."""
    for topic in engine_plugin(simulation.settings.engine).topics(simulation.engine):
        yield _topic(topic)


def _topic(topic: EngineTopic) -> Topic:
    package, _, name = topic.type.split("/")
    message_type = getattr(import_module(f"{package}.msg"), name)
    types = message_type.get_fields_and_field_types()
    fields = {**topic.fields, topic.array: cdr.Payload()}
    if "header" in types:
        fields["header"] = {"stamp": cdr.STAMP, **fields.get("header", {})}
    element = types[topic.array].removeprefix("sequence<").removesuffix(">")
    dtype = np.dtype({"float": "f4", "double": "f8"}.get(element, element))
    return filled(
        topic.stream,
        message_type,
        topic.name,
        fields,
        lambda _: {"data": np.ascontiguousarray(topic.read(), dtype)},
    )
