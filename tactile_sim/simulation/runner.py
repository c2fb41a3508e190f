"""The loop that steps a simulation in real time, publishes its snapshots and handles requests."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from tactile_sim.common.errors import CommandError, PhysicsError, TactileSimError, suggest
from tactile_sim.config import Settings
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.simulation.action import Recorder
from tactile_sim.simulation.actions import ACTIONS

IDLE = 0.05
"""Wall time between two checks for new subscribers while simulation time is stopped [s]."""
REACTION = 0.01
"""Longest time between two checks for requests [s], in both simulation time and wall time."""
LATE = 0.1
"""Largest lag behind wall time that the loop makes up [s]. If the lag is larger, the lost time is dropped."""


@dataclass(frozen=True)
class Status:
    """Pace, state, faults and rejected commands of the loop, as published on ``/diagnostics``."""

    real_time_factor: float
    """Real-time factor, measured since the last status."""
    wanted_factor: float
    """Configured real-time factor; 0 means as fast as possible."""
    missed: int
    """Number of times since the start that the machine was too slow for the configured real-time factor."""
    paused: bool
    lockstep: bool
    fault: str | None
    """Description of the physics fault, or None; cleared by a reset."""
    late: bool
    """True if `missed` has increased since the last status."""
    refused: int
    """Number of commands rejected since the last status."""
    refused_total: int
    """Number of commands rejected since the start."""
    last_refusal: str
    """Error message for the last rejected command, or an empty string."""


class Output:
    """Publishes snapshots on streams, whose names are the keys in ``rates``.

    This class is the output of a loop without ROS: it publishes nothing, and prints warnings and faults to
    standard error.
    """

    def subscribed(self) -> set[str]:
        """Return the streams that have subscribers."""
        return set()

    def new_subscribers(self) -> bool:
        """Return whether any topic has gained a subscriber since its last message."""
        return False

    def expects_commands(self) -> bool:
        """Return whether commands may arrive, in which case the loop checks for them at each step."""
        return False

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Encode the messages of a snapshot on the specified streams, for `dispatch`."""

    def publish_to_new(self, snapshot: Snapshot) -> None:
        """Encode a snapshot for all topics that have gained a subscriber since their last message."""

    def dispatch(self) -> None:
        """Start to transmit the encoded messages in the background."""

    def publish_while_stopped(self, stamp: int) -> None:
        """Publish messages that are due by wall time while simulation time is stopped at ``stamp`` [ns]."""

    def finish(self) -> None:
        """Wait until all encoded messages have been handed over to the transport."""

    def warn(self, message: str) -> None:
        """Report a rejected command to the user."""
        print(f"tactile_sim: {message}", file=sys.stderr)

    def report(self, stamp: int) -> None:
        """Publish the status of the loop immediately, stamped with simulation time [ns]."""

    def fail(self, message: str, stamp: int) -> None:
        """Report a physics fault at simulation time ``stamp`` [ns] to the user."""
        print(f"tactile_sim: {message}", file=sys.stderr)


class Pace:
    """Computes waiting times so that simulation time advances ``factor`` times as fast as wall time."""

    def __init__(self, factor: float):
        self.missed = 0
        """Number of times that lost time was dropped because the machine was too slow."""
        self._window: tuple[float, float] = (time.monotonic(), 0.0)
        self.set_factor(factor, 0.0)

    def set_factor(self, factor: float, now: float) -> None:
        """Set the real-time factor."""
        self.factor = factor
        self.reaction = REACTION * min(factor or 1.0, 1.0)
        """Longest simulation time between two checks for requests [s]."""
        self.anchor(now)

    def anchor(self, now: float) -> None:
        """Restart pacing from the current time, for example after a pause."""
        self._wall = time.monotonic()
        self._simulated = now

    def ahead(self, now: float) -> float:
        """Return the wall time to wait before the next step [s]; 0 if simulation time is not ahead.

        If the simulation lags behind wall time by more than `LATE`, the lost time is dropped and counted in
        ``missed``.
        """
        if self.factor == 0.0:
            return 0.0
        wait = self._wall + (now - self._simulated) / self.factor - time.monotonic()
        if wait < -LATE:
            self.missed += 1
            self.anchor(now)
        return max(wait, 0.0)

    def measured(self, now: float) -> float:
        """Return the average real-time factor since the previous call or, at first, since the start."""
        wall, simulated = self._window
        self._window = (time.monotonic(), now)
        return (now - simulated) / max(self._window[0] - wall, 1e-9)


