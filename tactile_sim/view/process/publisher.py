"""Publish the states of a running simulation to its view and handle requests from browsers."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tactile_sim.common.errors import TactileSimError
from tactile_sim.config import Settings
from tactile_sim.config.settings import switches
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.actions import ACTIONS
from tactile_sim.simulation.runner import Runner
from tactile_sim.view.process.camera_views import camera_infos
from tactile_sim.view.process.image_renderer import ImageRenderer
from tactile_sim.view.process.view_process import INTERVAL, ViewProcess
from tactile_sim.view.scene.from_model import scene_of_simulation
from tactile_sim.view.web.address import Endpoint


class ViewPublisher:
    """Writes the state of a simulation to the shared memory, at most once per `INTERVAL` of wall time.

    While no browser is connected, the simulation loop only reads the number of browsers and writes nothing.
    If the view's process ends, the simulation continues.

    Attributes:
        url: URL to open in a browser on this machine.
    """

    def __init__(self, simulation: Simulation, process: ViewProcess):
        """Create a publisher.

        Args:
            simulation: Simulation whose state is published.
            process: Process that shows the simulation's scene.
        """
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

    @staticmethod
    def open(simulation: Simulation, endpoint: Endpoint, folder: Path | None = None) -> ViewPublisher:
        """Start a view of a simulation.

        Args:
            simulation: Simulation to show.
            endpoint: Address at which the view listens.
            folder: Folder for bags, films and replays; None disables them.

        Raises:
            CommandError: The endpoint cannot be served.
        """
        renderer = ImageRenderer(simulation)
        scene = scene_of_simulation(simulation, (*renderer.infos, *camera_infos(simulation)))
        scene = replace(scene, output_folder=str(folder.absolute()) if folder else "")
        return ViewPublisher(simulation, ViewProcess(scene, endpoint, renderer, simulation))

    def serve(self, runner: Runner, on_lost: Callable[[str], None] | None = None) -> None:
        """Start publishing the simulation and handling requests. Call this before the loop starts.

        Args:
            runner: The loop that runs the simulation.
            on_lost: Called in another thread with the reason if the view's process ends unexpectedly. The
                default is to log a warning.
        """
        self._runner = runner
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
        if not self._shared.clients or (now := time.monotonic()) < self._due:
            return
        simulation = self._simulation
        present = simulation.step_count, self._runner.paused, self._runner.fault
        new_readings = simulation.published_readings is not self._readings
        if new_readings or simulation.settings is not self._settings or present != self._written:
            # The loop polls at irregular times; a late frame does not delay the next one.
            self._due = max(self._due, now - INTERVAL / 2.0) + INTERVAL
            self._written = present
            self._write(*present)

    def _write(self, step: int, paused: bool, fault: str | None) -> None:
        simulation = self._simulation
        if not fault:
            simulation.engine.get_state(self._state)
        self._readings = simulation.published_readings
        changed: dict[str, Any] = {}
        if simulation.has_memory and self._readings is not None:
            changed |= {"readings": self._readings, "valid": simulation.published_valid}
        elif (zero := simulation.signal_chain.zero) is not None and zero is not self._zero:
            self._zero = changed["zero"] = zero
        if press := simulation.hands.press:
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
            pull_force=simulation.hands.pull_force,
            step=step,
            taken=simulation.steps_since_reset,
        )

    # -- in the thread that receives requests ----------------------------------------------------------------

    def _on_request(self, request: str, arguments: list[Any]) -> None:
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
