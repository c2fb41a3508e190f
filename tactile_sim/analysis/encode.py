"""Encode images as a video file with PyAV."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.bag.messages import require
from tactile_sim.errors import BagError

CODECS = {"libx264": {"crf": "20", "preset": "fast"}, "libopenh264": {"b": "4M"}, "mpeg4": {"qscale": "3"}}
"""Codecs in order of preference, with their options."""


def require_video(out: Path) -> None:
    """Check that a video can be written.

    Raises:
        BagError: PyAV is missing or broken, or the file name does not end in ``.mp4``.
    """
    if out.suffix.lower() != ".mp4":
        raise BagError(f"--video: file name must end in .mp4, got {out}")
    require("--video", "av", "PyAV", "av")


class Encoder:
    """Encodes images of equal size as the frames of an MP4 video; see `video`."""

    def __init__(self, container: Any, rate: Fraction, width: int, height: int) -> None:
        import av

        self._container = container
        codec = next(name for name in CODECS if name in av.codecs_available)
        self._stream = container.add_stream(codec, rate=rate, options=CODECS[codec])
        self._stream.pix_fmt = "yuv420p"
        self._stream.width, self._stream.height = width, height

    def add(self, image: np.ndarray) -> None:
        """Encode the next image (height, width, 3) uint8."""
        import av

        self._container.mux(self._stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))

    def end(self) -> None:
        """Finish encoding and write the remaining data."""
        self._container.mux(self._stream.encode())


@contextmanager
def video(path: Path, rate: float, width: int, height: int) -> Iterator[Encoder]:
    """Open an MP4 file for writing and yield its encoder.

    Args:
        path: Path of the file.
        rate: Frame rate [1/s].
        width: Width of the images, an even number [pixels].
        height: Height of the images, an even number [pixels].

    Raises:
        OSError: The file cannot be written.
    """
    import av

    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        encoder = Encoder(container, Fraction(rate).limit_denominator(1001), width, height)
        yield encoder
        encoder.end()