class Runner:
    """Runs a simulation. Only the thread that calls ``run`` accesses the simulation.

    Other threads submit functions with `post` and `call`. These functions run between two steps, so no lock
    is held while stepping. A batch of steps ends where a stream is due or where commands, motion or sampling
    must be processed, so a state between two such steps costs nothing beyond its physics.
    """

    def __init__(self, simulation: Simulation, output: Output):
        settings = simulation.settings
        self.simulation = simulation
        self.output = output
        """Publishes the snapshots and reports errors."""
        self.paused = settings.start_paused
        self.lockstep = settings.lockstep
        self.watch: Callable[[], None] = lambda: None
        """Function called repeatedly, also while time is stopped; the view uses it to poll the state."""
        self.recorder: Recorder | None = None
        """Object that records bags on request, or None."""
        self.on_view: list[Callable[[str], None]] = []
        """Functions called with the camera and the color scale of the browser view when they change."""
        self.set_parameter: Callable[[str, Any], Future[None] | None] = self._set_parameter
        """Function that sets a live parameter. The node replaces it to update the ROS parameter as well."""
        self.end_reason = ""
        """Why `run` has returned. Empty after a physics fault, which has been reported, and if no reason was
        given to `stop`."""
        self.fault: str | None = None
        """Description of the physics fault, or None; cleared by a reset."""
        self._ends_at_fault = False
        self._mail: SimpleQueue[Callable[[], object]] = SimpleQueue()
        """Functions to run between two steps."""
        self._closing, self._closed = threading.Lock(), False
        self._stopping = False
        self._commands: deque[Callable[[], None]] = deque()
        """Commands that are waiting for their step in lock-step mode."""
        self._requested: deque[tuple[int, Future[int]]] = deque()
        """Step count at which each request for steps ends, and the future of its stamp."""
        self._pace = Pace(settings.real_time_factor)
        self._published_step = -1
        """Step count of the state that was published last; -1 before the first."""
        self._publish_next = True
        """Whether to publish the current state on all streams, because it was not reached by a step."""
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

        self._mail.put(guarded)

    def call(self, work: Callable[[], Any]) -> Future:
        """Queue a function to run between two steps and return a future of its result.

        If the function returns a future, that future's result is used. After the end of `run`, the future
        fails with a CommandError.
        """
        future: Future = Future()

        def pass_on(done: Future) -> None:
            if error := done.exception():
                future.set_exception(error)
            else:
                future.set_result(done.result())

        def answer() -> None:
            try:
                result = work()
            except Exception as error:
                future.set_exception(error)
            else:
                if isinstance(result, Future):
                    result.add_done_callback(pass_on)
                else:
                    future.set_result(result)

        with self._closing:
            if self._closed:
                future.set_exception(CommandError("the simulation has ended"))
            else:
                self._mail.put(answer)
        return future

    def ask(self, name: str, *arguments: Any) -> Future:
        """Request an action of `ACTIONS` and return a future of its result, as `call`.

        Trailing arguments with defaults can be omitted.
        """

        def work() -> Any:
            if name not in ACTIONS:
                raise CommandError(f"unknown action {name!r}{suggest(name, ACTIONS)}")
            action = ACTIONS[name]
            return action.function(self, *action.values(arguments))

        return self.call(work)

    def stop(self, reason: str = "") -> None:
        """Make `run` return after the current batch of steps. Lock-free, so signal handlers can call it."""
        self.end_reason = self.end_reason or reason
        self._stopping = True
        self._mail.put(lambda: None)

    # -- in the thread of the loop ---------------------------------------------------------------------------

    def run(self, duration: float | None = None) -> None:
        """Run the simulation until ``stop`` is called or the duration is reached.

        After a physics fault, time is stopped until a reset. With a duration, which would never be reached
        then, this method returns instead; see `fault`.
        """
        self._ends_at_fault = duration is not None
        self._pace.anchor(self.simulation.time)
        last = None if duration is None else round(duration / self.simulation.engine.timestep)
        try:
            while not self._stopping and (
                last is None or (self.simulation.step_count < last and self.fault is None)
            ):
                self._read_mail()
                if self._commands and not (self._requested or self.paused):
                    self._commands.popleft()()
                    self.request_steps(1)
                if self._time_stopped() and not self._requested:
                    self._idle()
                elif not self._time_stopped() and (wait := self._pace.ahead(self.simulation.time)) > 0.0:
                    self._read_mail(wait)
                else:
                    self._run_batch(last)
            if not self._stopping and not self.fault:
                self.end_reason = f"{duration:g} s of simulation time have passed"
        finally:
            # Resolve all futures that are still pending.
            with self._closing:
                self._closed = True
            self._read_mail()
            self._cancel_steps("the simulation has ended")

    def pause(self, paused: bool) -> None:
        """Pause or resume the simulation.

        Pausing cancels requested steps and publishes the current state.
        """
        if not paused:
            self._check_fault()
        else:
            self._cancel_steps("~/pause was called")
        self._pace.anchor(self.simulation.time)
        self._publish_next |= paused
        self.paused = paused

    def request_steps(self, steps: int) -> Future[int]:
        """Request steps while simulation time is stopped.

        Returns:
            A future with the stamp [ns] after the last step, or with a CommandError if not all steps can be
            executed.
        """
        if not self._time_stopped():
            raise CommandError("cannot step while running; pause first, or set lockstep: true")
        if steps < 1:
            raise CommandError(f"steps: must be >= 1, got {steps}")
        self._check_fault()
        done: Future[int] = Future()
        begin = self._requested[-1][0] if self._requested else self.simulation.step_count
        self._requested.append((begin + steps, done))
        return done

    def command(self, work: Callable[[], None]) -> None:
        """Apply a command immediately, or queue it in lock-step mode.

        In lock-step mode, `run` applies the queued commands in turn and advances time by one step after each.
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
        """
        if not mends:
            self._check_fault()
        result = work()
        if mends:
            self.fault = None
            self._commands.clear()
            self._cancel_steps("~/reset was called")
        if self.simulation.step_count == self._published_step:
            self.simulation.step_count += 1
            self._requested = deque((end + 1, done) for end, done in self._requested)
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
            self.fault,
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
        return self.paused or self.lockstep or self.fault is not None

    def _idle(self) -> None:
        """Publish the current state if it is new or a topic has new subscribers, and wait for requests."""
        if self.fault is None and (self._publish_next or self.output.new_subscribers()):
            self._publish(self.output.subscribed())
        self.output.publish_while_stopped(self.simulation.stamp)
        self.watch()
        self._read_mail(IDLE)

    def _run_batch(self, last: int | None) -> None:
        """Run the next batch of steps, and respond to a request that it completes."""
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
            end = min(end, requested[0][0])
        self._advance(end)
        if not self.fault and requested and simulation.step_count >= requested[0][0]:
            self._publish(self.output.subscribed())
            if not self.fault:
                self.output.finish()
                requested.popleft()[1].set_result(simulation.stamp)

    def _publish(self, streams: set[str]) -> None:
        """Publish the current state without stepping.

        A state that was already published is published again only on topics with new subscribers.
        """
        self.simulation.apply_commands()
        snapshot = self.simulation.snapshot()
        if self._check_physics():
            return
        self.simulation.keep_readings(snapshot)
        if self.simulation.step_count == self._published_step:
            self.output.publish_to_new(snapshot)
        else:
            self.output.publish(snapshot, streams)
        self.output.dispatch()
        self._published_step = self.simulation.step_count
        self._publish_next = False

    def _advance(self, end: int) -> None:
        """Publish the current state on the streams that are due, then run a batch of steps.

        Commands for the next step must have been applied.
        """
        simulation, step = self.simulation, self.simulation.step_count
        active = self.output.subscribed()
        wanted = active | simulation.schedule.tactile if simulation.has_memory else active
        now, due = simulation.schedule.due_and_next(step, wanted)
        streams: set[str] = now & active
        if step == self._published_step:
            streams = set()
        elif self._publish_next:
            streams = active
        self._publish_next = False
        end = max(step + 1, min(end, step + simulation.free_steps(), end if due is None else due))
        try:
            if streams:
                simulation.advance(1, lambda snapshot: self.output.publish(snapshot, streams))
                # The next call releases the interpreter lock for several steps. The thread that transmits
                # the messages can use it then, without competing with this thread.
                self.output.dispatch()
            if end > simulation.step_count:
                simulation.advance(end - simulation.step_count)
        except PhysicsError:
            self._check_physics()

    def _check_physics(self) -> bool:
        """Return whether there is a physics fault. A new one stops time, cancels requests and is reported."""
        if (fault := self.simulation.fault()) and not self.fault:
            self.fault = fault
            effect = "the run ends" if self._ends_at_fault else "time is stopped until ~/reset"
            self.output.fail(
                f"physics fault at {self.simulation.time:.6g} s: {fault}; {effect}."
                " Try a smaller timestep or softer contacts",
                self.simulation.stamp,
            )
            self._commands.clear()
            self._cancel_steps(f"physics fault: {fault}")
        return fault is not None

    def _check_fault(self) -> None:
        if self.fault:
            raise CommandError(f"physics fault: {self.fault}; call ~/reset first")

    def _cancel_steps(self, why: str) -> None:
        while self._requested:
            self._requested.popleft()[1].set_exception(CommandError(f"not all steps were taken: {why}"))

    def _read_mail(self, wait: float = 0.0) -> None:
        """Run all queued functions; wait for the first one for at most ``wait`` [s]."""
        if not wait and self._mail.empty():
            return
        try:
            work = self._mail.get(timeout=wait) if wait else self._mail.get_nowait()
            while True:
                work()
                work = self._mail.get_nowait()
        except Empty:
            pass
