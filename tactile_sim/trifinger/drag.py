"""The drag that Bullet lets act on each link, and the greatest speed that it lets joints have.

At a link's centre of mass, of velocity v and angular velocity ω (Bullet, ``btMultiBody``, damping of 0.5 as
the peer sets it)::

    F = -0.5 m v (1 + |v|)        T = -0.5 I ω (1 + |ω|)

Controllers that were tuned there rely on it.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numba import njit

DAMPING = 0.5
"""[1/s] of linear and angular velocity."""
MAX_SPEED = 10.0
"""[rad/s] of a joint."""


class LinkDrag:
    """The drag on all links below a body of a model."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, root: str = "base_link"):
        """root: the body at which the robot begins. The arrays of model and data are seen, not copied."""
        first = model.body(root).id
        links = [
            body
            for body in range(first, model.nbody)
            if model.body_rootid[body] == model.body_rootid[first] and model.body_weldid[body]
        ]
        # A row a link, from the base outwards: its id, its parent's row, its first joint, how many it has.
        rows = {body: row for row, body in enumerate(links)}
        self.links = np.array(
            [
                (
                    body,
                    rows.get(model.body_parentid[body], -1),
                    model.body_dofadr[body],
                    model.body_dofnum[body],
                )
                for body in links
            ],
            np.int64,
        ).reshape(-1, 4)
        """(links, 4)"""
        self.arrays = (
            self.links,
            model.body_mass,
            model.body_inertia,
            data.xipos,
            data.ximat,
            data.cvel,
            data.subtree_com[model.body_rootid[first]],
            data.cdof,
            np.empty((len(links), 6)),
        )
        """What `add_drag` takes, but for where it adds."""
        self._out = data.qfrc_passive

    def apply(self) -> None:
        """Adds the drag at the present velocities to ``qfrc_passive``, after ``mj_step1``."""
        add_drag(*self.arrays, self._out)


@njit(
    "void(i8[:,::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[::1], f8[:,::1], f8[:,::1],"
    " f8[::1])",
    cache=True,
)
def add_drag(links, masses, inertias, positions, axes, velocities, centre, joint_axes, wrenches, out):
    """Adds the links' drag as torques of the joints to out (nv,).

    positions (nbody, 3) and axes (nbody, 9) of the bodies' inertias; velocities (nbody, 6) and joint_axes
    (nv, 6): turn, then shift, at the centre (3,) of the tree; wrenches (links, 6): room to work in.
    """
    for row in range(len(links)):
        body = links[row, 0]
        velocity, wrench = velocities[body], wrenches[row]
        wx, wy, wz = velocity[0], velocity[1], velocity[2]
        rx = positions[body, 0] - centre[0]
        ry = positions[body, 1] - centre[1]
        rz = positions[body, 2] - centre[2]
        vx = velocity[3] + wy * rz - wz * ry
        vy = velocity[4] + wz * rx - wx * rz
        vz = velocity[5] + wx * ry - wy * rx
        force = -DAMPING * masses[body] * (1.0 + np.sqrt(vx * vx + vy * vy + vz * vz))
        fx, fy, fz = force * vx, force * vy, force * vz
        turn = -DAMPING * (1.0 + np.sqrt(wx * wx + wy * wy + wz * wz))
        wrench[0] = ry * fz - rz * fy
        wrench[1] = rz * fx - rx * fz
        wrench[2] = rx * fy - ry * fx
        for axis in range(3):
            x, y, z = axes[body, axis], axes[body, 3 + axis], axes[body, 6 + axis]
            about = turn * inertias[body, axis] * (x * wx + y * wy + z * wz)
            wrench[0] += about * x
            wrench[1] += about * y
            wrench[2] += about * z
        wrench[3], wrench[4], wrench[5] = fx, fy, fz
    for row in range(len(links) - 1, -1, -1):
        parent, first = links[row, 1], links[row, 2]
        wrench = wrenches[row]
        for joint in range(first, first + links[row, 3]):
            for i in range(6):
                out[joint] += joint_axes[joint, i] * wrench[i]
        if parent >= 0:
            for i in range(6):
                wrenches[parent, i] += wrench[i]


@njit("void(f8[::1], f8[::1], f8)", cache=True)
def limit_speed(positions, velocities, time_step):
    """After a step, what joints would be at and have had they not moved faster than `MAX_SPEED`.

    positions and velocities (n,): of the joints after a semi-implicit step, changed in place.
    """
    for joint in range(len(velocities)):
        over = velocities[joint] - min(max(velocities[joint], -MAX_SPEED), MAX_SPEED)
        if over != 0.0:
            velocities[joint] -= over
            positions[joint] -= time_step * over
