"""Conversion of poses and quaternions. MuJoCo and the core use the order wxyz; ROS uses xyzw."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel


def to_xyzw(quaternions: np.ndarray) -> np.ndarray:
    """Convert quaternions (..., 4) from wxyz to xyzw."""
    return np.roll(quaternions, -1, axis=-1)


def to_wxyz(quaternions: np.ndarray) -> np.ndarray:
    """Convert quaternions (..., 4) from xyzw to wxyz."""
    return np.roll(quaternions, 1, axis=-1)


@kernel
def relative_poses(
    positions: np.ndarray,
    quaternions: np.ndarray,
    rotations: np.ndarray,
    child: np.ndarray,
    parent: np.ndarray,
) -> np.ndarray:
    """Return the poses of bodies in the frames of their parents.

    Args:
        positions: Positions (nbody, 3) of all bodies in the world [m].
        quaternions: Orientations (nbody, 4) of all bodies in the world, wxyz.
        rotations: Rotation matrices (nbody, 3, 3) of the same orientations.
        child: Ids (n,) of the bodies whose poses to return.
        parent: Ids (nbody,) of the parents of all bodies.

    Returns:
        Poses (n, 7): position [m] and quaternion xyzw.
    """
    poses = np.empty((len(child), 7))
    for n in range(len(child)):
        c, p = child[n], parent[child[n]]
        for i in range(3):
            poses[n, i] = 0.0
            for j in range(3):
                poses[n, i] += rotations[p, j, i] * (positions[c, j] - positions[p, j])
        # Conjugate of the parent's rotation times the child's.
        aw, ax, ay, az = quaternions[p, 0], -quaternions[p, 1], -quaternions[p, 2], -quaternions[p, 3]
        bw, bx, by, bz = quaternions[c, 0], quaternions[c, 1], quaternions[c, 2], quaternions[c, 3]
        poses[n, 3] = aw * bx + ax * bw + ay * bz - az * by
        poses[n, 4] = aw * by - ax * bz + ay * bw + az * bx
        poses[n, 5] = aw * bz + ax * by - ay * bx + az * bw
        poses[n, 6] = aw * bw - ax * bx - ay * by - az * bz
    return poses
