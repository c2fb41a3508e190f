"""Cameras: calibrations, geometry and content of images."""

import io
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.errors import raises

from tactile_sim import TactileSimError
from tactile_sim.scenes import renderer
from tactile_sim.trifinger import camera, visual_objects
from tactile_sim.trifinger.sim_finger import SimFinger
from tactile_sim.trifinger.trifinger_platform import TriFingerPlatform


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


PATTERN = "camera{id}_cropped_and_downsampled.yml"
SPOTS = np.array([(0.1, 0.05, 0.02), (-0.1, 0.08, 0.1), (0.0, -0.1, 0.05)])


@pytest.fixture(scope="module")
def drawing():
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    view = renderer.View(np.zeros(3), np.eye(3)[0], np.eye(3)[2], (-1, 1, -1, 1), 0.1, 1.0)
    try:
        renderer.Renderer(model).image(view, 2, 2)
    except renderer.RenderingError as error:
        pytest.skip(str(error))


draws = pytest.mark.usefixtures("drawing")


@pytest.fixture
def calibrations():
    return camera.load_camera_parameters(camera.CALIBRATIONS, PATTERN)


def test_image_size(calibrations):
    finger = SimFinger("trifingeredu")
    number = finger._pybullet_client_id
    plain = camera.Camera((0, 0, 0.3), (0, 0, 0, 1), (150, 100), pybullet_client_id=number)
    assert (plain.get_width(), plain.get_height()) == (150, 100)
    for one in camera.create_trifinger_camera_array(calibrations, number).cameras:
        assert (one.get_width(), one.get_height()) == (270, 270)


def test_order_of_calibrations_is_checked(calibrations):
    finger = SimFinger("trifingerpro")
    with raises(ValueError, "camera60", "'camera300'"):
        camera.create_trifinger_camera_array(calibrations[::-1], finger._pybullet_client_id)
    for wrong in (calibrations[:2], (*calibrations, calibrations[0])):
        with raises(ValueError, "camera_parameters", "camera60"):
            camera.create_trifinger_camera_array(wrong, finger._pybullet_client_id)


@draws
def test_objects_appear_at_projected_pixels(calibrations):
    finger = SimFinger("trifingerpro")
    # The spots are away from the center of the arena, where fingers would hide them.
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
            if len(rows) > 5:  # not hidden by a finger
                seen += 1
                expected = one.project(place[None])[0]
                np.testing.assert_allclose((columns.mean(), rows.mean()), expected, atol=0.7)
        assert seen


@draws
def test_pinhole_camera_is_centerd():
    finger = SimFinger("fingerpro", robot_position_offset=(0, 0, 1))
    number = finger._pybullet_client_id
    # From above, with x of the image along x of the world.
    above = camera.Camera((0.1, 0.1, 0.5), (1, 0, 0, 0), (101, 51), 60, pybullet_client_id=number)
    before = above.get_image().astype(int)
    visual_objects.CubeMarker(0.02, (0.1, 0.1, 0.2), (0, 0, 0, 1), (1, 0, 1, 1), number)
    rows, columns = np.nonzero(np.abs(above.get_image() - before).sum(axis=2) > 60)
    assert (columns.mean(), rows.mean()) == pytest.approx((50, 25), abs=0.3)
    # 2 cm at 0.29 m; 60 degrees correspond to 51 pixels.
    assert np.ptp(rows) + 1 == pytest.approx(0.02 / (2 * 0.29 * np.tan(np.pi / 6)) * 51, abs=1)


@draws
def test_faces_of_cube_have_their_colors():
    platform = TriFingerPlatform()
    number = platform.simfinger._pybullet_client_id
    above = camera.Camera((0, 0, 0.3), (1, 0, 0, 0), (31, 31), pybullet_client_id=number)
    red, green, blue = above.get_image()[15, 15].astype(int)
    assert blue > 2 * green > 2 * red  # the blue face is up
    platform.cube.set_state((0, 0, 0.0325), (0, -np.sqrt(0.5), 0, np.sqrt(0.5)))
    red, green, blue = above.get_image()[15, 15].astype(int)
    assert red > 2 * green > 2 * blue


@draws
def test_platform_renders_images():
    platform = TriFingerPlatform(enable_cameras=True)
    images = [one.image for one in platform.get_camera_observation(0).cameras]
    assert [image.shape for image in images] == [(270, 270, 3)] * 3
    assert all(image.std() > 10 for image in images)


@draws
def test_visual_meshes_are_rendered():
    finger = SimFinger("trifingerpro")
    number, link = finger._pybullet_client_id, finger.physics.data.body("finger_upper_link_visuals_0")
    axes = link.xmat.reshape(3, 3)
    # The end of the upper motor along its axis is dark, the shell is light.
    end = link.xpos + axes @ (0.01569 + 0.016, 0.1643, 0)
    turn = Rotation.from_matrix(np.column_stack([axes[:, 1], axes[:, 2], axes[:, 0]]) @ np.diag([1, -1, -1]))
    motor = camera.Camera(end + 0.1 * axes[:, 0], turn.as_quat(), (11, 11), pybullet_client_id=number)
    assert motor.get_image()[5, 5].max() < 80
    # Seen from above, the light rim ends at 0.282 m next to the dark table.
    rim = camera.Camera((0.28, 0, 0.275), (1, 0, 0, 0), (201, 201), 11.42, pybullet_client_id=number)
    row = rim.get_image()[100].max(axis=1)  # 0.1 mm per pixel
    assert row[115] > 80
    assert row[125] < 80


def test_observation_without_images():
    observation = TriFingerPlatform().get_camera_observation(0)
    assert [(one.image, one.timestamp) for one in observation.cameras] == [(None, 0.0)] * 3


def test_missing_opengl_is_reported_at_first_image(monkeypatch):
    monkeypatch.setattr(renderer, "_BACKENDS", {"egl": "NoSuchLibrary"})
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    platform = TriFingerPlatform(enable_cameras=True)  # does not use the cameras at first
    with raises(TactileSimError, "NoSuchLibrary"):
        platform.get_camera_observation(0)


def test_bayer_pattern():
    image = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)
    red, green, blue = np.moveaxis(image, -1, 0)
    expected = [
        [red[0, 0], green[0, 1], red[0, 2], green[0, 3]],
        [green[1, 0], blue[1, 1], green[1, 2], blue[1, 3]],
    ]
    np.testing.assert_array_equal(camera.rbg_to_bayer_bg(image)[:, :, 0], expected)
    still = SimpleNamespace(get_image=lambda renderer: image)
    [bayer] = camera.CameraArray([still]).get_bayer_images()
    assert bayer.shape == (2, 4, 1)
    np.testing.assert_array_equal(bayer[:, :, 0], expected)
