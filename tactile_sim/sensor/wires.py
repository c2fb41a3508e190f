"""What happens between a taxel's converter and the computer."""

from __future__ import annotations

from collections import deque
from itertools import chain

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.errors import ConfigError
from tactile_sim.sensor.stage import Plan, Stage, rows


class DeadTaxels(Stage):
    """The taxels listed and, of those of the body, the nearest whole number to ``fraction``, drawn at random
    with the seed and the body's id: the same ones as long as these and the skin stay."""

    def __init__(self, plan: Plan):
        dead = [np.empty(0, np.int64)]
        for body, block in zip(plan.bodies, plan.blocks, strict=True):
            taxels = body.stop - body.start
            wrong = [taxel for taxel in block.taxels if taxel >= taxels]
            if wrong:
                raise ConfigError(
                    f"{body.name}.dead_taxels.taxels: the body {body.name!r} has no taxel {wrong[0]}; "
                    f"there are {taxels}, from 0 to {taxels - 1}"
                )
            drawn = np.random.default_rng([plan.seed, body.body_id]).permutation(taxels)
            dead += [body.start + drawn[: round(block.fraction * taxels)]]
            dead += [body.start + np.array(block.taxels, np.int64)]
        self._dead = np.unique(np.concatenate(dead))

    def act(self, values: np.ndarray, step: int) -> None:
        values[self._dead] = 0.0


class Delay(Stage):
    """At a time t tells the newest reading that was taken at t - ``time`` or before, as it was.

    Readings are taken at ticks, so a delay that is no multiple of their interval acts as one up to the next
    tick. Nothing is interpolated: values between those that the converter gave would be none of the sensor's.
    """

    remembers = True

    def __init__(self, plan: Plan):
        times = plan.parameter("time")
        self._lines = [_Line(plan.ranges[times == time], plan.steps(time)) for time in np.unique(times)]

    def act(self, values: np.ndarray, step: int) -> None:
        for line in self._lines:
            line.act(values, step)

    def keep(self) -> None:
        for line in self._lines:
            line.keep()

    def restart(self) -> None:
        for line in self._lines:
            line.under_way.clear()


class _Line:
    """The taxels with one delay."""

    def __init__(self, ranges: np.ndarray, age: int):
        """ranges (b, 2) of taxels; age: in steps of the simulation."""
        self._ranges = ranges
        self._age = age
        self.under_way: deque[tuple[int, np.ndarray]] = deque()
        """Readings with the steps when they were taken; the first is the newest that has arrived."""

    def act(self, values: np.ndarray, step: int) -> None:
        self._now = step, np.empty((rows(self._ranges), values.shape[1]))
        _take(values, self._ranges, self._now[1])
        arrived = None
        for taken, reading in chain(self.under_way, [self._now]):
            if step - taken < self._age:
                break
            arrived = reading
        _put(values, self._ranges, np.zeros_like(self._now[1]) if arrived is None else arrived)

    def keep(self) -> None:
        line, (step, _) = self.under_way, self._now
        if line and line[-1][0] == step:
            line.pop()
        line.append(self._now)
        while len(line) > 1 and step - line[1][0] >= self._age:
            line.popleft()


@kernel
def _take(values, ranges, out):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                out[k, c] = values[t, c]
            k += 1


@kernel
def _put(values, ranges, new):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                values[t, c] = new[k, c]
            k += 1
