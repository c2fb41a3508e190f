"""Messages of Contactile's PapillArray, as its ROS 2 node ``papillarray_ros2_v2`` publishes them."""

from __future__ import annotations

from typing import Any

import numpy as np

PACKAGE = "sensor_interfaces"
"""Package of the messages."""


def pillar_forces(message: Any) -> np.ndarray:
    """Return the forces (n, 3) [N] in a ``SensorState`` of Contactile, ordered by the ids of the pillars."""
    pillars = sorted(message.pillars, key=lambda pillar: pillar.id)
    return np.array([[pillar.fx, pillar.fy, pillar.fz] for pillar in pillars]).reshape(-1, 3)
