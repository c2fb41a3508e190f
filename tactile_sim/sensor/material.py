"""What the skin's material does to a load on its way to the taxels."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.sensor.stage import Plan, Stage, rows


class CrossTalk(Stage):
    """A taxel keeps ``1 - share`` of its load, its neighbours get the rest in equal parts, and one without
    neighbours keeps all: so a body's sum stays."""

    def __init__(self, plan: Plan):
        self._share = plan.parameter("share")
        self._ranges = plan.ranges
        self._begin, self._beside = plan.neighbours

    def act(self, values: np.ndarray, step: int) -> None:
        _pass_on(values, values.copy(), self._ranges, self._share, self._begin, self._beside)


class Hysteresis(Stage):
    """The play of a joint with dry friction, where friction grows with the load, as Coulomb's does.

    The reading stays where it is as long as it is within ``fraction`` times the load x of x, and else is the
    nearest point that is: it rises as (1 - fraction) x, falls as (1 + fraction) x, and is zero without load.
    Going up to F and back encloses fraction (1 - fraction) / (1 + fraction) F². For vectors the interval is a
    ball, so that the stage has no direction of its own. After Visintin, Differential Models of Hysteresis
    (1994), III.2, for the play and its vectorial form.
    """

    remembers = True

    def __init__(self, plan: Plan):
        self._fraction = plan.parameter("fraction")
        self._ranges = plan.ranges
        self._state: np.ndarray | None = None
        """(taxels that have the stage, channels) the last reading."""

    def act(self, values: np.ndarray, step: int) -> None:
        if self._state is None:
            self._state = np.zeros((rows(self._ranges), values.shape[1]))
        self._next = np.empty_like(self._state)
        _hold_back(values, self._ranges, self._fraction, self._state, self._next)

    def keep(self) -> None:
        self._state = self._next

    def restart(self) -> None:
        self._state = None


@kernel
def _pass_on(values, loads, ranges, share, begin, beside):
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            number = begin[t + 1] - begin[t]
            if number == 0:
                continue
            for c in range(values.shape[1]):
                passed = share[b] * loads[t, c]
                if passed != 0.0:
                    values[t, c] -= passed
                    for e in range(begin[t], begin[t + 1]):
                        values[beside[e], c] += passed / number


@kernel
def _hold_back(values, ranges, fraction, state, following):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            load, apart = 0.0, 0.0
            for c in range(values.shape[1]):
                load += values[t, c] ** 2
                apart += (state[k, c] - values[t, c]) ** 2
            width, apart = fraction[b] * np.sqrt(load), np.sqrt(apart)
            for c in range(values.shape[1]):
                held = state[k, c]
                if apart > width:
                    held = values[t, c] + (held - values[t, c]) * (width / apart)
                following[k, c] = held
                values[t, c] = held
            k += 1
