"""Start the process of a view, publish the states of a simulation to it, and handle its requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from tactile_sim.bag.writer import BagStatus
from tactile_sim.common import signals
from tactile_sim.common.errors import CommandError, TactileSimError
from tactile_sim.common.processes import Child, Connection, pickled
from tactile_sim.common.signals import Stopped
from tactile_sim.config import Settings
from tactile_sim.config.settings import switches
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.actions import ACTIONS
from tactile_sim.simulation.runner import Runner
from tactile_sim.view.address import Endpoint
from tactile_sim.view.content import ViewScene
from tactile_sim.view.model_scene import scene_of_simulation
from tactile_sim.view.rendering import ImageRenderer, camera_infos
from tactile_sim.view.shared_frame import SharedFrame

INTERVAL = 0.04
"""Shortest wall time between two frames while the simulation runs [s]."""
FIRST_DRAWN = 15.0
"""Longest wall time for which physics waits until a browser has drawn the first frame [s]."""
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
            self._process = Child(*map(str, files), module="tactile_sim.view.process", files=files)
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
        """Start a thread that handles messages from the view."""
        self._listener = Thread(target=self._listen, args=(on_request, on_lost), daemon=True)
        self._listener.start()

    def write(self, **fields: Any) -> None:
        """Write fields of the frame to the shared memory, from which the view reads it.

        The arguments are those of `tactile_sim.view.shared_frame.update_record` except ``record``.
        """
        self.shared.write(**fields)

    def set_bodies(self, scene: ViewScene) -> None:
        """Show other bodies without skin, in a view without replica and images."""
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


class ViewPublisher:
    """Writes the state of a simulation to the shared memory, at most once per `INTERVAL` of wall time.

    While no browser is connected, the simulation loop only reads the number of browsers and writes nothing.
    If the view's process ends, the simulation continues.

    Attributes:
        url: URL to open in a browser on this machine.
    """

    def __init__(self, simulation: Simulation, process: ViewProcess):
        self._simulation = simulation
        self._process = process
        self.url = process.url
        self._shared = process.shared
        self._runner: Runner
        self._state = np.empty(simulation.engine.state_size)
        """The last valid state."""
        self._due = 0.0
        """Wall time from which the next frame may be written [s]."""
        self._written: tuple[int, bool, str | None] | None = None
        """Step count, pause state and fault in the last frame; None if something else has changed since."""
        self._readings: np.ndarray | None = None
        """Published readings at the last frame."""
        self._zero: np.ndarray | None = None
        """Readings that the tare subtracted at the last frame."""
        self._settings: Settings | None = None
        """Settings at the last frame."""
        self._waits_until: float | None = None
        """Wall time until which physics waits for the first drawn frame [s], or None if it does not wait."""
        self._repeat = 0.0
        """Simulation time after which the scene is reset [s]; 0 once a user has requested anything."""

    @staticmethod
    def open(simulation: Simulation, endpoint: Endpoint, folder: Path | None = None) -> ViewPublisher:
        """Start a view of a simulation.

        Raises:
            CommandError: The endpoint cannot be served.
        """
        renderer = ImageRenderer(simulation)
        scene = scene_of_simulation(simulation, (*renderer.infos, *camera_infos(simulation)))
        scene = replace(scene, output_folder=str(folder.absolute()) if folder else "")
        return ViewPublisher(simulation, ViewProcess(scene, endpoint, renderer, simulation))

    def serve(
        self, runner: Runner, on_lost: Callable[[str], None] | None = None, presents: bool = False
    ) -> None:
        """Start publishing the simulation and handling requests. Call this before the loop starts.

        Args:
            runner: Loop of the simulation.
            on_lost: Called with the reason if the view's process ends.
            presents: Whether the simulation exists for the view only. Then physics waits until a browser has
                drawn the first frame, and the scene is reset as ``web.repeat`` says.
        """
        self._runner = runner
        if presents:
            self._repeat = self._simulation.settings.web.repeat
        if presents and not runner.paused:
            runner.paused, self._waits_until = True, time.monotonic() + FIRST_DRAWN
        self._simulation.engine.get_state(self._state)
        self._process.listen(self._on_request, on_lost or self._warn)
        runner.watch = self.poll
        if runner.recorder:
            runner.recorder.on_status = self._process.show_recording

    def close(self) -> None:
        """End the view's process."""
        self._process.close()

    def poll(self) -> None:
        """Write a frame if a browser is connected, the frame has changed and `INTERVAL` has passed."""
        now = time.monotonic()
        if self._waits_until and (self._shared.drawn or now > self._waits_until):
            self._waits_until = None
            self._runner.pause(False)
        if not self._shared.clients or now < self._due:
            return
        simulation = self._simulation
        if 0.0 < self._repeat <= simulation.steps_since_reset * simulation.engine.timestep:
            self._runner.ask("reset")
        present = simulation.step_count, self._runner.paused, self._runner.fault
        new_readings = simulation.published[0] is not self._readings
        if new_readings or simulation.settings is not self._settings or present != self._written:
            # The loop polls at irregular times; a late frame does not delay the next one.
            self._due = max(self._due, now - INTERVAL / 2.0) + INTERVAL
            self._written = present
            self._write(*present)

    def _write(self, step: int, paused: bool, fault: str | None) -> None:
        simulation = self._simulation
        if not fault:
            simulation.engine.get_state(self._state)
        self._readings, valid = simulation.published
        changed: dict[str, Any] = {}
        if simulation.has_memory and self._readings is not None:
            changed |= {"readings": self._readings, "valid": valid}
        elif (zero := simulation.signal_chain.zero) is not None and zero is not self._zero:
            self._zero = changed["zero"] = zero
        if press := simulation.interaction.hands.press:
            changed |= {"press_body": press.body, "press_geom": press.geom, "press_point": press.point}
        if (settings := simulation.settings) is not self._settings:
            self._settings = settings
            changed |= {
                "force_scale": settings.markers.force_scale,
                "taxel_scale": settings.markers.taxel_scale,
                "touch_function": settings.skin.touch_function.encode(),
                "response_function": settings.skin.response_function.encode(),
                "enabled": list(switches(settings.skin.sensor).values()),
            }
        self._process.write(
            **changed,
            has_readings="readings" in changed,
            tared=simulation.signal_chain.zero is not None,
            time=simulation.time,
            paused=paused,
            fault=(fault or "").encode(),
            state=self._state,
            press_force=press.force if press else 0.0,
            pull_force=simulation.interaction.hands.pull_force,
            step=step,
            taken=simulation.steps_since_reset,
        )

    # -- in the thread that receives requests ----------------------------------------------------------------

    def _on_request(self, request: str, arguments: list[Any]) -> None:
        if request != "set_view":  # it does not come from a user
            self._repeat = 0.0
        self._runner.ask(request, *arguments).add_done_callback(lambda done: self._answer(request, done))

    def _answer(self, request: str, future: Future) -> None:
        self._written = None
        try:
            answer = future.result()
        except TactileSimError as error:
            self._process.notify(str(error))
        else:
            if isinstance(answer, str) and ACTIONS[request].answered:
                self._process.notify(answer)

    def _warn(self, reason: str) -> None:
        self._runner.post(
            lambda: self._runner.output.warn(f"the web view failed ({reason}); the simulation continues")
        )
