"""A bag played back in the view."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from tactile_sim.bag.mcap_file import Progress
from tactile_sim.signals import StopRequest
from tactile_sim.view.address import Endpoint, announcement
from tactile_sim.view.bag_index import BagIndex
from tactile_sim.view.bag_moments import BagMoments
from tactile_sim.view.bag_world import see
from tactile_sim.view.time_bar import TimeBar
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.viewpoint import Viewpoint

RATE = 25.0
"""Moments a second of wall time."""
LOOKS = 5
"""At so many moments of the bag all is to be in sight at first."""


class Player:
    """Shows a bag in a `Viewer`: plays when the first browser comes, and waits when all have gone.

    Attributes: ``viewer``, ``bar``, and ``remarks``: what the bag lacks, in words.
    """

    def __init__(
        self,
        path: Path,
        endpoint: Endpoint,
        namespace: str | None = None,
        progress: Progress | None = None,
    ):
        """Open a bag.

        Args:
            path: The bag.
            endpoint: Where to listen.
            namespace: The robot to show from a bag with several.
            progress: Called while the bag is indexed.

        Raises:
            BagError: There is no bag, or it has nothing to show.
            CommandError: The endpoint cannot be served.
        """
        index = BagIndex(path, progress)
        seen = see(index, namespace)
        self.remarks = seen.remarks
        self._start = index.start
        self._moments = BagMoments(index, seen)
        some = [self._moments.at(round(time)) for time in np.linspace(index.start, index.stop, LOOKS)]
        viewpoint = Viewpoint.of(seen.world, some)
        world = replace(seen.world, center=viewpoint.center, extent=2.0 * viewpoint.radius)
        self.viewer = Viewer(world, endpoint, None)
        self.bar = TimeBar(self.viewer.server.gui, index.instants - index.start, index.stop - index.start)
        self.viewer.panel.tell("; ".join(self.remarks))
        self._show()

    def play(self, stop: StopRequest, duration: float | None = None) -> None:
        """Play until a signal comes, or ``duration`` [s of wall time] is over."""
        last = begin = time.monotonic()
        while not stop.wait(1.0 / RATE):
            now = time.monotonic()
            if duration is not None and now >= begin + duration:
                return
            if self.viewer.clients and self.bar.go_on(now - last):
                self._show()
            last = now

    def close(self) -> None:
        """Sends the browsers away."""
        self.viewer.close()

    def _show(self) -> None:
        moment = self._moments.at(self._start + round(self.bar.time))
        bar = self.bar
        self.viewer.show(
            replace(moment, paused=not bar.playing, real_time_factor=bar.speed, begins=bar.jumped)
        )


def play(path: str | Path, endpoint: Endpoint, duration: float | None = None) -> int:
    """Play a bag until a signal ends it.

    Args:
        path: The bag.
        endpoint: Where to listen.
        duration: Wall time after which playback ends [s].

    Returns:
        The exit code.

    Raises:
        Stopped: a signal came while the bag was read.
    """
    from tactile_sim.commands.progress import progress

    with StopRequest() as stop:
        with progress(f"reading {path}") as show:

            def report(done: int, total: int) -> None:
                stop.check()
                show(done, total)

            player = Player(Path(path), endpoint, progress=report)
        try:
            for remark in player.remarks:
                print(f"tactile_sim: {remark}", file=sys.stderr)
            print(announcement(endpoint.host, player.viewer.url), flush=True)
            player.play(stop, duration)
        finally:
            player.close()
    return 0
