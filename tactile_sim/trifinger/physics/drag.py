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

from tactile_sim.compilation import kernel

LINK_DAMPING, DAMPING = 0.5, 0.04
"""Damping d of the robot's links and of other bodies [1/s]."""
MAX_SPEED = 10.0
"""Maximum speed of a joint [rad/s]."""


class Drag:
    """Drag on all moving bodies of a model."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, robot: str = "base_link"):
        """Collect the arrays from which drag is computed.

        Arrays in the model and the data are referenced, not copied.

        Args:
            model: Compiled scene.
            data: State of the scene.
            robot: Name of the robot's root body.
        """
        root = model.body_rootid[model.body(robot).id]
        # Bodies that are welded to the world have the weld id 0.
        moving = np.flatnonzero(model.body_weldid)
        # A row for each body, parents first: id, row of the parent, first DOF, number of DOFs.
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
        """Arguments of `add_drag`, except ``out``."""
        self._out = data.qfrc_passive

    def apply(self) -> None:
        """Add the drag at the current velocities to ``qfrc_passive``; call this after ``mj_step1``."""
        add_drag(*self.arrays, self._out)


@kernel(
    "void(i8[:,::1], f8[::1], i4[::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1],"
    " f8[:,::1], f8[:,::1], f8[::1])",
)
def add_drag(
    bodies, dampings, roots, masses, inertias, positions, axes, velocities, centres, joint_axes, wrenches, out
):
    """Convert the drag on the bodies to joint forces, and add these to ``out``.

    Args:
        bodies: (n, 4) with one row for each body, parents first. The columns are the body's id, the row of
            its parent (or -1), its first DOF and its number of DOFs.
        dampings: (n,) damping of each body [1/s].
        roots: (nbody,) root body of each body's tree.
        masses: (nbody,) masses [kg].
        inertias: (nbody, 3) principal moments [kg m²].
        positions: (nbody, 3) centres of mass in the world [m].
        axes: (nbody, 9) principal axes of inertia in the world.
        velocities: (nbody, 6) angular and linear velocities at the centre of mass of the body's kinematic
            tree [rad/s, m/s].
        centres: (nbody, 3) centre of mass of each body's subtree in the world [m].
        joint_axes: (nv, 6) angular and linear axes of the DOFs at the centre of mass of the kinematic tree.
        wrenches: (n, 6) work array; overwritten.
        out: (nv,) joint forces [N m, N], to which the drag is added.
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
    """Limit the joint speeds to `MAX_SPEED` after a semi-implicit step.

    Args:
        positions: (n,) joint positions [rad], changed in place.
        velocities: (n,) joint velocities [rad/s], changed in place.
        time_step: Time step [s].
    """
    for joint in range(len(velocities)):
        over = velocities[joint] - min(max(velocities[joint], -MAX_SPEED), MAX_SPEED)
        if over != 0.0:
            velocities[joint] -= over
            positions[joint] -= time_step * over
