"""Poses and quaternions. MuJoCo and the core write quaternions wxyz, ROS xyzw: here is the one crossing."""

from __future__ import annotations

import numpy as np


def to_xyzw(quaternions: np.ndarray) -> np.ndarray:
    """(..., 4) wxyz → xyzw."""
    return np.roll(quaternions, -1, axis=-1)


def to_wxyz(quaternions: np.ndarray) -> np.ndarray:
    """(..., 4) xyzw → wxyz."""
    return np.roll(quaternions, 1, axis=-1)


def conjugate(quaternions: np.ndarray) -> np.ndarray:
    """(..., 4) wxyz: the opposite rotations of unit quaternions."""
    return quaternions * np.array([1.0, -1.0, -1.0, -1.0])


def multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(..., 4) wxyz: rotations b followed by a."""
    aw, ax, ay, az = np.moveaxis(np.asarray(a), -1, 0)
    bw, bx, by, bz = np.moveaxis(np.asarray(b), -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def relative_poses(
    positions: np.ndarray,
    quaternions: np.ndarray,
    rotations: np.ndarray,
    child: np.ndarray,
    parent: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Poses of bodies in their parents' frames.

    positions (nbody, 3) [m], quaternions (nbody, 4) wxyz and rotations (nbody, 3, 3) of all bodies in the
    world; child and parent (n,) body ids. Returns positions (n, 3) and quaternions (n, 4) wxyz.
    """
    offset = positions[child] - positions[parent]
    return (
        np.einsum("nji,nj->ni", rotations[parent], offset),
        multiply(conjugate(quaternions[parent]), quaternions[child]),
    )
