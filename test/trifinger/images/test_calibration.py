"""Calibrations: what they hold, their files, and what they make of a point."""

import io
from pathlib import Path

import numpy as np

from tactile_sim.trifinger import camera


def test_calibrations_are_of_the_three_cameras_at_three_sizes():
    for kind, size in (
        ("full", (720, 540)),
        ("cropped", (540, 540)),
        ("cropped_and_downsampled", (270, 270)),
    ):
        parameters = camera.load_camera_parameters(camera.CALIBRATIONS, f"camera{{id}}_{kind}.yml")
        assert [one.name for one in parameters] == ["camera60", "camera180", "camera300"]
        assert {(one.width, one.height) for one in parameters} == {size}
        for one in parameters:
            rotation = one.tf_world_to_camera[:3, :3]
            np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-4)


def test_a_calibration_is_read_as_it_is_written():
    calibrations = camera.load_camera_parameters(camera.CALIBRATIONS, "camera{id}_full.yml")
    stream = io.StringIO()
    calibrations[0].dump(stream)
    stream.seek(0)
    for one, other in zip(camera.CameraParameters.load(stream), calibrations[0], strict=True):
        np.testing.assert_array_equal(one, other)


def test_projecting_a_point_is_the_pinholes_rule_without_a_lens():
    transform = np.eye(4)
    transform[:3, 3] = (0.1, 0, 1.0)
    matrix = np.array([[100.0, 0, 50], [0, 200.0, 40], [0, 0, 1]])
    parameters = camera.CameraParameters("plain", 100, 80, matrix, np.zeros(5), transform)
    np.testing.assert_allclose(parameters.project(np.array([(0.1, 0.2, 1.0)])), [(60, 60)])


def test_the_calibrations_are_where_the_package_has_its_data():
    assert len(list(Path(camera.CALIBRATIONS).glob("*.yml"))) == 9
