"""Read messages from the ROS 2 node ``papillarray_ros2_v2`` for Contactile's PapillArray."""

from __future__ import annotations

from typing import Any

import numpy as np

PACKAGE = "sensor_interfaces"
"""ROS package that defines the messages."""


def pillar_forces(message: Any) -> np.ndarray:
    """Return the forces (n, 3) [N] in a ``SensorState`` message from Contactile, ordered by pillar id."""
    pillars = sorted(message.pillars, key=lambda pillar: pillar.id)
    return np.array([[pillar.fx, pillar.fy, pillar.fz] for pillar in pillars]).reshape(-1, 3)
