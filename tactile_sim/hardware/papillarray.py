"""Read messages from the ROS 2 node ``papillarray_ros2_v2`` for Contactile's PapillArray."""

from __future__ import annotations

from typing import Any

import numpy as np

PACKAGE = "sensor_interfaces"
"""ROS package that defines the messages."""


def pillar_forces(message: Any) -> np.ndarray:
    """Return the force on each pillar (n, 3) [N] from a ``SensorState`` message, ordered by pillar id.

    The components are along x, y and z of the sensor.
    """
    pillars = sorted(message.pillars, key=lambda pillar: pillar.id)
    return np.array([[pillar.fx, pillar.fy, pillar.fz] for pillar in pillars]).reshape(-1, 3)
