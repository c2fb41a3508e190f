"""The drag that Bullet lets act on all that moves, and the greatest speed that it lets joints have.

At a body's centre of mass, of velocity v and angular velocity ω (Bullet, ``btMultiBody``)::

    F = -d m v (1 + |v|)        T = -d I ω (1 + |ω|)

where d is 0.5/s for the robot's links, as the peer sets it, and Bullet's usual 0.04/s for all else.
Controllers that were tuned there rely on it.
"""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.compilation import kernel

LINK_DAMPING, DAMPING = 0.5, 0.04
"""[1/s] of linear and angular velocity: of the robot's links, of other bodies."""
MAX_SPEED = 10.0
"""[rad/s] of a joint."""


class Drag:
    """The drag on all bodies of a model that can move."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, robot: str = "base_link"):
        """robot: the body at which the robot begins. The arrays of model and data are seen, not copied."""
        root = model.body_rootid[model.body(robot).id]
        # What is welded to the world has the world's number here.
        moving = np.flatnonzero(model.body_weldid)
        # A row a body, from the base outwards: its id, its parent's row, its first joint, how many it has.
        rows = {body: row for row, body in enumerate(moving)}
        parents = [rows.get(parent, -1) for parent in model.body_parentid[moving]]
        bodies = np.stack([moving, parents, model.body_dofadr[moving], model.body_dofnum[moving]], axis=1)
        self.arrays = (
            np.ascontiguousarray(bodies, np.int64),
            np.where(model.body_rootid[moving] == root, LINK_DAMPING, DAMPING),
            model.body_rootid,
            model.body_mass,
            model.body_inertia,
            data.xipos,
            data.ximat,
            data.cvel,
            data.subtree_com,
            data.cdof,
            np.empty((len(moving), 6)),
        )
        """What `add_drag` takes, but for where it adds."""
        self._out = data.qfrc_passive

    def apply(self) -> None:
        """Adds the drag at the present velocities to ``qfrc_passive``, after ``mj_step1``."""
        add_drag(*self.arrays, self._out)


@kernel(
    "void(i8[:,::1], f8[::1], i4[::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1],"
    " f8[:,::1], f8[:,::1], f8[::1])",
)
def add_drag(
    bodies, dampings, roots, masses, inertias, positions, axes, velocities, centres, joint_axes, wrenches, out
):
    """Adds the bodies' drag as forces of the joints to out (nv,).

    bodies (n, 4) as `Drag` makes them, with their dampings (n,); roots (nbody,) of the trees; positions
    (nbody, 3) and axes (nbody, 9) of the bodies' inertias; velocities (nbody, 6) and joint_axes (nv, 6):
    turn, then shift, at the centre of the tree, that of its root in centres (nbody, 3); wrenches (n, 6): room
    to work in.
    """
    for row in range(len(bodies)):
        body, damping = bodies[row, 0], dampings[row]
        velocity, wrench, centre = velocities[body], wrenches[row], centres[roots[body]]
        wx, wy, wz = velocity[0], velocity[1], velocity[2]
        rx = positions[body, 0] - centre[0]
        ry = positions[body, 1] - centre[1]
        rz = positions[body, 2] - centre[2]
        vx = velocity[3] + wy * rz - wz * ry
        vy = velocity[4] + wz * rx - wx * rz
        vz = velocity[5] + wx * ry - wy * rx
        force = -damping * masses[body] * (1.0 + np.sqrt(vx * vx + vy * vy + vz * vz))
        fx, fy, fz = force * vx, force * vy, force * vz
        turn = -damping * (1.0 + np.sqrt(wx * wx + wy * wy + wz * wz))
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
    for row in range(len(bodies) - 1, -1, -1):
        parent, first = bodies[row, 1], bodies[row, 2]
        wrench = wrenches[row]
        for joint in range(first, first + bodies[row, 3]):
            for i in range(6):
                out[joint] += joint_axes[joint, i] * wrench[i]
        if parent >= 0:
            for i in range(6):
                wrenches[parent, i] += wrench[i]


@kernel("void(f8[::1], f8[::1], f8)")
def limit_speed(positions, velocities, time_step):
    """After a step, what joints would be at and have had they not moved faster than `MAX_SPEED`.

    positions and velocities (n,): of the joints after a semi-implicit step, changed in place.
    """
    for joint in range(len(velocities)):
        over = velocities[joint] - min(max(velocities[joint], -MAX_SPEED), MAX_SPEED)
        if over != 0.0:
            velocities[joint] -= over
            positions[joint] -= time_step * over
