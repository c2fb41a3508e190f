"""The loop that steps a simulation at its pace and hands instants to whoever publishes them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from tactile_sim.config import Settings
from tactile_sim.errors import CommandError, TactileSimError
from tactile_sim.loop.mailbox import Mailbox
from tactile_sim.loop.output import Output, Status
from tactile_sim.loop.pace import Pace
from tactile_sim.loop.schedule import Schedule
from tactile_sim.simulation import Simulation

IDLE = 0.05
"""While time stands still, new listeners are looked for this often [s of wall time]."""
REACTION = 0.01
"""Requests wait at most about this long [s] for the steps under way, in simulation and wall time."""


class Runner:
    """Owns the simulation: everything that touches it runs in the thread that calls ``run``.

    Other threads hand in work with ``post`` and ``call``; it is done between two steps, so no lock is held
    while stepping and no step is torn.
    """

    def __init__(self, simulation: Simulation, output: Output):
        self.simulation = simulation
        self.output = output
        settings = simulation.settings
        self.paused = settings.start_paused
        self.lockstep = settings.lockstep
        self.watch: Callable[[], None] = _nobody
        """Called now and then, while time runs or stands, when the state is ready for its coming step: for
        whoever watches by the clock on the wall."""
        self._mail = Mailbox()
        self._commands: deque[Callable[[], None]] = deque()
        """In lock-step: commands that wait for a step of their own."""
        self._owed: deque[tuple[int, Future]] = deque()
        """Steps still to be taken while time stands still otherwise: the last step of each request."""
        self._pace = Pace(settings.real_time_factor)
        self._plan(settings)
        self._shown = -1
        """The last step that has been sent as a whole."""
        self._show_next = True
        self._stopping = threading.Event()
        self._fault: str | None = None
        self._refused = 0
        self._last_refusal = ""
        self._told = (0, 0)
        """Missed deadlines and refused commands at the last status."""

    # -- from other threads ----------------------------------------------------------------------------------

    def post(self, work: Callable[[], None]) -> None:
        """Lets work be done between two steps. What it refuses is counted and told to the user."""

        def guarded() -> None:
            try:
                work()
            except TactileSimError as error:
                self._refused += 1
                self._last_refusal = str(error)
                self.output.warn(str(error))

        self._mail.post(guarded)

    def call(self, work: Callable[[], Any]) -> Future:
        """Lets work be done between two steps; the future gives its result or its error."""
        return self._mail.call(work)

    def steps(self, count: int) -> Future:
        """Lets standing time go on by some steps; the future gives the stamp [ns] then reached."""
        done: Future = Future()

        def pass_on(asked: Future) -> None:
            if error := asked.exception():
                done.set_exception(error)

        self.call(lambda: self.request_steps(count, done)).add_done_callback(pass_on)
        return done

    def stop(self) -> None:
        """Ends ``run`` after the step under way. May be called from a signal handler."""
        self._stopping.set()
        self._mail.post(lambda: None)

    # -- in the thread of the loop ---------------------------------------------------------------------------

    @property
    def stopping(self) -> bool:
        """Whether ``stop`` was called."""
        return self._stopping.is_set()

    @property
    def fault(self) -> str | None:
        """What broke the physics, until the next reset."""
        return self._fault

    def run(self, duration: float | None = None) -> None:
        """Steps until ``stop``, or until a simulation time [s]."""
        self._pace.anchor(self.simulation.time)
        last = None if duration is None else round(duration / self.simulation.engine.timestep)
        try:
            while not self._stopping.is_set() and (last is None or self.simulation.step < last):
                self._mail.read()
                if self._commands and not (self._owed or self.paused):
                    self._commands.popleft()()
                    self.request_steps(1, Future())
                if self._standing() and not self._owed:
                    self._stand()
                elif not self._standing() and (wait := self._pace.ahead(self.simulation.time)) > 0.0:
                    self._mail.read(wait)
                else:
                    self._go(last)
        finally:
            # Whoever still waits for an answer gets one.
            self._mail.close()
            self._refuse_owed("the simulation ends")

    def pause(self, paused: bool) -> None:
        """Stops or restarts time. Raises CommandError where the physics is broken."""
        if not paused:
            self._check_fault()
        else:
            self._refuse_owed("~/pause stopped them")
        self._pace.anchor(self.simulation.time)
        self._show_next |= paused
        self.paused = paused

    def request_steps(self, steps: int, done: Future) -> None:
        """Lets standing time go on by some steps; ``done`` gives the stamp [ns] then reached."""
        if not self._standing():
            raise CommandError("cannot step while running: pause first, or set lockstep: true")
        if steps < 1:
            raise CommandError(f"cannot go {steps} steps: ask for at least 1")
        self._check_fault()
        owed = self._owed[-1][0] if self._owed else self.simulation.step
        self._owed.append((owed + steps, done))

    def command(self, work: Callable[[], None]) -> None:
        """Lets a command act; in lock-step on a step of its own, for which time then goes on."""
        self._check_fault()
        if self.lockstep:
            self._commands.append(work)
        else:
            work()

    def interfere(self, work: Callable[[], Any], *, mends: bool = False) -> Any:
        """Lets something change the state from outside the physics; the new state is then shown.

        Where the state before has been sent already, the new one gets a stamp of its own, one step on.
        ``mends``: whether this ends a fault.
        """
        if not mends:
            self._check_fault()
        result = work()
        if mends:
            self._fault = None
            self._commands.clear()
            self._refuse_owed("~/reset stopped them")
        if self.simulation.step == self._shown:
            self.simulation.step += 1
            self._owed = deque((end + 1, done) for end, done in self._owed)
        self._pace.anchor(self.simulation.time)
        self._show_next = True
        return result

    def update(self, settings: Settings) -> None:
        """Takes over settings that may change while running."""
        simulation = self.simulation
        simulation.update(settings)
        self._plan(settings)
        if settings.real_time_factor != self._pace.factor:
            self._pace.set_factor(settings.real_time_factor, simulation.time)

    def _plan(self, settings: Settings) -> None:
        """When streams are due, and after how many steps somebody may have a say."""
        timestep = self.simulation.engine.timestep
        self._schedule = Schedule(timestep, vars(settings.rates))
        self._reaction = max(1, round(REACTION * min(settings.real_time_factor or 1.0, 1.0) / timestep))

    def status(self) -> Status:
        """How the loop is doing; the real-time factor is that since the last call."""
        (missed_before, refused_before), self._told = self._told, (self._pace.missed, self._refused)
        return Status(
            self._pace.measured(self.simulation.time),
            self._pace.factor,
            self._pace.missed,
            self.paused,
            self.lockstep,
            self._fault,
            self._pace.missed > missed_before,
            self._refused - refused_before,
            self._refused,
            self._last_refusal,
        )

    def _standing(self) -> bool:
        return self.paused or self.lockstep or self._fault is not None

    def _stand(self) -> None:
        """Time stands: the present state is sent when it is new, or to whoever newly listens."""
        if self._fault is None and (self._show_next or self.output.newcomers()):
            self._show(self.output.heard())
        self.output.stand(self.simulation.stamp)
        self.watch()
        self._mail.read(IDLE)

    def _show(self, streams: set[str]) -> None:
        """Sends the present state without going on; where it has been sent before, to newcomers only."""
        self.simulation.prepare()
        snapshot = self.simulation.observe()
        if self._broke():
            return
        self.simulation.tell(snapshot)
        if self.simulation.step == self._shown:
            self.output.greet(snapshot)
        else:
            self.output.publish(snapshot, streams)
        self._shown = self.simulation.step
        self._show_next = False

    def _go(self, last: int | None) -> None:
        """Goes on until something is due: sends the present instant where it is, then takes the steps."""
        simulation = self.simulation
        step = simulation.step
        heard = self.output.heard()
        remembers = simulation.remembers
        wanted = heard | {"tactile"} if remembers else heard
        due = self._schedule.due(step, wanted)
        streams = set() if step == self._shown else heard if self._show_next else due & heard
        self._show_next = False
        steps = self._batch(wanted, last)
        simulation.prepare()
        self.watch()
        if streams or simulation.sampling or (remembers and "tactile" in due):
            snapshot = simulation.observe()
            if self._broke():
                return
            if streams:
                self.output.publish(snapshot, streams)
            simulation.remember(snapshot, "tactile" in due)
            simulation.advance()
            steps -= 1
        if steps:
            simulation.skip(steps)
        if not self._broke() and self._owed and simulation.step >= self._owed[0][0]:
            self._show(heard)
            if not self._fault:
                self._owed.popleft()[1].set_result(simulation.stamp)

    def _batch(self, wanted: set[str], last: int | None) -> int:
        """How many steps pass before one of the wanted is due or somebody may want to have a say."""
        simulation = self.simulation
        if self.output.commanded():
            return 1
        step = simulation.step
        ends = [step + simulation.steps_alone(), step + self._reaction]
        if (due := self._schedule.next(step, wanted)) is not None:
            ends.append(due)
        if last is not None:
            ends.append(last)
        if self._owed:
            ends.append(self._owed[0][0])
        return max(1, min(ends) - step)

    def _broke(self) -> bool:
        """Whether the physics is unsound; the user hears of it, and time stands still from then on."""
        if (fault := self.simulation.fault()) and not self._fault:
            self._fault = fault
            self.output.fail(
                f"the physics broke at {self.simulation.time:.6g} s: {fault}; "
                "time stands still until ~/reset. A smaller timestep or softer contacts may help",
                self.simulation.stamp,
            )
            self._commands.clear()
            self._refuse_owed("the physics broke: " + fault)
        return fault is not None

    def _check_fault(self) -> None:
        if self._fault:
            raise CommandError(f"the physics broke ({self._fault}): call ~/reset first")

    def _refuse_owed(self, why: str) -> None:
        while self._owed:
            self._owed.popleft()[1].set_exception(CommandError(f"not all steps were taken: {why}"))


def _nobody() -> None:
    """Watches nothing."""
