"""Receptors that get used to a load."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.sensor.stage import Plan, Stage, rows


class SlowAdaptation(Stage):
    """A load x that is held reads x (f + (1 - f) exp(-t / T)), with f = ``fraction``, T = ``time_constant``.

    That is x - (1 - f) y, where T dy/dt = x - y. The load counts as constant from one tick to the next, for
    which the filter is exact, whatever the time between them.
    """

    remembers = True

    def __init__(self, plan: Plan):
        self._removed = 1.0 - self._fraction(plan)
        self._time_constant = plan.parameter("time_constant")
        self._timestep = plan.timestep
        self._ranges = plan.ranges
        self._load: np.ndarray | None = None
        """(taxels that have the stage, channels) x at the last tick; before the first there is none."""

    @staticmethod
    def _fraction(plan: Plan) -> np.ndarray:
        return plan.parameter("fraction")

    def act(self, values: np.ndarray, step: int) -> None:
        if self._load is None:
            self._load = np.zeros((rows(self._ranges), values.shape[1]))
            self._used_to = self._load
            self._kept = step
        self._next_load, self._next_used_to = np.empty_like(self._load), np.empty_like(self._load)
        self._step = step
        gain = -np.expm1((self._kept - step) * self._timestep / self._time_constant)
        _adapt(
            values, self._ranges, self._removed, gain,
            self._load, self._used_to, self._next_load, self._next_used_to,
        )  # fmt: skip

    def keep(self) -> None:
        self._load, self._used_to, self._kept = self._next_load, self._next_used_to, self._step

    def restart(self) -> None:
        self._load = None


class FastAdaptation(SlowAdaptation):
    """The same with nothing that remains: a step reads in full at first and decays to zero; when it ends it
    reads so again, with the other sign."""

    @staticmethod
    def _fraction(plan: Plan) -> np.ndarray:
        return np.zeros(len(plan.blocks))


@kernel
def _adapt(values, ranges, removed, gain, load, used_to, next_load, next_used_to):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                mean = used_to[k, c] + gain[b] * (load[k, c] - used_to[k, c])
                next_load[k, c] = values[t, c]
                next_used_to[k, c] = mean
                values[t, c] -= removed[b] * mean
            k += 1
