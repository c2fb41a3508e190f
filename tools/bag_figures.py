#!/usr/bin/env python3
"""Makes the pictures of docs/bags.md: python tools/bag_figures.py. Needs no screen, but ROS and OpenGL (EGL).

Bags of the infant and, for its feelers, of the worm are recorded, and what `tactile_sim plot` makes of
them is written to docs/images.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import av
from PIL import Image

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
FIGURES = ("forces", "raster", "peak", "contacts")
DURATION, STILL = 4.0, 1.6
"""Of the bag, and the time of the picture from its video [s]."""
FALL = 1.0
"""Of the bag of the worm [s]."""
WITHOUT = ("--ros-args", "-p", "rates.images:=0.0", "-p", "rates.points:=0.0")
"""What no figure shows."""
QUIET = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}


def command(*arguments: str) -> None:
    """Runs `tactile_sim`."""
    subprocess.run([sys.executable, "-m", "tactile_sim", *arguments], check=True, env=os.environ | QUIET)


def still(video: Path, time: float) -> Image.Image:
    """The picture of a video at a time [s]."""
    with av.open(str(video)) as container:
        return next(frame.to_image() for frame in container.decode(video=0) if frame.time >= time)


def save(picture: Image.Image, name: str) -> None:
    """Writes docs/images/NAME."""
    path = IMAGES / name
    picture.convert("RGB").save(path, optimize=True, quality=85)
    print(f"{path} ({path.stat().st_size // 1000} kB)")


def main() -> None:
    """Records, draws, films."""
    with tempfile.TemporaryDirectory() as folder:
        bag, video = Path(folder) / "infant", Path(folder) / "infant.mp4"
        command("run", "infant", "--duration", str(DURATION), "--record", str(bag), *WITHOUT)
        command("plot", str(bag), *FIGURES, "--video", str(video), "--fps", "10")
        for figure in FIGURES:
            save(Image.open(Path(folder) / "infant_plots" / f"{figure}.png"), f"bag_{figure}.png")
        worm = Path(folder) / "worm"
        command("run", "worm", "--duration", str(FALL), "--record", str(worm), *WITHOUT)
        command("plot", str(worm), "forces")
        save(Image.open(Path(folder) / "worm_plots" / "forces.png"), "bag_feelers.png")
        save(still(video, STILL).resize((960, 540), Image.Resampling.LANCZOS), "bag_video.jpg")


if __name__ == "__main__":
    main()
