"""Play a bag in a view."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

from tactile_sim.bag.mcap_file import Progress
from tactile_sim.common.signals import StopRequest
from tactile_sim.view.bag.force_bar import ForceBar
from tactile_sim.view.bag.frames import BagFrames
from tactile_sim.view.bag.index import BagIndex
from tactile_sim.view.bag.opening import opening_scene
from tactile_sim.view.bag.scene import read_scene
from tactile_sim.view.bag.time_bar import TimeBar
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import Endpoint, announcement

RATE = 25.0
"""Frame rate in wall time [Hz]."""


class Player:
    """Plays a bag while browsers are connected.

    Attributes:
        viewer: View that shows the frames.
        bar: Time bar with which users seek and step through the bag.
        notes: Messages to users about content that cannot be shown.
    """

    def __init__(
        self,
        path: Path,
        endpoint: Endpoint,
        namespace: str | None = None,
        progress: Progress | None = None,
        folder: Path | None = None,
    ):
        """Open a bag.

        Args:
            path: Folder or MCAP file of the bag.
            endpoint: Address at which the view listens.
            namespace: Namespace of the robot to show, or None for the first one.
            progress: Called while the bag is read, with the number of bytes read so far and the total number.
            folder: Folder for films and replays; None disables them.

        Raises:
            BagError: The path is not a bag, or the bag contains nothing to show.
            CommandError: The endpoint cannot be served.
        """
        index = BagIndex(path, progress)
        content = read_scene(index, namespace)
        self.notes = content.notes
        self._start, self._duration = index.start, index.stop - index.start
        self._frames = BagFrames(index, content)
        scene = replace(
            opening_scene(content, self._frames, index.start, index.stop),
            parents=self._frames.parents(),
            output_folder=str(folder.absolute()) if folder else "",
            bag=str(path),
        )
        self.viewer = Viewer(scene, endpoint, None)
        gui = self.viewer.server.gui
        self.bar = TimeBar(gui, index.step_times - index.start, self._duration)
        unit = self._frames.at(index.start).unit
        self._forces = ForceBar(gui, index, content, unit, self.bar.seek)
        self.viewer.notify("; ".join(self.notes))
        self._show()

    def play(self, stop: StopRequest, duration: float | None = None) -> None:
        """Play until a signal is received.

        Args:
            stop: Records received signals.
            duration: Wall time after which playback ends even without a signal [s].
        """
        last = begin = time.monotonic()
        while not stop.wait(1.0 / RATE):
            now = time.monotonic()
            if duration is not None and now >= begin + duration:
                return
            if self.viewer.clients and self.bar.advance(now - last):
                self._show()
            last = now

    def close(self) -> None:
        """Disconnect the browsers."""
        self.viewer.close()

    def _show(self) -> None:
        frame = self._frames.at(self._start + round(self.bar.time))
        bar = self.bar
        self.viewer.show(
            replace(frame, paused=not bar.playing, real_time_factor=bar.speed, discontinuous=bar.jumped)
        )
        self._forces.draw(bar.time / max(self._duration, 1), frame)


def play(
    path: str | Path, endpoint: Endpoint, duration: float | None = None, folder: Path | None = None
) -> int:
    """Play a bag until a signal is received.

    Args:
        path: Folder or MCAP file of the bag.
        endpoint: Address at which the view listens.
        duration: Wall time after which playback ends even without a signal [s].
        folder: Folder for films and replays; None disables them.

    Returns:
        The exit code.

    Raises:
        Stopped: A signal was received while the bag was read.
    """
    from tactile_sim.common.text import progress

    with StopRequest() as stop:
        with progress(f"reading {path}") as show:

            def on_progress(done: int, total: int) -> None:
                stop.check()
                show(done, total)

            player = Player(Path(path), endpoint, progress=on_progress, folder=folder)
        try:
            for note in player.notes:
                print(f"tactile_sim: {note}", file=sys.stderr)
            print(announcement(endpoint.host, player.viewer.url), flush=True)
            player.play(stop, duration)
        finally:
            player.close()
    return 0
