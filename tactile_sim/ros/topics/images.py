"""Topics for tactile images: ``tactile/<body>/image``, and ``.../compressed`` as PNG."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache

import numpy as np
from sensor_msgs.msg import CompressedImage, Image

from tactile_sim.figures.images import TactileImage, tactile_images
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, filled, header
from tactile_sim.simulation import Simulation, Snapshot


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield a raw and a compressed topic for each tactile image."""
    for image in tactile_images(simulation):
        name = f"tactile/{image.name}"
        frame = simulation.frames[image.body]
        yield _raw(image, name, frame)
        yield _compressed(image, f"{name}/compressed", frame)


def _raw(image: TactileImage, name: str, frame: str) -> Topic:
    @cache  # the size of an image is known after its first rendering
    def template(height: int, width: int, step: int) -> cdr.MessageTemplate:
        return cdr.template(
            Image,
            {
                "header": header(frame),
                "height": height,
                "width": width,
                "encoding": image.encoding,
                "step": step,
                "data": cdr.Payload(),
            },
        )

    def make(snapshot: Snapshot) -> bytes:
        pixels = image.make(snapshot)
        form = template(*pixels.shape[:2], pixels[0].nbytes)
        return form.fill(snapshot.stamp, data=pixels.reshape(-1))

    return Topic("images", Image, name, make, frames=(frame,))


def _compressed(image: TactileImage, name: str, frame: str) -> Topic:
    """Return the topic that publishes an image as PNG, in the format of compressed_image_transport."""
    # Subscribers decode the image to the channel order named last, which is OpenCV's order for colours.
    order = "bgr8" if image.encoding == "rgb8" else image.encoding
    fields = {
        "header": header(frame),
        "format": f"{image.encoding}; png compressed {order}",
        "data": cdr.Payload(),
    }

    def png(snapshot: Snapshot) -> dict[str, np.ndarray]:
        from PIL import Image as Picture  # imported on demand: only subscribers of this topic need it

        file = io.BytesIO()
        # For areas of one colour, level 1 compresses as well as the others and is the fastest.
        Picture.fromarray(image.make(snapshot)).save(file, "PNG", compress_level=1)
        return {"data": np.frombuffer(file.getbuffer(), np.uint8)}

    return filled("images", CompressedImage, name, fields, png)
