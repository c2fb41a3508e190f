"""Test conversions of poses and quaternions."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim import _core
from tactile_sim.common.frames import to_wxyz, to_xyzw


def random_quaternions(n: int, seed: int = 0) -> np.ndarray:
    return to_wxyz(Rotation.random(n, random_state=seed).as_quat())


def test_conversions_of_quaternion_order_are_inverse():
    np.testing.assert_array_equal(to_xyzw([1.0, 2, 3, 4]), [2, 3, 4, 1])
    np.testing.assert_array_equal(
        to_wxyz(to_xyzw(np.arange(8.0).reshape(2, 4))), np.arange(8.0).reshape(2, 4)
    )


def test_relative_poses_map_the_parent_to_the_child():
    rng = np.random.default_rng(0)
    quaternions, positions = random_quaternions(6), rng.normal(size=(6, 3))
    rotations = Rotation.from_quat(to_xyzw(quaternions)).as_matrix()
    child, parents = np.array([1, 2, 5]), np.array([0, 0, 1, 0, 0, 3])
    poses = _core.relative_poses(positions, quaternions, rotations, child, parents)
    parent = parents[child]
    back = positions[parent] + np.einsum("nij,nj->ni", rotations[parent], poses[:, :3])
    np.testing.assert_allclose(back, positions[child], atol=1e-12)
    turned = rotations[parent] @ Rotation.from_quat(poses[:, 3:]).as_matrix()
    np.testing.assert_allclose(turned, rotations[child], atol=1e-12)
