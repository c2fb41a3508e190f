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
from typing import Any, Protocol

from tactile_sim.config import Settings
from tactile_sim.errors import CommandError, PhysicsError, TactileSimError, suggest
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.simulation.action import Recorder
from tactile_sim.simulation.actions import ACTIONS


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


class Output(Protocol):
    """Publishes snapshots on streams. The stream names are the keys in ``rates``."""

    def subscribed(self) -> set[str]:
        """Return the streams that have subscribers."""

    def new_subscribers(self) -> bool:
        """Return whether any topic has gained a subscriber since its last message."""

    def expects_commands(self) -> bool:
        """Return whether commands may arrive, in which case the loop checks for them at each step."""

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Encode the messages of a snapshot on the specified streams, for `dispatch`."""

    def publish_to_new(self, snapshot: Snapshot) -> None:
        """Encode a snapshot for all topics that have gained a subscriber since their last message."""

    def dispatch(self) -> None:
        """Start to transmit the encoded messages in the background."""

    def publish_while_stopped(self, stamp: int) -> None:
        """Publish messages that are due by wall time while simulation time is stopped.

        Args:
            stamp: Simulation time [ns].
        """

    def finish(self) -> None:
        """Wait until all encoded messages have been handed over to the transport."""

    def warn(self, message: str) -> None:
        """Report a rejected command to the user."""

    def report(self, stamp: int) -> None:
        """Publish the status of the loop immediately, stamped with simulation time [ns]."""

    def fail(self, message: str, stamp: int) -> None:
        """Report a physics fault at simulation time ``stamp`` [ns] to the user."""


class Terminal:
    """Output for a loop without ROS. It prints warnings and faults to standard error."""

    def subscribed(self) -> set[str]:
        """Return an empty set."""
        return set()

    def new_subscribers(self) -> bool:
        """Return False."""
        return False

    def expects_commands(self) -> bool:
        """Return False."""
        return False

    def publish(self, snapshot: Snapshot, streams: set[str]) -> None:
        """Do nothing."""

    def publish_to_new(self, snapshot: Snapshot) -> None:
        """Do nothing."""

    def dispatch(self) -> None:
        """Do nothing."""

    def publish_while_stopped(self, stamp: int) -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Do nothing."""

    def warn(self, message: str) -> None:
        """Print the message."""
        print(f"tactile_sim: {message}", file=sys.stderr)

    def report(self, stamp: int) -> None:
        """Do nothing, because `warn` has already printed rejected commands."""

    def fail(self, message: str, stamp: int) -> None:
        """Print the message."""
        print(f"tactile_sim: {message}", file=sys.stderr)


