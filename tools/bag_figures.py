#!/usr/bin/env python3
"""Generate the figures of docs/bags.md: python tools/bag_figures.py. Requires ROS and EGL, but no display.

It records a bag of the infant, one of the worm for feelers and one of the hand for its map, and saves the
output of `tactile_sim plot` in docs/images.
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
"""Duration of the infant's bag, and time of the video frame that is saved [s]."""
FALL = 1.0
"""Duration of the worm's bag [s]."""
GRASP, CLOSED = 6.0, 2.5
"""Duration of the hand's bag, and time from which the hand turns the ball [s]."""
WITHOUT = ("--ros-args", "-p", "rates.images:=0.0", "-p", "rates.points:=0.0")
"""Arguments that turn off the topics that no figure uses."""
COLORS = 256
"""Number of colors in PNG files, limited to reduce their size."""
QUIET = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}


def command(*arguments: str) -> None:
    """Run `tactile_sim` with the specified arguments."""
    subprocess.run([sys.executable, "-m", "tactile_sim", *arguments], check=True, env=os.environ | QUIET)


def still(video: Path, time: float) -> Image.Image:
    """Return the first frame of a video at or after the specified time [s]."""
    with av.open(str(video)) as container:
        return next(frame.to_image() for frame in container.decode(video=0) if frame.time >= time)


def save(image: Image.Image, name: str) -> None:
    """Save an image as docs/images/NAME."""
    path = IMAGES / name
    plain = image.convert("RGB")
    if path.suffix == ".png":
        plain = plain.quantize(palette=plain.quantize(COLORS), dither=Image.Dither.FLOYDSTEINBERG)
    plain.save(path, optimize=True, quality=85)
    print(f"{path} ({path.stat().st_size // 1000} kB)")


def main() -> None:
    """Record bags, plot them and render a video."""
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
        hand = Path(folder) / "hand"
        command("run", "hand", "--duration", str(GRASP), "--record", str(hand), *WITHOUT)
        command("plot", str(hand), "map", "--from", str(CLOSED))
        save(Image.open(Path(folder) / "hand_plots" / "map.png"), "bag_map.png")
        save(still(video, STILL).resize((960, 540), Image.Resampling.LANCZOS), "bag_video.jpg")


if __name__ == "__main__":
    main()
