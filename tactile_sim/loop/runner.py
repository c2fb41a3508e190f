"""The loop that steps a simulation in real time and publishes its snapshots."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from tactile_sim.common.errors import CommandError, TactileSimError
from tactile_sim.config import Settings
from tactile_sim.loop.mailbox import Mailbox
from tactile_sim.loop.output import Output, Status
from tactile_sim.loop.pace import Pace
from tactile_sim.loop.step_requests import StepRequests
from tactile_sim.loop.stepper import Stepper
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.action import Recorder

IDLE = 0.05
"""Wall time between two checks for new subscribers while simulation time is stopped [s]."""


class Runner(Stepper):
    """Runs a simulation. Only the thread that calls ``run`` accesses the simulation.

    Other threads submit functions with ``post`` and ``call``. These functions run between two steps, so no
    lock is held while stepping.

    Args:
        simulation: The simulation to run.
        output: Publishes the snapshots and reports errors.
    """

    def __init__(self, simulation: Simulation, output: Output):
        super().__init__(simulation, output)
        settings = simulation.settings
        self.paused = settings.start_paused
        self.lockstep = settings.lockstep
        self.watch: Callable[[], None] = lambda: None
        """Function called repeatedly, also while time is stopped; the view uses it to poll the state."""
        self.recorder: Recorder | None = None
        """Object that records bags on request, or None."""
        self.on_view: list[Callable[[str], None]] = []
        """Functions called with the camera and the colour scale of the browser view when they change."""
        self.set_parameter: Callable[[str, Any], Future[None] | None] = self._set_parameter
        """Function that sets a live parameter. The node replaces it to update the ROS parameter as well."""
        self._mail = Mailbox()
        self._commands: deque[Callable[[], None]] = deque()
        """Commands that are waiting for their step in lock-step mode."""
        self._requested = StepRequests()
        self._pace = Pace(settings.real_time_factor)
        self._stopping = False
        self.end_reason = ""
        """Why `run` has returned. Empty after a physics fault, which has been reported, and if no reason was
        given to `stop`."""
        self._refused = 0
        self._last_refusal = ""
        self._last_counts = (0, 0)
        """Numbers of missed deadlines and rejected commands at the last status."""

    # -- from other threads ----------------------------------------------------------------------------------

    def post(self, work: Callable[[], None]) -> None:
        """Queue a function to run between two steps.

        If the function raises a TactileSimError, the error is counted, logged and published in the status.
        While time is stopped, the status is published immediately, because a controller in lock-step mode
        waits for the result of its command.
        """

        def guarded() -> None:
            try:
                work()
            except TactileSimError as error:
                self._refused += 1
                self._last_refusal = str(error)
                self.output.warn(str(error))
                if self._time_stopped():
                    self.output.report(self.simulation.stamp)

        self._mail.post(guarded)

    def call(self, work: Callable[[], Any]) -> Future:
        """Queue a function to run between two steps and return a future of its result; see `Mailbox.call`."""
        return self._mail.call(work)

    def stop(self, reason: str = "") -> None:
        """Make `run` return after the current batch of steps. Lock-free, so signal handlers can call it.

        Args:
            reason: Becomes the `end_reason`, unless an earlier call has given one.
        """
        self.end_reason = self.end_reason or reason
        self._stopping = True
        self._mail.post(lambda: None)

    # -- in the thread of the loop ---------------------------------------------------------------------------

    def run(self, duration: float | None = None) -> None:
        """Run the simulation until ``stop`` is called or the duration is reached.

        After a physics fault, time is stopped until a reset. With a duration, which would never be reached
        then, this method returns instead; see `fault`.

        Args:
            duration: Simulation time at which to return [s]; unlimited by default.
        """
        self._ends_at_fault = duration is not None
        self._pace.anchor(self.simulation.time)
        last = None if duration is None else round(duration / self.simulation.engine.timestep)
        try:
            while not self._stopping and (
                last is None or (self.simulation.step_count < last and self._fault is None)
            ):
                self._mail.read()
                if self._commands and not (self._requested or self.paused):
                    self._commands.popleft()()
                    self.request_steps(1)
                if self._time_stopped() and not self._requested:
                    self._idle()
                elif not self._time_stopped() and (wait := self._pace.ahead(self.simulation.time)) > 0.0:
                    self._mail.read(wait)
                else:
                    self._run_batch(last)
            if not self._stopping and not self._fault:
                self.end_reason = f"{duration:g} s of simulation time have passed"
        finally:
            # Resolve all futures that are still pending.
            self._mail.close()
            self._requested.cancel("the simulation has ended")

    def pause(self, paused: bool) -> None:
        """Pause or resume the simulation.

        Pausing cancels requested steps and publishes the current state.

        Raises:
            CommandError: Resuming is impossible because of a physics fault.
        """
        if not paused:
            self._check_fault()
        else:
            self._requested.cancel("~/pause was called")
        self._pace.anchor(self.simulation.time)
        self._publish_next |= paused
        self.paused = paused

    def request_steps(self, steps: int) -> Future[int]:
        """Request steps while simulation time is stopped.

        Args:
            steps: Number of steps.

        Returns:
            A future with the stamp [ns] after the last step, or with a CommandError if not all steps can be
            executed.

        Raises:
            CommandError: Time is not stopped, ``steps`` is below 1, or there is a physics fault.
        """
        if not self._time_stopped():
            raise CommandError("cannot step while running; pause first, or set lockstep: true")
        if steps < 1:
            raise CommandError(f"steps: must be >= 1, got {steps}")
        self._check_fault()
        return self._requested.add(self.simulation.step_count, steps)

    def command(self, work: Callable[[], None]) -> None:
        """Apply a command immediately, or queue it in lock-step mode.

        In lock-step mode, `run` applies the queued commands in turn and advances time by one step after each.

        Args:
            work: Function that applies the command.

        Raises:
            CommandError: There is a physics fault.
        """
        self._check_fault()
        if self.lockstep:
            self._commands.append(work)
        else:
            work()

    def interfere(self, work: Callable[[], Any], *, mends: bool = False) -> Any:
        """Change the state by means other than physics, and publish the new state.

        If the previous state has already been published, the step count is increased by one so that the new
        state has a different stamp. The new state is published before the next step.

        Args:
            work: Function that changes the state.
            mends: Whether ``work`` resets the simulation. If so, any physics fault is cleared, and queued
                commands and requested steps are cancelled.

        Returns:
            The result of ``work``.

        Raises:
            CommandError: There is a physics fault that ``work`` does not clear.
        """
        if not mends:
            self._check_fault()
        result = work()
        if mends:
            self._fault = None
            self._commands.clear()
            self._requested.cancel("~/reset was called")
        if self.simulation.step_count == self._published_step:
            self.simulation.step_count += 1
            self._requested.delay()
        self._pace.anchor(self.simulation.time)
        self._publish_next = True
        return result

    def update(self, settings: Settings) -> None:
        """Apply settings in which only live keys have changed, such as rates and the real-time factor."""
        simulation = self.simulation
        simulation.update(settings)
        if settings.real_time_factor != self._pace.factor:
            self._pace.set_factor(settings.real_time_factor, simulation.time)

    def _set_parameter(self, name: str, value: Any) -> None:
        self.update(self.simulation.settings.replace(name, value))

    def status(self) -> Status:
        """Return the status of the loop, with the changes since the previous call of this method."""
        missed_before, refused_before = self._last_counts
        self._last_counts = (self._pace.missed, self._refused)
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

    @property
    def paced(self) -> bool:
        """True if simulation time follows wall time, rather than waiting for a step or running freely."""
        return not self._time_stopped() and self._pace.factor > 0.0

    def _time_stopped(self) -> bool:
        return self.paused or self.lockstep or self._fault is not None

    def _idle(self) -> None:
        """Publish the current state if it is new or a topic has new subscribers, and wait for requests."""
        if self._fault is None and (self._publish_next or self.output.new_subscribers()):
            self._publish(self.output.subscribed())
        self.output.publish_while_stopped(self.simulation.stamp)
        self.watch()
        self._mail.read(IDLE)

    def _run_batch(self, last: int | None) -> None:
        """Run the next batch of steps, and respond to a request that it completes.

        Args:
            last: Step at which the loop ends, or None.
        """
        simulation, requested = self.simulation, self._requested
        simulation.apply_commands()
        self.watch()
        reaction = 1
        if not self.output.expects_commands():
            reaction = max(1, round(self._pace.reaction / simulation.engine.timestep))
        end = simulation.step_count + reaction
        if last is not None:
            end = min(end, last)
        if requested:
            end = min(end, requested.end)
        self._advance(end)
        if not self._fault and requested and simulation.step_count >= requested.end:
            self._publish(self.output.subscribed())
            if not self._fault:
                self.output.finish()
                requested.resolve(simulation.stamp)

    def _check_physics(self) -> bool:
        """Return whether there is a physics fault. A new one also cancels commands and requested steps."""
        was_stable, unstable = self._fault is None, super()._check_physics()
        if was_stable and unstable:
            self._commands.clear()
            self._requested.cancel(f"physics fault: {self._fault}")
        return unstable
