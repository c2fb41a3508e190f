"""The process of the view: what the simulation puts into the shared memory goes to the browsers."""

from __future__ import annotations

import os
import pickle
import signal
import sys

import numpy as np

from tactile_sim.child import prepare
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
    """What browsers ask for goes over the line: see `tactile_sim.loop.requests`."""

    def __init__(self, line: Line):
        self._line = line

    def pause(self, paused: bool) -> None:
        """Lets time stand still, or go on."""
        self._ask("pause", paused)

    def step(self, count: int) -> None:
        """Takes so many steps while time stands still."""
        self._ask("step", count)

    def reset(self, keyframe: str | None) -> None:
        """Back to the start, or to a keyframe."""
        self._ask("reset", keyframe)

    def throw(self) -> None:
        """Throws the next ball at the skin."""
        self._ask("throw")

    def push(self, body: int, force: np.ndarray) -> None:
        """Pushes a body for a moment; force (3,) in the world [N]."""
        self._ask("push", int(body), [float(part) for part in force])

    def set_control(self, index: int, value: float) -> None:
        """Sets an actuator's control."""
        self._ask("set_control", int(index), float(value))

    def set_real_time_factor(self, factor: float) -> None:
        """Sets the pace of time."""
        self._ask("set_real_time_factor", float(factor))

    def _ask(self, request: str, *arguments: object) -> None:
        self._line.send(request=request, arguments=arguments)


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


def main(
    world_file: str, memory_file: str, line_file: str, host: str, port: str, elsewhere: str, asks: str
) -> int:
    """Serves one simulation; the first three are numbers of open files. The last two are 1 for yes, else 0:
    whether the next free port will do, and whether browsers may ask for something. Returns the exit code.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to clean up
    with os.fdopen(int(world_file), "rb") as file:
        world, pictures, settings = pickle.load(file)
    mirror = Mirror(settings) if settings else None
    line = Line.of(int(line_file))
    channel = Channel(world, int(memory_file), state_size(mirror.simulation) if mirror else 0)
    try:
        controls = Requests(line) if int(asks) else None
        viewer = Viewer(world, host, int(port), controls, bool(int(elsewhere)))
    except TactileSimError as error:
        line.send(refused=str(error))
        return 2
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from here on the line says when it is over
    line.send(address=viewer.address)
    try:
        serve(line, channel, viewer, Moments(world, pictures, mirror))
    finally:
        viewer.close()
    return 0


if __name__ == "__main__":
    prepare()
    sys.exit(main(*sys.argv[1:]))
