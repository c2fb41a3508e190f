"""From a simulation to the process that shows it, and back."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from threading import Thread
from typing import Any

from tactile_sim import signals
from tactile_sim.child import Child
from tactile_sim.errors import CommandError
from tactile_sim.signals import Stopped
from tactile_sim.simulation import Simulation
from tactile_sim.view.address import Endpoint
from tactile_sim.view.channel import Channel
from tactile_sim.view.line import Line
from tactile_sim.view.mirror import state_size
from tactile_sim.view.pictures import Pictures
from tactile_sim.view.world import World

INTERVAL = 0.04
"""Moments are at least so far apart [s of wall time] while time runs."""
PATIENCE = 180.0
"""The process of the view must be up within this long [s]; it may have to compile kernels."""


class Link:
    """The view's process, the memory it reads and the line to it, while this object is open.

    Over the line go, to the view: ``{"tell": text}``; from it: at first ``{"url": ...}`` or
    ``{"refused": text}``, then ``{"request": name, "arguments": [...]}``. Of a new moment in the memory the
    view is not told, for waking another process costs more than to write it: it looks there by itself.
    """

    def __init__(
        self,
        world: World,
        endpoint: Endpoint,
        pictures: Pictures | None = None,
        mirrored: Simulation | None = None,
        asks: bool = True,
    ):
        """Start the process.

        Args:
            world: The scene.
            endpoint: Where to listen.
            pictures: Renders the tactile images.
            mirrored: The simulation whose states will be written; the view's process computes the rest from
                them. None: everything is written.
            asks: Whether browsers may send requests.

        Raises:
            CommandError: The endpoint cannot be served.
        """
        self.channel = Channel(world, state_size=state_size(mirrored) if mirrored else 0)
        self._line, theirs = Line.pair()
        self._listener: Thread | None = None
        self._closing = False
        world_file = os.memfd_create("tactile_sim_world")
        with os.fdopen(world_file, "wb") as file:
            pickle.dump((world, endpoint, pictures, mirrored and mirrored.settings, asks), file)
            file.flush()
            os.lseek(world_file, 0, os.SEEK_SET)
            files = (world_file, self.channel.file, theirs.file)
            self._process = Child(*map(str, files), module="tactile_sim.view.server", files=files)
        theirs.close()
        try:
            answer = self._first_answer()
        except Stopped:
            self.close()
            raise
        if not answer or "url" not in answer:
            self.close()
            said = " ".join(self._process.last_lines[-1:]) or "no answer"
            raise CommandError((answer or {}).get("refused", f"the web view did not start: {said}"))
        self.url: str = answer["url"]
        """To open in a browser on this machine."""

    def _first_answer(self) -> dict[str, Any] | None:
        """What the view says as it starts. Raises Stopped (see `tactile_sim.signals`)."""
        end = time.monotonic() + PATIENCE
        answer: dict[str, Any] | None = {}
        while answer == {} and time.monotonic() < end:
            signals.check()
            answer = self._line.receive(INTERVAL)
        return answer

    def listen(self, obey: Callable[[str, list[Any]], None], lost: Callable[[str], None]) -> None:
        """Has a thread of its own call ``obey`` with each request and, should the view break down, ``lost``
        with the reason."""
        self._listener = Thread(target=self._listen, args=(obey, lost), daemon=True)
        self._listener.start()

    def write(self, **fields: Any) -> None:
        """Shows a moment: fields as in `Channel.write`."""
        self.channel.write(**fields)

    def tell(self, text: str) -> None:
        """Shows a line of text in the browsers."""
        self._line.send(tell=text)

    def close(self) -> None:
        """Ends the view."""
        self._closing = True
        self._line.hang_up()
        if self._listener:
            self._listener.join()
        self._process.end()
        self._line.close()
        self.channel.close()

    def _listen(self, obey: Callable[[str, list[Any]], None], lost: Callable[[str], None]) -> None:
        while (message := self._line.receive()) is not None:
            try:
                obey(message["request"], message["arguments"])
            except (LookupError, TypeError, ValueError, OverflowError) as error:
                self.tell(f"invalid request: {error}")
        self.channel.clients = 0
        if not self._closing:
            self._process.end()
            lost(" ".join(self._process.last_lines[-1:]) or f"exit code {self._process.returncode}")
