"""Poses and quaternions."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.frames import conjugate, multiply, relative_poses, to_wxyz, to_xyzw


def random_quaternions(n: int, seed: int = 0) -> np.ndarray:
    return to_wxyz(Rotation.random(n, random_state=seed).as_quat())


def test_the_orders_of_quaternions_are_each_others_inverse():
    np.testing.assert_array_equal(to_xyzw([1.0, 2, 3, 4]), [2, 3, 4, 1])
    np.testing.assert_array_equal(
        to_wxyz(to_xyzw(np.arange(8.0).reshape(2, 4))), np.arange(8.0).reshape(2, 4)
    )


def test_products_of_quaternions_are_products_of_rotations():
    a, b = random_quaternions(20, 1), random_quaternions(20, 2)
    expected = Rotation.from_quat(to_xyzw(a)) * Rotation.from_quat(to_xyzw(b))
    product = Rotation.from_quat(to_xyzw(multiply(a, b)))
    np.testing.assert_allclose(product.as_matrix(), expected.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(multiply(a, conjugate(a)), np.tile([1.0, 0, 0, 0], (20, 1)), atol=1e-12)


def test_relative_poses_lead_from_the_parent_to_the_child():
    rng = np.random.default_rng(0)
    quaternions, positions = random_quaternions(6), rng.normal(size=(6, 3))
    rotations = Rotation.from_quat(to_xyzw(quaternions)).as_matrix()
    child, parent = np.array([1, 2, 5]), np.array([0, 1, 3])
    offset, turn = relative_poses(positions, quaternions, rotations, child, parent)
    back = positions[parent] + np.einsum("nij,nj->ni", rotations[parent], offset)
    np.testing.assert_allclose(back, positions[child], atol=1e-12)
    turned = rotations[parent] @ Rotation.from_quat(to_xyzw(turn)).as_matrix()
    np.testing.assert_allclose(turned, rotations[child], atol=1e-12)
