"""Tactile images: ``tactile/<body>/image``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from sensor_msgs.msg import Image

from tactile_sim.drawing.images import TactileImage, tactile_images
from tactile_sim.names import topic_token
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, header
from tactile_sim.simulation import Simulation, Snapshot


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield the topics of all tactile images.

    Args:
        simulation: The simulation.
    """
    for image in tactile_images(simulation):
        yield _topic(image, topic_token(simulation.names.bodies[image.body]), simulation.frames[image.body])


def _topic(image: TactileImage, token: str, frame: str) -> Topic:
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

    return Topic("images", Image, f"tactile/{token}/{image.name}", make)
