"""Advance a simulation in batches of steps, and publish its states when streams are due."""

from __future__ import annotations

from tactile_sim.common.errors import CommandError, PhysicsError
from tactile_sim.loop.output import Output
from tactile_sim.simulation import Simulation


class Stepper:
    """Advances a simulation in batches of steps, and publishes its states when streams are due.

    A batch ends where a stream is due or where commands, motion or sampling must be processed, so a state
    between two such steps costs nothing beyond its physics.

    Args:
        simulation: The simulation to advance.
        output: Publishes the snapshots and reports errors.
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

        Args:
            end: Step at which the batch ends at the latest.
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
