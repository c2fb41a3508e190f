"""Topics for cameras: ``cameras/<name>/image``, ``depth`` and ``camera_info``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sensor_msgs.msg import CameraInfo, Image

from tactile_sim.cameras import Camera, CameraImage
from tactile_sim.common.names import topic_token
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, filled, header
from tactile_sim.simulation import Simulation


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield the topics of each camera: its image, its depth if it has one, and its calibration."""
    for name, camera in simulation.cameras.items():
        place, frame = f"cameras/{topic_token(name)}", simulation.camera_frames[name]
        stream = simulation.camera_streams[name]
        yield _image(camera, stream, f"{place}/image", frame, "rgb8", 3 * camera.width)
        if camera.depth:
            yield _image(camera, stream, f"{place}/depth", frame, "32FC1", 4 * camera.width)
        yield filled(stream, CameraInfo, f"{place}/camera_info", _calibration(camera, frame), lambda _: {})


def _image(camera: Camera, stream: str, name: str, frame: str, encoding: str, step: int) -> Topic:
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
