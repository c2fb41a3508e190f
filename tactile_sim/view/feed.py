"""A running simulation shown in the browser: the output of the loop that fills the shared memory."""

from __future__ import annotations

import time
from concurrent.futures import Future
from typing import Any

from tactile_sim.errors import TactileSimError
from tactile_sim.output import VIEW
from tactile_sim.requests import Requests
from tactile_sim.runner import Runner
from tactile_sim.simulation import Simulation
from tactile_sim.skin import TOUCH_FUNCTIONS
from tactile_sim.snapshot import Snapshot
from tactile_sim.view import live_world
from tactile_sim.view.link import INTERVAL, Link
from tactile_sim.view.pictures import Pictures

REQUESTS = ("pause", "step", "reset", "throw", "push", "set_control", "set_real_time_factor")
"""What browsers may ask for, of `Requests`."""
_STREAMS = {VIEW}
_NOTHING: set[str] = set()


class ViewFeed:
    """The output of the loop whose listeners are browsers.

    While none is there the loop reads one number a look, and nothing else is done. The view has a process of
    its own; should that break down, the simulation goes on.
    """

    def __init__(self, simulation: Simulation, link: Link):
        """link: to a view of this simulation's world."""
        self._simulation = simulation
        self._link = link
        self.address = link.address
        """What to type into a browser."""
        self._channel = link.channel
        self._runner: Runner
        self._requests: Requests
        self._written = 0.0
        """When [s of wall time]."""
        self._step = -1
        """Of the moment written last."""
        self._greeted = 0
        """Browsers that have been there since."""
        self._stale = False
        """Whether something but the state has changed since."""

    @staticmethod
    def open(simulation: Simulation, host: str, port: int) -> ViewFeed:
        """Starts a view of a simulation. Raises CommandError where it cannot be served there."""
        pictures = Pictures(simulation)
        world = live_world.of_simulation(simulation, pictures.pictures)
        return ViewFeed(simulation, Link(world, host, port, pictures))

    def serve(self, runner: Runner, requests: Requests | None = None) -> None:
        """Begins to show what a loop does and to do what browsers ask; before that loop starts.

        requests: who does it; by default the loop alone.
        """
        self._runner = runner
        self._requests = requests or Requests(runner)
        # Compiles the kernels, too, before time runs.
        self._write(self._simulation.observe())
        self._link.listen(self._obey, self._lost)

    def close(self) -> None:
        """Ends the view."""
        self._link.close()

    # -- the loop's output -----------------------------------------------------------------------------------

    def heard(self) -> set[str]:
        """The view, when a browser is there and the last moment was long enough ago."""
        if self._channel.clients and time.monotonic() - self._written >= INTERVAL:
            return _STREAMS
        return _NOTHING

    def newcomers(self) -> bool:
        """Whether a browser has not seen how things stand."""
        clients = self._channel.clients
        self._greeted = min(self._greeted, clients)
        if not clients:
            return False
        return clients > self._greeted or self._stale or self._step != self._simulation.step

    def commanded(self) -> bool:
        """Nobody steers by mouse so fast that each step should look for it."""
        return False

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Writes the moment."""
        if VIEW in streams:
            self._write(snapshot)

    def greet(self, snapshot: Snapshot) -> None:
        """Writes the moment where a browser has not seen it."""
        if self.newcomers():
            self._write(snapshot)

    def warn(self, message: str) -> None:
        """Tells of a refused command."""
        self._link.tell(message)

    def fail(self, message: str, stamp: int) -> None:
        """Tells that the physics broke."""
        self._link.write(time=stamp * 1e-9, fault=message.encode())

    def _write(self, snapshot: Snapshot) -> None:
        settings, engine = self._simulation.settings, self._simulation.engine
        self._link.write(
            time=snapshot.stamp * 1e-9,
            paused=self._runner.paused,
            fault=b"",
            positions=engine.body_positions,
            quaternions=engine.body_quaternions,
            unit=TOUCH_FUNCTIONS[settings.skin.touch_function].unit.encode(),
            readings=snapshot.taxels32,
            wrenches=snapshot.wrenches,
            contacts=snapshot.contacts.values,
            force_scale=settings.markers.force_scale,
            feelers=snapshot.feelers,
            controls=engine.data.ctrl,
        )
        self._written = time.monotonic()
        self._step = self._simulation.step
        self._greeted = self._channel.clients
        self._stale = False

    # -- in the thread that hears the browsers ---------------------------------------------------------------

    def _obey(self, request: str, arguments: list[Any]) -> None:
        if request in REQUESTS:
            getattr(self._requests, request)(*arguments).add_done_callback(self._answer)

    def _answer(self, future: Future) -> None:
        self._stale = True
        try:
            answer = future.result()
        except TactileSimError as error:
            answer = str(error)
        if isinstance(answer, str):
            self._link.tell(answer)

    def _lost(self, why: str) -> None:
        self._runner.post(
            lambda: self._runner.output.warn(f"the web view broke down ({why}); the simulation goes on")
        )
