"""Bridge to the stream of XELA's uSkin sensors, as published by ``xela_server_ros2``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from xela_server_ros2.msg import SensStream

from tactile_sim.common.errors import ConfigError
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.simulation.taxel_forces import TaxelForces

RESOLUTION = 0.001
"""Force per count of a raw value [N]."""
MIDDLE = 32768
"""Raw value at zero force."""
MOST = 255
"""Maximum number of sensors; the message stores the sensor number in one byte."""


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield ``xServTopic``, with one sensor per pad and the force on each taxel in the taxel's frame."""
    parts = simulation.skin.pads
    if len(parts) > MOST:
        raise ConfigError(
            f"{simulation.settings.source}: bridges: xela_server_ros2 supports at most {MOST} sensors, "
            f"got {len(parts)} pads"
        )
    forces = TaxelForces(simulation)
    names = [part.name for part in parts]

    def make(snapshot: Snapshot) -> bytes:
        on_pads = forces.on_pads(snapshot)
        raw = np.clip(np.rint(MIDDLE + on_pads / RESOLUTION), 0, 65535).astype(np.uint16)
        stamp_fields = {"message": simulation.step_count & 0xFFFFFFFF, "time": snapshot.stamp * 1e-9}
        sensors = [
            {
                **stamp_fields,
                "model": name,
                "sensor_pos": number,
                "taxels": raw[part.start : part.stop],
                "forces": on_pads[part.start : part.stop].astype(np.float32),
            }
            for number, (name, part) in enumerate(zip(names, parts, strict=True), start=1)
        ]
        return cdr.encode(SensStream, {"sensors": sensors})

    yield Topic("tactile", SensStream, "xServTopic", make)
