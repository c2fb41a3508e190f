"""Read the images that define painted feelers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tactile_sim.common.errors import ConfigError
from tactile_sim.common.files import similar_file

MOST_PIXELS = 2**24
"""Largest allowed number of pixels in an image (4096 x 4096). Larger files are rejected before decoding."""
SIXTEEN_BIT = ("I", "I;16", "I;16B", "I;16L", "I;16N")
"""Pillow modes for 16-bit images, which differ between Pillow versions."""
LUMINANCE = (0.299, 0.587, 0.114)
"""Weights of red, green and blue (ITU-R BT.601)."""


def brightness(image: Path | np.ndarray, white_only: bool | None = None) -> np.ndarray:
    """Return the brightness of each pixel, from 0 (black or transparent) to 1 (white).

    A pixel is white if red, green, blue and opacity (if the image has an alpha channel) all have the largest
    value of their type: 255 for 8 bits, 65535 for 16 bits, 1.0 for floats, True for bool.

    Args:
        image: A file that Pillow can read, or an array with shape (height, width), (height, width, 3) for RGB
            or (height, width, 4) for RGBA. Its elements are bool, integers up to the largest value of their
            type, or floats from 0 to 1.
        white_only: If True, set all pixels that are not white to 0, so that colored pixels are ignored. If
            False, use the luminance (ITU-R BT.601) times the opacity. By default, True for a color image,
            that is, if red, green and blue differ in any pixel with opacity > 0; otherwise False.

    Returns:
        (height, width) float64, from 0 to 1.

    Raises:
        ConfigError: The file is missing, corrupt or too large, or the array is not an image.
    """
    if isinstance(image, np.ndarray):
        return _brightness(image, "the array", white_only)
    path = Path(image)
    name = str(path) if str(path).isprintable() else repr(str(path))
    return _brightness(_read(path, name), name, white_only)


def _read(path: Path, name: str) -> np.ndarray:
    """Read an image file as an array that `_brightness` accepts."""
    from PIL import Image, ImageOps  # imported here because only painted feelers need it

    try:
        if path.exists() and not path.is_file():  # reading a pipe or a device may never end
            raise ConfigError(f"{name} cannot be read as an image: it is not a regular file; give a PNG file")
        with Image.open(path) as image:
            width, height = image.size
            if width * height > MOST_PIXELS:
                raise _too_large(name, width, height)
            image.load()
            # The EXIF orientation of a photograph is respected.
            upright = ImageOps.exif_transpose(image)
    except FileNotFoundError:
        raise ConfigError(f"no such image: {name}{_hint(path)}") from None
    except ConfigError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise ConfigError(f"{name} cannot be read as an image: {_one_line(error)}; give a PNG file") from None
    if upright.mode in SIXTEEN_BIT:
        return np.clip(np.asarray(upright), 0, 65535).astype(np.uint16)
    return np.asarray(upright if upright.mode == "F" else upright.convert("RGBA"))


def _brightness(image: np.ndarray, name: str, white_only: bool | None) -> np.ndarray:
    """Return the brightness of each pixel of an array; see `brightness`."""
    if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (3, 4)) or image.size == 0:
        raise ConfigError(
            f"{name} is not an image, got shape {image.shape}; give (height, width), or that with 3 or 4 "
            "channels"
        )
    if image.dtype.kind not in "buif":
        raise ConfigError(f"{name} is not an image, got values of type {image.dtype}; give 0 to 1, or uint8")
    height, width = image.shape[:2]
    if width * height > MOST_PIXELS:
        raise _too_large(name, width, height)
    largest = float(np.iinfo(image.dtype).max) if image.dtype.kind in "ui" else 1.0
    if not (image.min() >= 0 and image.max() <= largest):
        raise ConfigError(
            f"{name} has invalid values, got {image.min():g} to {image.max():g}; give 0 to 1, or uint8"
        )
    channels = [image] if image.ndim == 2 else list(np.moveaxis(image, 2, 0))
    opacity = channels.pop() if len(channels) == 4 else None
    colored = len(channels) == 3 and _has_colors(channels, opacity)
    if colored if white_only is None else white_only:
        white = np.logical_and.reduce([channel == largest for channel in channels])
        return np.asarray(white if opacity is None else white & (opacity == largest), float)
    if colored:
        gray = sum(weight * channel for weight, channel in zip(LUMINANCE, channels, strict=True))
    else:
        gray = channels[0].astype(float)
    level = gray / largest if opacity is None else gray / largest * (opacity / largest)
    return np.asarray(np.minimum(level, 1.0))


def _has_colors(channels: Sequence[np.ndarray], opacity: np.ndarray | None) -> bool:
    """Return whether red, green and blue differ in any pixel with opacity > 0."""
    red, green, blue = channels
    differ = (red != green) | (green != blue)
    return bool((differ if opacity is None else differ & (opacity > 0)).any())


def _too_large(name: str, width: int, height: int) -> ConfigError:
    side = int(np.sqrt(MOST_PIXELS))
    return ConfigError(
        f"{name} is too large, got {width} x {height} pixels, at most {side} x {side} are allowed; scale it "
        "down to 1000 x 1000 or less, because each white pixel is a feeler"
    )


def _hint(path: Path) -> str:
    """Return a suggestion for the error message about a missing image."""
    if re.search(r"\{.*\}", path.name):
        return "; the only placeholder is {geom}, the name of a geom"
    return similar_file(path)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
