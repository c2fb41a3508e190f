"""Convert images to Bayer patterns, which are the raw images of colour cameras."""

from __future__ import annotations

import numpy as np


def rbg_to_bayer_bg(image: np.ndarray) -> np.ndarray:
    """Convert an RGB image to the Bayer pattern that OpenCV calls BG.

    Red and green pixels alternate in even rows (0, 2, ...), green and blue pixels in odd rows. OpenCV's
    ``COLOR_BAYER_BG2RGB`` converts the pattern back to RGB.

    Args:
        image: (height, width, 3) RGB image.

    Returns:
        (height, width, 1) Bayer pattern.
    """
    out = image[:, :, 1:2].copy()
    out[::2, ::2, 0] = image[::2, ::2, 0]
    out[1::2, 1::2, 0] = image[1::2, 1::2, 2]
    return out
