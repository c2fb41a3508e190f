"""Main function of the view's process, which shows the frames from the shared memory in browsers."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from typing import Any

from tactile_sim.common.processes import prepare

if __name__ == "__main__":
    prepare()  # before the slow imports, because it reduces garbage collection

import numpy as np

from tactile_sim.bag.writer import BagStatus
from tactile_sim.common.errors import TactileSimError
from tactile_sim.common.processes import Connection
from tactile_sim.view.process.camera_views import CameraViews
from tactile_sim.view.process.frame_builder import FrameBuilder
from tactile_sim.view.process.replica import Replica
from tactile_sim.view.process.shared_frame import SharedFrame
from tactile_sim.view.viewer import Viewer

FRAME_INTERVAL = 0.005
"""Time between two checks for a new frame while a browser is connected [s]."""
COUNT_INTERVAL = 0.05
"""Time between two checks for a new frame while no browser is connected [s]."""
VIEW_INTERVAL = 0.5
"""Shortest time between two reports of the camera and the colour scale to the simulation [s]."""


class RequestSender:
    """Sends requests from browsers to the simulation, see `tactile_sim.simulation.actions`."""

    def __init__(self, connection: Connection):
        self._connection = connection

    def ask(self, action: str, *arguments: Any) -> None:
        """Request an action. The arguments may be numbers, strings and arrays."""
        values = [np.asarray(value).tolist() for value in arguments]
        self._connection.send(request=action, arguments=values)


def serve(connection: Connection, shared: SharedFrame, viewer: Viewer, builder: FrameBuilder) -> None:
    """Show frames, notices and the recording status until the simulation closes the connection.

    Changes of the camera and the colour scale are reported to the simulation, which stores them in bags.

    Args:
        connection: The view's end of the connection to the simulation.
        shared: Memory from which frames are read.
        viewer: Shows the frames in browsers.
        builder: Completes and converts the frames.
    """
    reported, due = None, 0.0
    while (message := connection.receive(FRAME_INTERVAL if shared.clients else COUNT_INTERVAL)) is not None:
        if "files" in message:
            arguments_file, memory_file = message["files"]
            with os.fdopen(arguments_file, "rb") as file:
                scene = pickle.load(file)
            shared.close()
            shared, builder = SharedFrame(scene, memory_file), FrameBuilder(scene, None, None, viewer.scale)
            viewer.set_bodies(scene)
        shared.clients = viewer.clients
        if "notice" in message:
            viewer.notify(message["notice"])
        if "recording" in message:
            viewer.panel.outputs.show_recording(BagStatus(**message["recording"]))
        if (now := time.monotonic()) >= due and (view := viewer.live_view) != reported and view:
            connection.send(request="set_view", arguments=[view.text])
            reported, due = view, now + VIEW_INTERVAL
        if (record := shared.read()) is not None:
            viewer.show(builder.build(record))
        else:
            viewer.show_pending()


def main(arguments_file: str, memory_file: str, connection_file: str) -> int:
    """Run the view of one simulation until the simulation closes the connection.

    Args:
        arguments_file: Descriptor of a file with pickled arguments from `ViewProcess`.
        memory_file: Descriptor of the shared memory.
        connection_file: Descriptor of the connection to the simulation.

    Returns:
        The exit code.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to clean up
    with os.fdopen(int(arguments_file), "rb") as file:
        scene, endpoint, renderer, settings, accepts_requests = pickle.load(file)
    replica = Replica(settings) if settings else None
    connection = Connection.of(int(connection_file))
    shared = SharedFrame(scene, int(memory_file), replica.simulation.engine.state_size if replica else 0)
    try:
        cameras = CameraViews(replica.simulation) if replica and replica.simulation.cameras else None
        viewer = Viewer(scene, endpoint, RequestSender(connection) if accepts_requests else None)
    except TactileSimError as error:
        connection.send(error=str(error))
        return 2
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from here on, closing the connection ends the process
    connection.send(url=viewer.url)
    try:
        serve(connection, shared, viewer, FrameBuilder(scene, renderer, replica, viewer.scale, cameras))
    finally:
        viewer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
