"""Topics for images: tactile images of pads, and images of cameras."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

from tactile_sim.common.names import topic_token
from tactile_sim.figures.images import TactileImage, tactile_images
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, filled, header
from tactile_sim.scenes.camera import Camera
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.simulation.camera_process import CameraImage


def image_topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield a raw and a compressed topic for each tactile image."""
    for image in tactile_images(simulation):
        name = f"tactile/{image.name}"
        frame = simulation.frames[image.body]
        yield _raw_image(image, name, frame)
        yield _compressed_image(image, f"{name}/compressed", frame)


def _raw_image(image: TactileImage, name: str, frame: str) -> Topic:
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


def _compressed_image(image: TactileImage, name: str, frame: str) -> Topic:
    """Return the topic that publishes an image as PNG, in the format of compressed_image_transport."""
    # Subscribers decode the image to the channel order named last, which is OpenCV's order for colors.
    order = "bgr8" if image.encoding == "rgb8" else image.encoding
    fields = {
        "header": header(frame),
        "format": f"{image.encoding}; png compressed {order}",
        "data": cdr.Payload(),
    }

    def png(snapshot: Snapshot) -> dict[str, np.ndarray]:
        from PIL import Image as Picture  # imported on demand: only subscribers of this topic need it

        file = io.BytesIO()
        # For areas of one color, level 1 compresses as well as the others and is the fastest.
        Picture.fromarray(image.make(snapshot)).save(file, "PNG", compress_level=1)
        return {"data": np.frombuffer(file.getbuffer(), np.uint8)}

    return filled("images", CompressedImage, name, fields, png)


def camera_topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield the topics of each camera: its image, its depth if it has one, and its calibration."""
    for name, camera in simulation.cameras.items():
        place, frame = f"cameras/{topic_token(name)}", simulation.camera_frames[name]
        stream = simulation.schedule.camera_stream(name)
        yield _camera_image(camera, stream, f"{place}/image", frame, "rgb8", 3 * camera.width)
        if camera.depth:
            yield _camera_image(camera, stream, f"{place}/depth", frame, "32FC1", 4 * camera.width)
        yield filled(stream, CameraInfo, f"{place}/camera_info", _calibration(camera, frame), lambda _: {})


def _camera_image(camera: Camera, stream: str, name: str, frame: str, encoding: str, step: int) -> Topic:
    fields = {
        "header": header(frame),
        "height": camera.height,
        "width": camera.width,
        "encoding": encoding,
        "step": step,
        "data": cdr.Payload(),
    }
    template = cdr.template(Image, fields)

    def make(image: CameraImage) -> bytes:
        pixels = image.color if encoding == "rgb8" else image.depth
        assert pixels is not None
        return template.fill(image.stamp, data=pixels.reshape(-1).view(np.uint8))

    return Topic(stream, Image, name, make, camera=camera.name)


def _calibration(camera: Camera, frame: str) -> dict[str, Any]:
    """Return the fields of a CameraInfo message. The images are not rectified."""
    return {
        "header": header(frame),
        "height": camera.height,
        "width": camera.width,
        "distortion_model": "plumb_bob",
        "d": camera.distortion.tolist(),
        "k": camera.matrix.ravel().tolist(),
        "r": np.eye(3).ravel().tolist(),
        "p": np.hstack([camera.matrix, np.zeros((3, 1))]).ravel().tolist(),
    }
