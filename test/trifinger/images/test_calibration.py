"""Camera calibrations: content, files and projection."""

import io
from pathlib import Path

import numpy as np

from tactile_sim.trifinger import camera


def test_shipped_calibrations_cover_three_cameras_and_sizes():
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


def test_written_calibration_can_be_loaded():
    calibrations = camera.load_camera_parameters(camera.CALIBRATIONS, "camera{id}_full.yml")
    stream = io.StringIO()
    calibrations[0].dump(stream)
    stream.seek(0)
    for one, other in zip(camera.CameraParameters.load(stream), calibrations[0], strict=True):
        np.testing.assert_array_equal(one, other)


def test_projection_without_distortion_is_pinhole():
    transform = np.eye(4)
    transform[:3, 3] = (0.1, 0, 1.0)
    matrix = np.array([[100.0, 0, 50], [0, 200.0, 40], [0, 0, 1]])
    parameters = camera.CameraParameters("plain", 100, 80, matrix, np.zeros(5), transform)
    np.testing.assert_allclose(parameters.project(np.array([(0.1, 0.2, 1.0)])), [(60, 60)])


def test_calibrations_are_in_data_folder():
    assert len(list(Path(camera.CALIBRATIONS).glob("*.yml"))) == 9
