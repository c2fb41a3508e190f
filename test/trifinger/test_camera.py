"""Cameras: what they show is where their calibrations say."""

import io
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tactile_sim import TactileSimError
from tactile_sim.trifinger import camera, visual_objects
from tactile_sim.trifinger.pictures import lens, renderer
from tactile_sim.trifinger.sim_finger import SimFinger
from tactile_sim.trifinger.trifinger_platform import TriFingerPlatform

PATTERN = "camera{id}_cropped_and_downsampled.yml"
SPOTS = np.array([(0.1, 0.05, 0.02), (-0.1, 0.08, 0.1), (0.0, -0.1, 0.05)])


@pytest.fixture(scope="module")
def drawing():
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    view = renderer.View(np.zeros(3), np.eye(3)[0], np.eye(3)[2], (-1, 1, -1, 1), 0.1, 1.0)
    try:
        renderer.Renderer(model).image(mujoco.MjData(model), view, 2, 2)
    except renderer.RenderingError as error:
        pytest.skip(str(error))


draws = pytest.mark.usefixtures("drawing")


@pytest.fixture
def calibrations():
    return camera.load_camera_parameters(camera.CALIBRATIONS, PATTERN)


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


def test_a_calibration_is_read_as_it_is_written(calibrations):
    stream = io.StringIO()
    calibrations[0].dump(stream)
    stream.seek(0)
    for one, other in zip(camera.CameraParameters.load(stream), calibrations[0], strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_lens_bends_as_its_coefficients_say():
    rays = np.array([(0.3, 0.4), (0.0, 0.5)])
    # r² = 0.25: 1 + 0.25 k1 + 0.0625 k2 + 0.015625 k3, and the tangential parts.
    expected = np.array([(0.3, 0.4), (0.0, 0.5)]) * (1 - 0.2 / 4 + 0.1 / 16 - 0.05 / 64)
    expected[0] += (2 * 0.01 * 0.12 + 0.02 * (0.25 + 0.18), 0.01 * (0.25 + 0.32) + 2 * 0.02 * 0.12)
    expected[1] += (0.02 * 0.25, 0.01 * (0.25 + 0.5))
    coefficients = np.array([-0.2, 0.1, 0.01, 0.02, -0.05])
    np.testing.assert_allclose(lens.distort(rays, coefficients), expected)


def test_undistorting_is_the_inverse_and_nan_where_no_ray_goes(calibrations):
    coefficients = calibrations[1].distortion_coefficients
    axis = np.linspace(-0.45, 0.45, 19)
    rays = np.stack(np.meshgrid(axis, axis), axis=-1)
    np.testing.assert_allclose(
        lens.undistort(lens.distort(rays, coefficients), coefficients), rays, atol=1e-7
    )
    assert np.isnan(lens.undistort(np.array([(2.0, 0.0)]), coefficients)).all()


def test_projecting_a_point_is_the_pinholes_rule_without_a_lens():
    transform = np.eye(4)
    transform[:3, 3] = (0.1, 0, 1.0)
    matrix = np.array([[100.0, 0, 50], [0, 200.0, 40], [0, 0, 1]])
    parameters = camera.CameraParameters("plain", 100, 80, matrix, np.zeros(5), transform)
    np.testing.assert_allclose(parameters.project(np.array([(0.1, 0.2, 1.0)])), [(60, 60)])


def test_cameras_in_another_order_are_a_value_error(calibrations):
    finger = SimFinger("trifingerpro")
    with pytest.raises(ValueError, match="camera60 is that of 'camera300'"):
        camera.create_trifinger_camera_array(calibrations[::-1], finger._pybullet_client_id)


@draws
def test_things_are_seen_where_the_calibration_says(calibrations):
    finger = SimFinger("trifingerpro")
    # Away from the arena's middle, so that nothing hides the spots.
    finger.reset_finger_positions_and_velocities([0.9, 1.5, -2.7] * 3)
    number = finger._pybullet_client_id
    cameras = camera.create_trifinger_camera_array(calibrations, number)
    before = [image.astype(int) for image in cameras.get_images()]
    spot = visual_objects.CuboidMarker([0.006] * 3, SPOTS[0], (0, 0, 0, 1), (1, 0, 1, 1), number)
    for place in SPOTS:
        spot.set_state(place, (0, 0, 0, 1))
        seen = 0
        for one, image, empty in zip(calibrations, cameras.get_images(), before, strict=True):
            assert image.shape == (one.height, one.width, 3)
            assert image.dtype == np.uint8
            rows, columns = np.nonzero(np.abs(image - empty).sum(axis=2) > 60)
            if len(rows) > 5:  # no finger is before it
                seen += 1
                expected = one.project(place[None])[0]
                np.testing.assert_allclose((columns.mean(), rows.mean()), expected, atol=0.7)
        assert seen


@draws
def test_a_pinhole_shows_the_point_it_looks_at_in_the_middle():
    finger = SimFinger("fingerpro", robot_position_offset=(0, 0, 1))
    number = finger._pybullet_client_id
    # From above, x of the picture along x of the world.
    above = camera.Camera((0.1, 0.1, 0.5), (1, 0, 0, 0), (101, 51), 60, pybullet_client_id=number)
    before = above.get_image().astype(int)
    visual_objects.CubeMarker(0.02, (0.1, 0.1, 0.2), (0, 0, 0, 1), (1, 0, 1, 1), number)
    rows, columns = np.nonzero(np.abs(above.get_image() - before).sum(axis=2) > 60)
    assert (columns.mean(), rows.mean()) == pytest.approx((50, 25), abs=0.3)
    # 2 cm at 0.29 m, of which 60 degrees are 51 pixels.
    assert np.ptp(rows) + 1 == pytest.approx(0.02 / (2 * 0.29 * np.tan(np.pi / 6)) * 51, abs=1)


@draws
def test_the_cubes_sides_have_their_colours():
    platform = TriFingerPlatform()
    number = platform.simfinger._pybullet_client_id
    above = camera.Camera((0, 0, 0.3), (1, 0, 0, 0), (31, 31), pybullet_client_id=number)
    red, green, blue = above.get_image()[15, 15].astype(int)
    assert blue > 2 * green > 2 * red  # blue is up
    platform.cube.set_state((0, 0, 0.0325), (0, -np.sqrt(0.5), 0, np.sqrt(0.5)))
    red, green, blue = above.get_image()[15, 15].astype(int)
    assert red > 2 * green > 2 * blue


@draws
def test_the_platform_shows_pictures_where_they_are_asked_for():
    platform = TriFingerPlatform(enable_cameras=True)
    images = [one.image for one in platform.get_camera_observation(0).cameras]
    assert [image.shape for image in images] == [(270, 270, 3)] * 3
    assert all(image.std() > 10 for image in images)


def test_without_pictures_the_rest_of_a_camera_observation_is_there():
    observation = TriFingerPlatform().get_camera_observation(0)
    assert [(one.image, one.timestamp) for one in observation.cameras] == [(None, 0.0)] * 3


def test_where_nothing_can_draw_the_first_picture_says_so(monkeypatch):
    monkeypatch.setattr(renderer, "_WAYS", {"egl": "NoSuchLibrary"})
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    platform = TriFingerPlatform(enable_cameras=True)  # making it is no use of a camera
    with pytest.raises(TactileSimError, match="egl: no libNoSuchLibrary.*install libegl1 or libosmesa6"):
        platform.get_camera_observation(0)


def test_a_bayer_picture_has_one_colour_a_pixel():
    image = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)
    red, green, blue = np.moveaxis(image, -1, 0)
    expected = [
        [red[0, 0], green[0, 1], red[0, 2], green[0, 3]],
        [green[1, 0], blue[1, 1], green[1, 2], blue[1, 3]],
    ]
    np.testing.assert_array_equal(camera.rbg_to_bayer_bg(image)[:, :, 0], expected)


def test_the_calibrations_are_where_the_package_has_its_data():
    assert len(list(Path(camera.CALIBRATIONS).glob("*.yml"))) == 9
