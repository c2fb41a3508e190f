"""Read tactile images from a bag, and export them as numbered PNG files."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tactile_sim.analysis.span import Span
from tactile_sim.bag.atomic_write import fresh, fresh_folder
from tactile_sim.bag.mcap_file import Progress
from tactile_sim.bag.messages import Messages
from tactile_sim.errors import BagError

NAME = "{:07d}.png"
"""Name of an image file; ``ffmpeg -i %07d.png`` reads the files in order."""


def body_of(topic: str) -> str:
    """Return the name of the body in a topic name, such as ``palm`` in ``/left/tactile/palm/image``."""
    return topic.rpartition("/tactile/")[2].partition("/")[0]


def pixels_of(value: Any) -> np.ndarray:
    """Return the RGB pixels (height, width, 3) uint8 of an Image message.

    Raises:
        BagError: The size of the data does not match the other fields.
    """
    channels = 3 if value.encoding in ("rgb8", "bgr8") else 1
    size = value.height * value.step
    if not 0 < value.width * channels <= value.step or not 0 < size == len(value.data):
        raise BagError(
            f"image: must have {value.height} rows of {value.step} bytes for a width of {value.width}"
            f" {value.encoding} pixels, got {len(value.data)} bytes; choose other bodies with --body"
        )
    rows = value.data.reshape(value.height, value.step)
    image = rows[:, : value.width * channels].reshape(value.height, value.width, channels)
    image = image[:, :, ::-1] if value.encoding == "bgr8" else image
    return np.ascontiguousarray(np.broadcast_to(image, (*image.shape[:2], 3)))


def write_frames(
    bag: Path,
    topics: Collection[str],
    span: Span,
    out: Path,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[Path, int]:
    """Write each topic's images as PNG files, numbered from 0, to a folder named after the topic's body.

    Args:
        bag: Path of the bag.
        topics: Topics of type sensor_msgs/Image.
        span: Time span to export.
        out: Folder in which the folders of the bodies are created.
        force: Whether to replace images in existing folders.
        progress: Called with the number of bytes read and the size of the file.

    Returns:
        The number of images written to each folder.

    Raises:
        BagError: There are no images, a folder exists and ``force`` is False, or a file cannot be written.
    """
    folders = {topic: out / body_of(topic) for topic in topics}
    for folder in folders.values():
        if folder.exists() and not force:
            raise BagError(f"{folder} already exists; choose another folder, or replace it with --force")
    counts = dict.fromkeys(folders.values(), 0)
    with fresh_folder(out):
        for message in Messages(bag, folders.__contains__, progress):
            if message.stamp not in span:
                continue
            folder = folders[message.topic]
            with fresh_folder(folder), fresh(folder / NAME.format(counts[folder])) as path:
                Image.fromarray(pixels_of(message.value)).save(path, format="png")
            counts[folder] += 1
    if not any(counts.values()):
        raise BagError(f"{bag}: --frames requires tactile/BODY/image; not in the bag {span}")
    for folder, count in counts.items():
        for stale in folder.glob("[0-9]" * 7 + ".png"):
            if int(stale.stem) >= count:
                stale.unlink()
    return counts
