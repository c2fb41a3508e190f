"""Topics that an engine declares, such as ``finger/applied_torque`` of the TriFinger."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import numpy as np

from tactile_sim.engines import EngineTopic
from tactile_sim.engines.registry import engine_plugin
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, filled
from tactile_sim.simulation import Simulation, Snapshot


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield the topics that the engine's plug-in declares."""
    for topic in engine_plugin(simulation.settings.engine).topics(simulation.engine):
        yield _topic(topic, simulation.settings.world_frame)


def _topic(topic: EngineTopic, world: str) -> Topic:
    package, _, name = topic.type.split("/")
    message_type = getattr(import_module(f"{package}.msg"), name)
    types = message_type.get_fields_and_field_types()
    kind = types[topic.array]
    is_struct = not kind.startswith("sequence<")
    fields = {**topic.fields, topic.array: cdr.Value(0) if is_struct else cdr.Payload()}
    if "header" in types:
        frame = {"frame_id": world} if is_struct else {}
        fields["header"] = {"stamp": cdr.STAMP, **frame, **fields.get("header", {})}
    element = kind.removeprefix("sequence<").removesuffix(">")
    dtype = np.dtype(float if is_struct else {"float": "f4", "double": "f8"}.get(element, element))

    def parts(_: Snapshot) -> dict[str, np.ndarray]:
        values = np.ascontiguousarray(topic.read(), dtype)
        return {"values": values.reshape(1, -1)} if is_struct else {"data": values}

    return filled(topic.stream, message_type, topic.name, fields, parts)
