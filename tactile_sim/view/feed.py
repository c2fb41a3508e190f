"""A running simulation shown in the browser: its states go into the shared memory, requests come back."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np

from tactile_sim.actions import ACTIONS
from tactile_sim.config import Settings
from tactile_sim.errors import TactileSimError
from tactile_sim.loop.requests import Requests
from tactile_sim.loop.runner import Runner
from tactile_sim.simulation import Simulation
from tactile_sim.view import live_world
from tactile_sim.view.address import Endpoint
from tactile_sim.view.link import INTERVAL, Link
from tactile_sim.view.mirror import read_state, state_size
from tactile_sim.view.pictures import Pictures


class ViewFeed:
    """Tells browsers of a running simulation, at most every `INTERVAL` of wall time.

    Just the state is written, for the view's process to find what follows from it; while no browser is there,
    the loop reads one number a look. Should that process break down, the simulation goes on.
    """

    def __init__(self, simulation: Simulation, link: Link):
        """link: to a view of this simulation's world."""
        self._simulation = simulation
        self._link = link
        self.url = link.url
        """To open in a browser on this machine."""
        self._channel = link.channel
        self._runner: Runner
        self._requests: Requests
        self._state = np.empty(state_size(simulation))
        """The last sound one."""
        self._due = 0.0
        """When the next moment may be written [s of wall time]."""
        self._shown: tuple[int, bool, str | None] | None = None
        """Step, whether time stood, and fault of the last moment; None: something else has changed since."""
        self._told: np.ndarray | None = None
        self._zero: np.ndarray | None = None
        """Readings that were told and what was tared at the last moment."""
        self._settings: Settings | None = None
        """Those that were told last."""

    @staticmethod
    def open(simulation: Simulation, endpoint: Endpoint) -> ViewFeed:
        """Start a view of a simulation.

        Raises:
            CommandError: The endpoint cannot be served.
        """
        pictures = Pictures(simulation)
        world = live_world.of_simulation(simulation, pictures.pictures)
        return ViewFeed(simulation, Link(world, endpoint, pictures, simulation))

    def serve(self, runner: Runner, lost: Callable[[str], None] | None = None) -> None:
        """Show what a loop does and run the actions that browsers request; call it before the loop starts.

        Args:
            runner: The loop.
            lost: Called in another thread with the reason when the view breaks down. By default the loop
                logs a warning and goes on.
        """
        self._runner = runner
        self._requests = Requests(runner)
        read_state(self._simulation, self._state)
        self._link.listen(self._obey, lost or self._lost)
        runner.watch = self.look

    def close(self) -> None:
        """Ends the view."""
        self._link.close()

    def look(self) -> None:
        """Tells how things stand, if a browser is there that has not seen it, and not too often."""
        if not self._channel.clients or (now := time.monotonic()) < self._due:
            return
        simulation = self._simulation
        present = simulation.step_count, self._runner.paused, self._runner.fault
        told = simulation.published_readings is not self._told or simulation.settings is not self._settings
        if told or present != self._shown:
            # The loop looks now and then: what comes late does not put off the next.
            self._due = max(self._due, now - INTERVAL / 2.0) + INTERVAL
            self._shown = present
            self._write(*present)

    def _write(self, step: int, paused: bool, fault: str | None) -> None:
        simulation = self._simulation
        if not fault:
            read_state(simulation, self._state)
        self._told = simulation.published_readings
        changed: dict[str, Any] = {}
        if simulation.has_memory and self._told is not None:
            changed["readings"] = self._told
        elif (zero := simulation.signal_chain.zero) is not None and zero is not self._zero:
            self._zero = changed["zero"] = zero
        if (settings := simulation.settings) is not self._settings:
            self._settings = settings
            changed |= {
                "force_scale": settings.markers.force_scale,
                "taxel_scale": settings.markers.taxel_scale,
                "touch_function": settings.skin.touch_function.encode(),
                "response_function": settings.skin.response_function.encode(),
            }
        self._link.write(
            **changed,
            told="readings" in changed,
            tared=simulation.signal_chain.zero is not None,
            time=simulation.time,
            paused=paused,
            fault=(fault or "").encode(),
            state=self._state,
            step=step,
            taken=simulation.steps_since_reset,
        )

    # -- in the thread that hears the browsers ---------------------------------------------------------------

    def _obey(self, request: str, arguments: list[Any]) -> None:
        self._requests.ask(request, *arguments).add_done_callback(lambda done: self._answer(request, done))

    def _answer(self, request: str, future: Future) -> None:
        self._shown = None
        try:
            answer = future.result()
        except TactileSimError as error:
            self._link.tell(str(error))
        else:
            if isinstance(answer, str) and ACTIONS[request].answered:
                self._link.tell(answer)

    def _lost(self, why: str) -> None:
        self._runner.post(
            lambda: self._runner.output.warn(f"the web view broke down ({why}); the simulation goes on")
        )
