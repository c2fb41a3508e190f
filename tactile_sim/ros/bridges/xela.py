"""The stream of XELA's uSkin sensors, as ``xela_server_ros2`` sends it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from xela_server_ros2.msg import SensStream

from tactile_sim.errors import ConfigError
from tactile_sim.ros import cdr
from tactile_sim.ros.bridges.topic import BridgeTopic
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.simulation.taxel_forces import TaxelForces

RESOLUTION = 0.001
"""One step of a raw value [N]."""
MIDDLE = 32768
"""The raw value without a force."""
MOST = 255
"""More sensors than that have no number in the message."""


def topics(simulation: Simulation) -> Iterator[BridgeTopic]:
    """``xServTopic``: a sensor a body, the forces on its taxels along their own axes, and as raw values."""
    parts = simulation.skin.pads
    if len(parts) > MOST:
        raise ConfigError(
            f"{simulation.settings.source}: bridges: xela_server_ros2 numbers sensors up to {MOST}, and "
            f"there are {len(parts)} pads"
        )
    forces = TaxelForces(simulation)
    names = [part.name for part in parts]

    def make(snapshot: Snapshot) -> bytes:
        on_pads = forces.on_pads(snapshot)
        raw = np.clip(np.rint(MIDDLE + on_pads / RESOLUTION), 0, 65535).astype(np.uint16)
        told = {"message": simulation.step_count & 0xFFFFFFFF, "time": snapshot.stamp * 1e-9}
        sensors = [
            {
                **told,
                "model": name,
                "sensor_pos": number,
                "taxels": raw[part.start : part.stop],
                "forces": on_pads[part.start : part.stop].astype(np.float32),
            }
            for number, (name, part) in enumerate(zip(names, parts, strict=True), start=1)
        ]
        return cdr.encode(SensStream, {"sensors": sensors})

    yield BridgeTopic("tactile", SensStream, "xServTopic", make)
