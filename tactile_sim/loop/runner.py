"""The loop that steps a simulation at its pace and hands instants to whoever publishes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from tactile_sim.config import Settings
from tactile_sim.errors import CommandError, PhysicsError, TactileSimError
from tactile_sim.loop.mailbox import Mailbox
from tactile_sim.loop.output import Output, Status
from tactile_sim.loop.pace import Pace
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
        self.set_parameter: Callable[[str, Any], Future[None] | None] = self._set_parameter
        """Sets a live parameter; the node replaces it, so that ROS sees the change."""
        self._mail = Mailbox()
        self._commands: deque[Callable[[], None]] = deque()
        """In lock-step: commands that wait for a step of their own."""
        self._owed: deque[tuple[int, Future]] = deque()
        """Steps still to be taken while time stands still otherwise: the last step of each request."""
        self._pace = Pace(settings.real_time_factor)
        self._set_reaction(settings)
        self._shown = -1
        """The last step that has been sent as a whole."""
        self._show_next = True
        self._stopping = False
        self._fault: str | None = None
        self._refused = 0
        self._last_refusal = ""
        self._told = (0, 0)
        """Missed deadlines and refused commands at the last status."""

    # -- from other threads ----------------------------------------------------------------------------------

    def post(self, work: Callable[[], None]) -> None:
        """Do work between two steps. Its refusal is counted, logged and published in the status.

        While time stands, the status is published at once: at its rate of simulation time it would never be
        due, and in lock-step a controller waits for what became of its command.
        """

        def guarded() -> None:
            try:
                work()
            except TactileSimError as error:
                self._refused += 1
                self._last_refusal = str(error)
                self.output.warn(str(error))
                if self._standing():
                    self.output.report(self.simulation.stamp)

        self._mail.post(guarded)

    def call(self, work: Callable[[], Any]) -> Future:
        """Do work between two steps; see `Mailbox.call`."""
        return self._mail.call(work)

    def stop(self) -> None:
        """End `run` after the step under way. May be called in a signal handler: it waits for no lock."""
        self._stopping = True
        self._mail.post(lambda: None)

    # -- in the thread of the loop ---------------------------------------------------------------------------

    @property
    def fault(self) -> str | None:
        """What broke the physics, until the next reset."""
        return self._fault

    def run(self, duration: float | None = None) -> None:
        """Steps until ``stop``, or until a simulation time [s]."""
        self._pace.anchor(self.simulation.time)
        last = None if duration is None else round(duration / self.simulation.engine.timestep)
        try:
            while not self._stopping and (last is None or self.simulation.step_count < last):
                self._mail.read()
                if self._commands and not (self._owed or self.paused):
                    self._commands.popleft()()
                    self.request_steps(1)
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

    def request_steps(self, steps: int) -> Future[int]:
        """Advance standing time by some steps.

        Returns:
            The future of the stamp [ns] then reached; a CommandError if something prevents a step.

        Raises:
            CommandError: Time does not stand, ``steps`` is below 1, or the physics is broken.
        """
        if not self._standing():
            raise CommandError("cannot step while running: pause first, or set lockstep: true")
        if steps < 1:
            raise CommandError(f"cannot go {steps} steps: ask for at least 1")
        self._check_fault()
        owed = self._owed[-1][0] if self._owed else self.simulation.step_count
        done: Future[int] = Future()
        self._owed.append((owed + steps, done))
        return done

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
        if self.simulation.step_count == self._shown:
            self.simulation.step_count += 1
            self._owed = deque((end + 1, done) for end, done in self._owed)
        self._pace.anchor(self.simulation.time)
        self._show_next = True
        return result

    def update(self, settings: Settings) -> None:
        """Takes over settings that may change while running."""
        simulation = self.simulation
        simulation.update(settings)
        self._set_reaction(settings)
        if settings.real_time_factor != self._pace.factor:
            self._pace.set_factor(settings.real_time_factor, simulation.time)

    def _set_reaction(self, settings: Settings) -> None:
        """Set the number of steps after which requests are read."""
        reaction = REACTION * min(settings.real_time_factor or 1.0, 1.0)
        self._reaction = max(1, round(reaction / self.simulation.engine.timestep))

    def _set_parameter(self, name: str, value: Any) -> None:
        self.update(self.simulation.settings.replace(name, value))

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
        snapshot = self.simulation.observe()
        if self._broke():
            return
        self.simulation.keep_readings(snapshot)
        if self.simulation.step_count == self._shown:
            self.output.greet(snapshot)
        else:
            self.output.publish(snapshot, streams)
        self._shown = self.simulation.step_count
        self._show_next = False

    def _go(self, last: int | None) -> None:
        """Publish the present state where something is due, then advance until something is due again."""
        simulation = self.simulation
        step = simulation.step_count
        heard = self.output.heard()
        wanted = heard | simulation.tactile_streams if simulation.has_memory else heard
        due = simulation.schedule.due(step, heard)
        streams = set() if step == self._shown else heard if self._show_next else due & heard
        self._show_next = False
        steps = self._batch(wanted, last)
        simulation.apply_commands()
        self.watch()
        publish = (lambda snapshot: self.output.publish(snapshot, streams)) if streams else None
        try:
            simulation.advance(steps, publish)
        except PhysicsError:
            self._broke()
        if not self._fault and self._owed and simulation.step_count >= self._owed[0][0]:
            self._show(heard)
            if not self._fault:
                self._owed.popleft()[1].set_result(simulation.stamp)

    def _batch(self, wanted: set[str], last: int | None) -> int:
        """How many steps pass before one of the wanted is due or somebody may want to have a say."""
        simulation = self.simulation
        if self.output.commanded():
            return 1
        step = simulation.step_count
        ends = [step + simulation.free_steps(), step + self._reaction]
        if (due := simulation.schedule.next(step, wanted)) is not None:
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
