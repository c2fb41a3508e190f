"""Pictures into a video file, with PyAV."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.bag.optional_deps import require
from tactile_sim.errors import BagError

CODECS = {"libx264": {"crf": "20", "preset": "fast"}, "libopenh264": {"b": "4M"}, "mpeg4": {"qscale": "3"}}
"""The first one that is there, with its options."""


def require_video(out: Path) -> None:
    """Raise a BagError where PyAV is missing or broken, or the name is another file's than a video's."""
    if out.suffix.lower() != ".mp4":
        raise BagError(f"--video writes MP4: {out} has to end in .mp4")
    require("--video", "av", "PyAV", "av")


class Encoder:
    """Takes pictures one after the other."""

    def __init__(self, container: Any, rate: Fraction, width: int, height: int) -> None:
        import av

        self._container = container
        codec = next(name for name in CODECS if name in av.codecs_available)
        self._stream = container.add_stream(codec, rate=rate, options=CODECS[codec])
        self._stream.pix_fmt = "yuv420p"
        self._stream.width, self._stream.height = width, height

    def add(self, picture: np.ndarray) -> None:
        """Take the next picture (height, width, 3) uint8."""
        import av

        self._container.mux(self._stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))

    def end(self) -> None:
        """Write what is still on its way."""
        self._container.mux(self._stream.encode())


@contextmanager
def video(path: Path, rate: float, width: int, height: int) -> Iterator[Encoder]:
    """An MP4 file of so many pictures a second, of an even width and height [pixels].

    Raises:
        OSError: it cannot be written.
    """
    import av

    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        encoder = Encoder(container, Fraction(rate).limit_denominator(1001), width, height)
        yield encoder
        encoder.end()
