"""Images that feelers are painted on."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tactile_sim.errors import ConfigError
from tactile_sim.share import similar_file

MOST_PIXELS = 2**24
"""Of an image: 4096 x 4096. Larger ones are refused before they are read."""
SIXTEEN_BIT = ("I", "I;16", "I;16B", "I;16L", "I;16N")
"""What Pillow calls images of 16 bits; versions differ."""


def brightness(image: Path | np.ndarray) -> np.ndarray:
    """How bright the pixels of an image are, (height, width) from 0, black or transparent, to 1, white.

    Args:
        image: a file that Pillow reads, of any kind: of several colours their luminance counts, times the
            opacity where there is one. Or an array (height, width), or (height, width, 3) red, green and
            blue, or (height, width, 4) with opacity: of bool, of whole numbers up to the greatest of their
            type, or of real ones from 0 to 1.

    Raises:
        ConfigError: the file is missing, broken or too large, or the array no image; says which and why.
    """
    return _of_array(image) if isinstance(image, np.ndarray) else _of_file(Path(image))


def _of_file(path: Path) -> np.ndarray:
    from PIL import Image, ImageOps  # only where feelers are painted

    told = str(path) if str(path).isprintable() else repr(str(path))
    try:
        if path.exists() and not path.is_file():  # a pipe or a device may never end
            raise ConfigError(f"{told} cannot be read as an image: it is no file; give a PNG file")
        with Image.open(path) as image:
            width, height = image.size
            if width * height > MOST_PIXELS:
                raise _too_large(told, width, height)
            image.load()
            # A photograph may be stored lying on its side.
            upright = ImageOps.exif_transpose(image)
    except FileNotFoundError:
        raise ConfigError(f"there is no image {told}{_hint(path)}") from None
    except ConfigError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise ConfigError(f"{told} cannot be read as an image: {_one_line(error)}; give a PNG file") from None
    if upright.mode in SIXTEEN_BIT:
        return np.clip(np.asarray(upright, float) / 65535.0, 0.0, 1.0)
    if upright.mode == "F":
        return _of_array(np.asarray(upright), told)
    colours = upright.convert("RGBA")
    grey = np.asarray(colours.convert("RGB").convert("L"), float)
    return grey * np.asarray(colours.getchannel("A")) / 255.0**2


def _of_array(image: np.ndarray, name: str = "the array") -> np.ndarray:
    if image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (3, 4)) or image.size == 0:
        raise ConfigError(
            f"{name} of shape {image.shape} is no image; give (height, width), or that with 3 or 4 channels"
        )
    height, width = image.shape[:2]
    if width * height > MOST_PIXELS:
        raise _too_large(name, width, height)
    if image.dtype.kind == "b":
        level = image.astype(float)
    elif image.dtype.kind in "ui":
        level = image / float(np.iinfo(image.dtype).max)
    else:
        level = np.asarray(image, float)
    if not (level.min() >= 0.0 and level.max() <= 1.0):
        raise ConfigError(f"{name} has values from {level.min():g} to {level.max():g}; give 0 to 1, or uint8")
    if level.ndim == 2:
        return np.ascontiguousarray(level)
    # Luminance of ITU-R 601, as Pillow has it.
    grey = level[..., :3] @ np.array([0.299, 0.587, 0.114])
    return np.asarray(np.minimum(grey * (level[..., 3] if level.shape[2] == 4 else 1.0), 1.0))


def _too_large(name: str, width: int, height: int) -> ConfigError:
    side = int(np.sqrt(MOST_PIXELS))
    return ConfigError(
        f"{name} has {width} x {height} pixels; {side} x {side} is the most that is read, and each white one "
        "is a feeler: scale it down, to 1000 x 1000 or less"
    )


def _hint(path: Path) -> str:
    """What might have been meant instead of a file that is not there."""
    if re.search(r"\{.*\}", path.name):
        return "; only {geom} stands for something, the name of a geom"
    return similar_file(path)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