class Mailbox:
    """A queue of functions. Any thread can add functions; a single thread executes them.

    The functions run between two steps, so no lock is held while stepping.
    """

    def __init__(self) -> None:
        self._letters: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False

    def post(self, work: Callable[[], object]) -> None:
        """Queue a function to run between two steps; its result is ignored."""
        self._letters.put(work)

    def call(self, work: Callable[[], Any]) -> Future:
        """Queue a function and return a future for its result.

        Returns:
            A future with the result of the function or the exception that it raises. If the function returns
            a future, that future's result is used. After `close`, the future fails with a CommandError.
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
                self._letters.put(answer)
        return future

    def read(self, wait: float = 0.0) -> None:
        """Execute all queued functions.

        Args:
            wait: Longest time to wait for the first function [s].
        """
        if not wait and self._letters.empty():
            return
        try:
            work = self._letters.get(timeout=wait) if wait else self._letters.get_nowait()
            while True:
                work()
                work = self._letters.get_nowait()
        except Empty:
            pass

    def close(self) -> None:
        """Execute all queued functions and reject later calls."""
        with self._closing:
            self._closed = True
        self.read()


REACTION = 0.01
"""Longest time between two checks for requests [s], in both simulation time and wall time."""
LATE = 0.1
"""Largest lag behind wall time that the loop makes up [s]. If the lag is larger, the lost time is dropped."""


class Pace:
    """Computes waiting times so that simulation time advances ``factor`` times as fast as wall time."""

    def __init__(self, factor: float):
        self.missed = 0
        """Number of times that lost time was dropped because the machine was too slow."""
        self._window: tuple[float, float] = (time.monotonic(), 0.0)
        self.set_factor(factor, 0.0)

    def set_factor(self, factor: float, now: float) -> None:
        """Set the real-time factor.

        Args:
            factor: Ratio of simulation time to wall time; 0 means as fast as possible.
            now: Current simulation time [s].
        """
        self.factor = factor
        self.reaction = REACTION * min(factor or 1.0, 1.0)
        """Longest simulation time between two checks for requests [s]."""
        self.anchor(now)

    def anchor(self, now: float) -> None:
        """Restart pacing from the current time, for example after a pause.

        Args:
            now: Current simulation time [s].
        """
        self._wall = time.monotonic()
        self._simulated = now

    def ahead(self, now: float) -> float:
        """Return the wall time to wait before the next step [s]; 0 if simulation time is not ahead.

        If the simulation lags behind wall time by more than `LATE`, the lost time is dropped and counted in
        ``missed``.

        Args:
            now: Current simulation time [s].
        """
        if self.factor == 0.0:
            return 0.0
        wait = self._wall + (now - self._simulated) / self.factor - time.monotonic()
        if wait < -LATE:
            self.missed += 1
            self.anchor(now)
        return max(wait, 0.0)

    def measured(self, now: float) -> float:
        """Return the average real-time factor since the previous call, or since the start in the first call.

        Args:
            now: Current simulation time [s].
        """
        wall, simulated = self._window
        self._window = (time.monotonic(), now)
        return (now - simulated) / max(self._window[0] - wall, 1e-9)


class StepRequests:
    """A queue of requests to step. Each entry has the step count at which it ends and a future."""

    def __init__(self) -> None:
        self._requests: deque[tuple[int, Future[int]]] = deque()

    def __bool__(self) -> bool:
        return bool(self._requests)

    @property
    def end(self) -> int:
        """Step count at which the oldest request ends. Valid only if a request is pending."""
        return self._requests[0][0]

    def add(self, step: int, number: int) -> Future[int]:
        """Queue a request for steps, which begins after all pending requests.

        Returns:
            A future with the stamp [ns] after the last step, or with a CommandError.
        """
        begin = self._requests[-1][0] if self._requests else step
        done: Future[int] = Future()
        self._requests.append((begin + number, done))
        return done

    def delay(self) -> None:
        """Increase the end of each request by one, because the step count was increased without a step."""
        self._requests = deque((end + 1, done) for end, done in self._requests)

    def resolve(self, stamp: int) -> None:
        """Complete the oldest request with ``stamp``, the simulation time after its last step [ns]."""
        self._requests.popleft()[1].set_result(stamp)

    def cancel(self, why: str) -> None:
        """Fail all requests with a CommandError that contains the reason."""
        while self._requests:
            self._requests.popleft()[1].set_exception(CommandError(f"not all steps were taken: {why}"))


class Stepper:
    """Advances a simulation in batches of steps, and publishes its states when streams are due.

    A batch ends where a stream is due or where commands, motion or sampling must be processed, so a state
    between two such steps costs nothing beyond its physics.
    """

    def __init__(self, simulation: Simulation, output: Output):
        self.simulation = simulation
        self.output = output
        self._published_step = -1
        """Step count of the state that was published last; -1 before the first."""
        self._publish_next = True
        """Whether to publish the current state on all streams, because it was not reached by a step."""
        self._fault: str | None = None
        self._ends_at_fault = False

    @property
    def fault(self) -> str | None:
        """Description of the physics fault, or None; cleared by a reset."""
        return self._fault

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
        wanted = active | simulation.tactile_streams if simulation.has_memory else active
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
        """Return whether there is a physics fault. A new fault stops time and is reported."""
        if (fault := self.simulation.fault()) and not self._fault:
            self._fault = fault
            effect = "the run ends" if self._ends_at_fault else "time is stopped until ~/reset"
            self.output.fail(
                f"physics fault at {self.simulation.time:.6g} s: {fault}; {effect}."
                " Try a smaller timestep or softer contacts",
                self.simulation.stamp,
            )
        return fault is not None

    def _check_fault(self) -> None:
        if self._fault:
            raise CommandError(f"physics fault: {self._fault}; call ~/reset first")


IDLE = 0.05
"""Wall time between two checks for new subscribers while simulation time is stopped [s]."""


class Runner(Stepper):
    """Runs a simulation. Only the thread that calls ``run`` accesses the simulation.

    Other threads submit functions with ``post`` and ``call``. These functions run between two steps, so no
    lock is held while stepping.
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
        """Make `run` return after the current batch of steps. Lock-free, so signal handlers can call it."""
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

        Returns:
            A future with the stamp [ns] after the last step, or with a CommandError if not all steps can be
            executed.
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


class Requests:
    """Runs the actions defined in `ACTIONS` in the loop's thread."""

    def __init__(self, runner: Runner):
        self._runner = runner

    def ask(self, name: str, *arguments: Any) -> Future:
        """Request an action. Any thread can call this method.

        Returns:
            A future with the result of the action, or with a TactileSimError if it is rejected.
        """

        def work() -> Any:
            if name not in ACTIONS:
                raise CommandError(f"unknown action {name!r}{suggest(name, ACTIONS)}")
            action = ACTIONS[name]
            return action.function(self._runner, *action.values(arguments))

        return self._runner.call(work)
