"""Start and control the view's process from the simulation."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Thread
from typing import Any

from tactile_sim.bag.writer import BagStatus
from tactile_sim.common import signals
from tactile_sim.common.errors import CommandError
from tactile_sim.common.processes import Child, Connection, pickled
from tactile_sim.common.signals import Stopped
from tactile_sim.simulation import Simulation
from tactile_sim.view.content import ViewScene
from tactile_sim.view.process.image_renderer import ImageRenderer
from tactile_sim.view.process.shared_frame import SharedFrame
from tactile_sim.view.web.address import Endpoint

INTERVAL = 0.04
"""Shortest wall time between two frames while the simulation runs [s]."""
START_TIMEOUT = 180.0
"""Wall time within which the process must start [s]."""


class ViewProcess:
    """Runs a view in another process while this object is open.

    The simulation sends ``{"notice": text}`` and ``{"recording": status}`` to the view, where the status has
    the fields of `BagStatus`. The view first sends ``{"url": url}`` or ``{"error": text}``, then
    ``{"request": name, "arguments": [...]}`` for each request. New frames are not announced, because waking
    another process takes longer than writing a frame. Instead, the view polls the shared memory. A message
    with ``files`` replaces the bodies without skin; its files are the new scene and the new shared memory.

    Attributes:
        scene: Constant content of the view.
        shared: Memory through which frames are passed to the view.
        url: URL to open in a browser on this machine.
    """

    def __init__(
        self,
        scene: ViewScene,
        endpoint: Endpoint,
        renderer: ImageRenderer | None = None,
        replicated: Simulation | None = None,
        accepts_requests: bool = True,
    ):
        """Start the process.

        Args:
            scene: Constant content of the view.
            endpoint: Address at which the view listens.
            renderer: Renders the tactile images; None if there are no images.
            replicated: The simulation whose states will be written. The view's process then computes the
                other fields from the state. If None, all fields must be written.
            accepts_requests: Whether browsers may send requests.

        Raises:
            CommandError: The endpoint cannot be served.
            Stopped: A signal was received before the process had started (see `tactile_sim.common.signals`).
        """
        self.scene = scene
        self.shared = SharedFrame(scene, state_size=replicated.engine.state_size if replicated else 0)
        self._connection, theirs = Connection.pair()
        self._listener: Thread | None = None
        self._closing = False
        settings = replicated and replicated.settings
        with pickled((scene, endpoint, renderer, settings, accepts_requests)) as arguments_file:
            files = (arguments_file, self.shared.file, theirs.file)
            self._process = Child(*map(str, files), module="tactile_sim.view.process.main", files=files)
        theirs.close()
        try:
            answer = self._first_answer()
        except Stopped:
            self.close()
            raise
        if not answer or "url" not in answer:
            self.close()
            output = " ".join(self._process.last_lines[-1:]) or "no answer"
            raise CommandError((answer or {}).get("error", f"the web view did not start: {output}"))
        self.url: str = answer["url"]

    def listen(self, on_request: Callable[[str, list[Any]], None], on_lost: Callable[[str], None]) -> None:
        """Start a thread that handles messages from the view.

        Args:
            on_request: Called with the name and the arguments of each request.
            on_lost: Called with the reason if the process ends unexpectedly.
        """
        self._listener = Thread(target=self._listen, args=(on_request, on_lost), daemon=True)
        self._listener.start()

    def write(self, **fields: Any) -> None:
        """Write fields of the frame to the shared memory, from which the view reads it.

        The arguments are those of `tactile_sim.view.process.shared_frame.update_record` except ``record``.
        """
        self.shared.write(**fields)

    def set_bodies(self, scene: ViewScene) -> None:
        """Show other bodies without skin, in a view without replica and images.

        Args:
            scene: The new content, whose skin must be that of the current content; see `has_same_skin`.
        """
        previous, self.scene, self.shared = self.shared, scene, SharedFrame(scene)
        self.shared.clients = previous.clients
        with pickled(scene) as arguments_file:
            self._connection.send_files((arguments_file, self.shared.file), scene=True)
        previous.close()

    def notify(self, text: str) -> None:
        """Show a notice in the browsers."""
        self._connection.send(notice=text)

    def show_recording(self, status: BagStatus) -> None:
        """Show the status of a recording in the browsers. Any thread can call this method."""
        self._connection.send(recording=status._asdict())

    def close(self) -> None:
        """End the view's process and disconnect its browsers."""
        self._closing = True
        self._connection.shut_down()
        if self._listener:
            self._listener.join()
        self._process.end()
        self._connection.close()
        self.shared.close()

    def _first_answer(self) -> dict[str, Any] | None:
        end = time.monotonic() + START_TIMEOUT
        answer: dict[str, Any] | None = {}
        while answer == {} and time.monotonic() < end:
            signals.check()
            answer = self._connection.receive(INTERVAL)
        return answer

    def _listen(self, on_request: Callable[[str, list[Any]], None], on_lost: Callable[[str], None]) -> None:
        while (message := self._connection.receive()) is not None:
            try:
                on_request(message["request"], message["arguments"])
            except (LookupError, TypeError, ValueError, OverflowError) as error:
                self.notify(f"invalid request: {error}")
        self.shared.clients = 0
        if not self._closing:
            self._process.end()
            code, lines = self._process.returncode, self._process.last_lines[-1:]
            killed = code is not None and code < 0  # then its last line is not the reason
            on_lost(f"exit code {code}" if killed or not lines else lines[0])
