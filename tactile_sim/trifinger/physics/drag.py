"""Add Bullet's drag to moving bodies, and limit joint speeds like Bullet.

On a body with mass m, inertia I, velocity v of the centre of mass and angular velocity ω, the drag force and
torque are (Bullet, ``btMultiBody``)::

    F = -d m v (1 + |v|)        T = -d I ω (1 + |ω|)

d is 0.5/s for the robot's links, as in trifinger_simulation, and Bullet's default of 0.04/s for other bodies.
Controllers that were tuned in PyBullet depend on this drag.
"""

from __future__ import annotations

import mujoco
import numpy as np

LINK_DAMPING, DAMPING = 0.5, 0.04
"""Damping d of the robot's links and of other bodies [1/s]."""
MAX_SPEED = 10.0
"""Maximum speed of a joint [rad/s]."""


def dampings(model: mujoco.MjModel, robot: str = "base_link") -> np.ndarray:
    """Return the damping (nbody,) of each body [1/s]; 0 for fixed bodies.

    Args:
        model: Compiled scene.
        robot: Name of the robot's root body.
    """
    links = model.body_rootid == model.body_rootid[model.body(robot).id]
    # Bodies that are welded to the world have the weld id 0.
    return np.where(model.body_weldid == 0, 0.0, np.where(links, LINK_DAMPING, DAMPING))
