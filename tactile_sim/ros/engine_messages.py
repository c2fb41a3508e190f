"""Messages of topics that an engine defines, such as ``finger/applied_torque`` of the TriFinger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from tactile_sim.engines import EngineTopic
from tactile_sim.registry import engine_plugin
from tactile_sim.ros import cdr
from tactile_sim.ros.sensor_messages import Topic
from tactile_sim.simulation import Simulation, Snapshot


def engine_topics(simulation: Simulation) -> Iterator[tuple[str, Topic]]:
    """Iterate over the topics that the engine defines.

    Args:
        simulation: The simulation.

    Yields:
        The key of ``rates`` and the topic.
    """
    for topic in engine_plugin(simulation.settings.engine).topics(simulation.engine):
        package, _, name = topic.type.split("/")
        message_type = getattr(import_module(f"{package}.msg"), name)
        yield topic.stream, Topic(message_type, topic.name, _maker(message_type, topic))


def _maker(message_type: Any, topic: EngineTopic) -> Callable[[Snapshot], bytes]:
    types = message_type.get_fields_and_field_types()
    fields = dict(topic.fields)
    if "header" in types:
        fields["header"] = {"stamp": cdr.STAMP, **fields.get("header", {})}
    form = cdr.template(message_type, {**fields, topic.array: cdr.Payload()})
    element = types[topic.array].removeprefix("sequence<").removesuffix(">")
    dtype = np.dtype({"float": "f4", "double": "f8"}.get(element, element))

    def make(snapshot: Snapshot) -> bytes:
        return form.fill(snapshot.stamp, data=np.ascontiguousarray(topic.read(), dtype))

    return make
