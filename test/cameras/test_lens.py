"""Lens distortion, compared with its formula."""

import numpy as np

from tactile_sim.scenes import camera as lens
from tactile_sim.trifinger.camera import CALIBRATIONS, load_camera_parameters


def test_distortion_follows_formula():
    rays = np.array([(0.3, 0.4), (0.0, 0.5)])
    # r² = 0.25: 1 + 0.25 k1 + 0.0625 k2 + 0.015625 k3, plus the tangential terms.
    expected = np.array([(0.3, 0.4), (0.0, 0.5)]) * (1 - 0.2 / 4 + 0.1 / 16 - 0.05 / 64)
    expected[0] += (2 * 0.01 * 0.12 + 0.02 * (0.25 + 0.18), 0.01 * (0.25 + 0.32) + 2 * 0.02 * 0.12)
    expected[1] += (0.02 * 0.25, 0.01 * (0.25 + 0.5))
    coefficients = np.array([-0.2, 0.1, 0.01, 0.02, -0.05])
    np.testing.assert_allclose(lens.distort(rays, coefficients), expected)


def test_undistortion_is_inverse_or_nan():
    coefficients = load_camera_parameters(CALIBRATIONS, "camera{id}_full.yml")[1].distortion_coefficients
    axis = np.linspace(-0.45, 0.45, 19)
    rays = np.stack(np.meshgrid(axis, axis), axis=-1)
    np.testing.assert_allclose(
        lens.undistort(lens.distort(rays, coefficients), coefficients), rays, atol=1e-7
    )
    assert np.isnan(lens.undistort(np.array([(2.0, 0.0)]), coefficients)).all()
