"""What users ask of a running simulation, whichever way they ask: each is done between two steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

import numpy as np

from tactile_sim.errors import CommandError
from tactile_sim.loop.runner import Runner


class Requests:
    """Each hands its work to the loop and gives a future of the answer: a line of text where there is
    something to say, or the TactileSimError that refuses it."""

    def __init__(self, runner: Runner):
        self._runner = runner
        self._simulation = runner.simulation

    def pause(self, paused: bool) -> Future:
        """Lets time stand still, or go on."""

        def work() -> str:
            self._runner.pause(paused)
            return "paused" if paused else "running"

        return self._runner.call(work)

    def step(self, count: int) -> Future:
        """Lets standing time go on by some steps; the answer is the stamp [ns] then reached."""
        return self._runner.steps(count)

    def reset(self, keyframe: str | None = None) -> Future:
        """Back to the start, or to a keyframe."""

        def work() -> str:
            self._runner.interfere(lambda: self._simulation.reset(keyframe), mends=True)
            done = f"reset to keyframe {keyframe!r}" if keyframe else "reset"
            return done + ("; still paused" if self._runner.paused else "")

        return self._runner.call(work)

    def throw(self) -> Future:
        """Throws the next ball at the skin."""
        return self._interfere(lambda: f"threw {self._simulation.throw()!r}")

    def tare(self) -> Future:
        """Lets the present readings count as zero."""
        return self._interfere(self._simulation.take_tare)

    def set_body_state(
        self, body: str, position: np.ndarray, quaternion: np.ndarray, linear: np.ndarray, angular: np.ndarray
    ) -> Future:
        """Puts a free body somewhere: see `Simulation.set_body_state`."""

        def work() -> str:
            self._simulation.set_body_state(body, position, quaternion, linear, angular)
            return f"body {body!r} is set"

        return self._interfere(work)

    def push(self, body: int, force: Sequence[float]) -> Future:
        """Pushes a body, by its id, for a moment: see `Simulation.push`."""

        def work() -> str:
            self._simulation.push(body, np.array(force, float))
            return f"pushed {self._simulation.names.bodies[body]!r}"

        return self._interfere(work)

    def set_control(self, index: int, value: float) -> Future:
        """Sets an actuator's control; the others stay as they are. No answer."""

        def work() -> None:
            count = self._simulation.engine.model.nu
            if not 0 <= index < count:
                raise CommandError(f"there is no actuator {index}; the scene has {count}")
            controls = np.full(count, np.nan)
            controls[index] = value
            checked = self._simulation.commander.check_controls(controls.tolist())
            self._runner.command(lambda: self._simulation.command_controls(checked))

        return self._runner.call(work)

    def set_real_time_factor(self, factor: float) -> Future:
        """Sets simulation time over wall time; 0: as fast as possible."""

        def work() -> str:
            self._runner.update(self._simulation.settings.replace("real_time_factor", factor))
            return f"real-time factor {factor:g}"

        return self._runner.call(work)

    def _interfere(self, work: Callable[[], str]) -> Future:
        return self._runner.call(lambda: self._runner.interfere(work))
