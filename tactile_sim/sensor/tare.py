"""Readings that count as zero."""

from __future__ import annotations

import numpy as np

from tactile_sim.sensor.stage import Plan, Stage


class Tare(Stage):
    """Takes off what was read when the tare was taken: by `take` over the whole skin, or by itself, once, at
    the first reading ``at`` some time [s] after the start. It outlasts a restart."""

    remembers = True

    def __init__(self, plan: Plan):
        self._planned = [
            (plan.steps(block.at), slice(body.start, body.stop))
            for body, block in zip(plan.bodies, plan.blocks, strict=True)
        ]
        self._waiting = self._planned
        self.zero: np.ndarray | None = None
        """(taxels, channels)"""

    @property
    def waits(self) -> bool:
        """Whether some body's time has not come yet."""
        return bool(self._waiting)

    @property
    def idle(self) -> bool:
        """Whether it changes nothing."""
        return self.zero is None and not self._waiting

    def act(self, values: np.ndarray, step: int) -> None:
        zero = self.zero
        self._left = [(at, taxels) for at, taxels in self._waiting if step < at]
        if len(self._left) < len(self._waiting):
            zero = np.zeros_like(values) if zero is None else zero.copy()
            for at, taxels in self._waiting:
                if step >= at:
                    zero[taxels] = values[taxels]
        if zero is not None:
            values -= zero
        self._next = zero

    def keep(self) -> None:
        self.zero, self._waiting = self._next, self._left

    def take(self, values: np.ndarray) -> None:
        """Lets values (taxels, channels), as the stages before left them, count as zero from now on."""
        self.zero = values

    def forget(self) -> None:
        """Puts everything back as at the start: readings are of another kind now."""
        self.zero, self._waiting = None, self._planned
