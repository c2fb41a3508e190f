"""The process of the view: what the simulation puts into the shared memory goes to the browsers."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import Any

import numpy as np

from tactile_sim.child import end_quickly
from tactile_sim.errors import TactileSimError
from tactile_sim.view.channel import Channel
from tactile_sim.view.line import Line
from tactile_sim.view.mirror import Mirror, state_size
from tactile_sim.view.moments import Moments
from tactile_sim.view.viewer import Viewer

LOOK = 0.005
"""New moments are looked for this often [s] while a browser is there."""
COUNT = 0.05
"""Browsers are counted at least this often [s]."""


class Requests:
    """Sends what browsers ask for over the line: see `tactile_sim.actions`."""

    def __init__(self, line: Line):
        self._line = line

    def ask(self, action: str, *arguments: Any) -> None:
        """Request an action; arguments: numbers, texts and arrays."""
        self._line.send(request=action, arguments=[np.asarray(value).tolist() for value in arguments])


def serve(line: Line, channel: Channel, viewer: Viewer, moments: Moments) -> None:
    """Shows each new moment and each word until the simulation's side of the line is gone."""
    while (message := line.receive(LOOK if channel.clients else COUNT)) is not None:
        channel.clients = viewer.clients
        if "tell" in message:
            viewer.tell(message["tell"])
        if (record := channel.read()) is not None:
            viewer.show(moments.moment(record))
        else:
            viewer.catch_up()


def main(world_file: str, memory_file: str, line_file: str) -> int:
    """Serve one simulation.

    Args:
        world_file: Descriptor of a file with the pickled arguments of `Link`.
        memory_file: Descriptor of the shared memory.
        line_file: Descriptor of the socket.

    Returns:
        The exit code.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to clean up
    with os.fdopen(int(world_file), "rb") as file:
        world, endpoint, pictures, settings, asks = pickle.load(file)
    mirror = Mirror(settings) if settings else None
    line = Line.of(int(line_file))
    channel = Channel(world, int(memory_file), state_size(mirror.simulation) if mirror else 0)
    try:
        viewer = Viewer(world, endpoint, Requests(line) if asks else None)
    except TactileSimError as error:
        line.send(refused=str(error))
        return 2
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from here on the line says when it is over
    line.send(url=viewer.url)
    try:
        serve(line, channel, viewer, Moments(world, pictures, mirror))
    finally:
        viewer.close()
    return 0


if __name__ == "__main__":
    end_quickly()
    sys.exit(main(*sys.argv[1:]))
