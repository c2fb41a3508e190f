"""Messages of tactile images: ``tactile/<body>/image``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sensor_msgs.msg import Image

from tactile_sim.drawing.images import TactileImage, tactile_images
from tactile_sim.names import topic_token
from tactile_sim.ros import cdr
from tactile_sim.ros.sensor_messages import Topic
from tactile_sim.simulation import Simulation, Snapshot


def image_topics(simulation: Simulation) -> Iterator[Topic]:
    """Iterate over the topics of all tactile images of a simulation.

    Args:
        simulation: The simulation.
    """
    for image in tactile_images(simulation):
        token = topic_token(simulation.names.bodies[image.body])
        frame = simulation.frames[image.body]
        yield Topic(Image, f"tactile/{token}/{image.name}", _ImageMessage(image, frame))


class _ImageMessage:
    """Encodes the message of one image."""

    def __init__(self, image: TactileImage, frame: str):
        self._image = image
        self._frame = frame
        self._template: cdr.MessageTemplate | None = None

    def __call__(self, snapshot: Snapshot) -> bytes:
        pixels = self._image.make(snapshot)
        if self._template is None:
            self._template = cdr.template(Image, self._fields(pixels))
        return self._template.fill(snapshot.stamp, data=pixels.reshape(-1))

    def _fields(self, pixels: np.ndarray) -> dict[str, Any]:
        return {
            "header": {"stamp": cdr.STAMP, "frame_id": self._frame},
            "height": pixels.shape[0],
            "width": pixels.shape[1],
            "encoding": self._image.encoding,
            "step": pixels[0].nbytes,
            "data": cdr.Payload(),
        }
