"""The process of a view: it shows the frames of the shared memory in browsers."""

from __future__ import annotations

import os
import pickle
import signal
import sys

import numpy as np

from tactile_sim.errors import TactileSimError
from tactile_sim.view.process.connection import Connection
from tactile_sim.view.process.frame_builder import FrameBuilder
from tactile_sim.view.process.replica import Replica, state_size
from tactile_sim.view.process.shared_frame import SharedFrame
from tactile_sim.view.viewer import Viewer

FRAME_INTERVAL = 0.005
"""Time between two checks for a new frame while a browser is connected [s]."""
COUNT_INTERVAL = 0.05
"""The same without browsers [s]."""


class RequestSender:
    """Sends the requests of browsers to the simulation, see `tactile_sim.loop.requests`."""

    def __init__(self, connection: Connection):
        self._connection = connection

    def pause(self, paused: bool) -> None:
        """Pause or continue."""
        self._send("pause", paused)

    def step(self, count: int) -> None:
        """Take steps while paused."""
        self._send("step", count)

    def reset(self, keyframe: str | None) -> None:
        """Reset to the initial state or to a keyframe."""
        self._send("reset", keyframe)

    def throw(self) -> None:
        """Throw the next ball at the skin."""
        self._send("throw")

    def push(self, body: int, force: np.ndarray) -> None:
        """Push a body with a force (3,), world frame [N], for a short time."""
        self._send("push", int(body), [float(part) for part in force])

    def set_control(self, index: int, value: float) -> None:
        """Set the control of an actuator."""
        self._send("set_control", int(index), float(value))

    def set_real_time_factor(self, factor: float) -> None:
        """Set the real-time factor."""
        self._send("set_real_time_factor", float(factor))

    def _send(self, request: str, *arguments: object) -> None:
        self._connection.send(request=request, arguments=arguments)


def serve(connection: Connection, shared: SharedFrame, viewer: Viewer, builder: FrameBuilder) -> None:
    """Show frames and notices until the simulation closes the connection."""
    while (message := connection.receive(FRAME_INTERVAL if shared.clients else COUNT_INTERVAL)) is not None:
        shared.clients = viewer.clients
        if "notice" in message:
            viewer.notify(message["notice"])
        if (record := shared.read()) is not None:
            viewer.show(builder.build(record))
        else:
            viewer.show_pending()


def main(arguments_file: str, memory_file: str, connection_file: str) -> int:
    """Serve one simulation.

    Args:
        arguments_file: Descriptor of a file with the pickled arguments of `ViewProcess`.
        memory_file: Descriptor of the shared memory.
        connection_file: Descriptor of the connection.

    Returns:
        The exit code.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the end of the connection ends the process
    with os.fdopen(int(arguments_file), "rb") as file:
        scene, endpoint, renderer, settings, accepts_requests = pickle.load(file)
    replica = Replica(settings) if settings else None
    connection = Connection.of(int(connection_file))
    shared = SharedFrame(scene, int(memory_file), state_size(replica.simulation) if replica else 0)
    try:
        viewer = Viewer(scene, endpoint, RequestSender(connection) if accepts_requests else None)
    except TactileSimError as error:
        connection.send(error=str(error))
        return 2
    connection.send(url=viewer.url)
    try:
        serve(connection, shared, viewer, FrameBuilder(scene, renderer, replica))
    finally:
        viewer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
