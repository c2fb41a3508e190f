"""Feeler maps in different image formats."""

from __future__ import annotations

import os

import numpy as np
import pytest
from PIL import Image
from support.errors import raises

from tactile_sim.common.errors import ConfigError
from tactile_sim.feelers.painted import brightness

GREY = np.array([[0, 51], [102, 255]], np.uint8)
LEVELS = GREY / 255.0


def saved(tmp_path, image: Image.Image, name: str = "map.png"):
    image.save(tmp_path / name)
    return tmp_path / name


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "P"])
def test_gray_levels_are_equal_in_all_modes(tmp_path, mode):
    assert brightness(saved(tmp_path, Image.fromarray(GREY).convert(mode))) == pytest.approx(LEVELS, abs=1e-9)


def test_sixteen_bits_keep_their_resolution(tmp_path):
    fine = np.array([[0, 1], [32768, 65535]], np.uint16)
    path = saved(tmp_path, Image.fromarray(fine))
    assert brightness(path) == pytest.approx(fine / 65535.0, abs=1e-12)


def test_one_bit_images_are_black_and_white(tmp_path):
    assert brightness(saved(tmp_path, Image.fromarray(GREY > 100))) == pytest.approx((GREY > 100) * 1.0)


def test_transparent_pixels_are_black(tmp_path):
    colors = np.full((1, 3, 4), 255, np.uint8)
    colors[0, :, 3] = 0, 51, 255
    assert brightness(saved(tmp_path, Image.fromarray(colors))) == pytest.approx(np.array([[0, 0.2, 1]]))
    assert brightness(colors) == pytest.approx(np.array([[0, 0.2, 1]]))


RED, GREEN, BLUE, WHITE, NEARLY_WHITE = (
    [255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 255], [255, 255, 254, 255],
)  # fmt: skip
SHEER_WHITE, SHEER_RED, GREY_51 = [255, 255, 255, 254], [255, 0, 0, 0], [51, 51, 51, 255]


@pytest.mark.parametrize(
    ("pixels", "white_only", "expected"),
    [
        ([RED, GREEN, BLUE, WHITE], None, [0, 0, 0, 1]),
        ([RED, NEARLY_WHITE, SHEER_WHITE, GREY_51], None, [0, 0, 0, 0]),
        ([RED, GREEN, BLUE, WHITE], False, [0.299, 0.587, 0.114, 1]),
        # Without visible colors, the image is gray and keeps its levels in any mode.
        ([GREY_51, WHITE, SHEER_WHITE, SHEER_RED], None, [0.2, 1, 254 / 255, 0]),
        ([GREY_51, WHITE, SHEER_WHITE, SHEER_RED], True, [0, 1, 0, 0]),
    ],
)
def test_only_white_counts_in_images_with_colors(tmp_path, pixels, white_only, expected):
    pixels = np.array([pixels], np.uint8)
    for image in (pixels, pixels / 255.0, saved(tmp_path, Image.fromarray(pixels))):
        assert brightness(image, white_only)[0] == pytest.approx(expected, abs=1e-12)


def test_white_of_sixteen_bits_is_the_largest_value(tmp_path):
    gray = np.array([[0, 65280, 65534, 65535]], np.uint16)
    for image in (gray, saved(tmp_path, Image.fromarray(gray))):
        assert brightness(image, white_only=True).tolist() == [[0, 0, 0, 1]]


@pytest.mark.parametrize("array", [GREY, GREY.astype(np.uint16) * 257, LEVELS, LEVELS.astype(np.float32)])
def test_array_levels_are_scaled_by_type(array):
    assert brightness(array) == pytest.approx(LEVELS, abs=1e-6)


def test_missing_file_suggests_the_nearest_name(tmp_path):
    saved(tmp_path, Image.fromarray(GREY), "cube.png")
    with raises(ConfigError, "cub.png", "'cube.png'"):
        brightness(tmp_path / "cub.png")


@pytest.mark.parametrize("content", [b"", b"no image at all", b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_corrupt_file_is_rejected(tmp_path, content):
    (tmp_path / "map.png").write_bytes(content)
    with raises(ConfigError, "map.png"):
        brightness(tmp_path / "map.png")


def test_truncated_file_is_rejected(tmp_path):
    path = saved(tmp_path, Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64), np.uint8)))
    path.write_bytes(path.read_bytes()[:2000])
    with raises(ConfigError, "map.png"):
        brightness(path)


def test_folder_is_rejected(tmp_path):
    with raises(ConfigError, tmp_path.name):
        brightness(tmp_path)


def test_pipe_is_rejected_without_reading(tmp_path):
    os.mkfifo(tmp_path / "map.png")
    with raises(ConfigError, "map.png"):
        brightness(tmp_path / "map.png")


@pytest.mark.parametrize("name", ["a\0b.png", "a\nb.png", "a" * 300 + ".png"])
def test_invalid_file_names_are_rejected_in_one_printable_line(tmp_path, name):
    with raises(ConfigError) as refused:
        brightness(tmp_path / name)
    assert str(refused.value).isprintable()


def test_huge_image_is_rejected_before_decoding(tmp_path):
    path = saved(tmp_path, Image.new("1", (5000, 5000)))
    with raises(ConfigError, "map.png", "5000 x 5000", "4096 x 4096"):
        brightness(path)


@pytest.mark.parametrize(
    ("array", "facts"),
    [
        (np.zeros((0, 4)), ["(0, 4)"]),
        (np.zeros(4), ["(4,)"]),
        (np.full((2, 2), 255.0), ["255", "0 to 1"]),
        (np.full((2, 2), np.nan), ["nan", "0 to 1"]),
        (np.full((2, 2), "white"), ["<U5"]),
    ],
)
def test_arrays_of_wrong_shape_type_or_range_are_rejected(array, facts):
    with raises(ConfigError, *facts):
        brightness(array)
