"""Main function of the process that renders cameras."""

from __future__ import annotations

import os
import pickle
import signal
import sys

from tactile_sim.common.processes import prepare

if __name__ == "__main__":
    prepare()  # before the slow imports

from tactile_sim.common.processes import Connection
from tactile_sim.scenes.camera import Camera
from tactile_sim.scenes.renderer import Renderer, RenderingError
from tactile_sim.simulation.camera_process import SharedImage


def render(renderer: Renderer, camera: Camera, shared: SharedImage) -> None:
    """Render the state in a camera's memory and write the image there."""
    renderer.set_state(shared)
    color, depth = camera.image(renderer)
    shared.color[:] = color
    if shared.depth is not None:
        shared.depth[:] = depth


def main(content_file: str, connection_file: str, *image_files: str) -> int:
    """Render images until the simulation closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # closing the connection ends the process
    with os.fdopen(int(content_file), "rb") as file:
        model, cameras = pickle.load(file)
    connection = Connection.of(int(connection_file))
    memory = [
        SharedImage(model, camera, int(file)) for camera, file in zip(cameras, image_files, strict=True)
    ]
    renderer = Renderer(model)
    try:
        for camera, shared in zip(cameras, memory, strict=True):
            shared.qpos[:] = model.qpos0
            render(renderer, camera, shared)
    except RenderingError as error:
        connection.send(error=str(error))
        return 2
    connection.send(ready=True)
    while (message := connection.receive()) is not None:
        index = message["render"]
        render(renderer, cameras[index], memory[index])
        connection.send(done=index)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
