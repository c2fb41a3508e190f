"""Stages of the driver: clip, contact bit and history. Its tare is in `tactile_sim.signal_chain.tare`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.errors import ConfigError
from tactile_sim.schema import LARGEST, Integer, Number, parameter
from tactile_sim.signal_chain.stage import Group, Stage, ranged


@dataclass(frozen=True)
class Clip(Stage):
    """Each channel is limited to a range."""

    low: float = ranged(Number(), "Least value [units].", default=-LARGEST)
    high: float = ranged(Number(), "Greatest value [units].", default=LARGEST)

    @classmethod
    def start(cls, group: Group) -> None:
        _check_order(group, "low", "high")

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: None, step: int) -> None:
        _clip(values, group.ranges, group.parameters["low"], group.parameters["high"])


@dataclass(frozen=True)
class Contact(Stage):
    """A taxel reads 1 from a magnitude on, until it is below another one, and 0 otherwise."""

    above: float = ranged(Number(above=0), "Magnitude from which on the reading is 1 [units].")
    below: float = ranged(Number(least=0), "Magnitude below which it is 0 again [units].")
    has_memory = True

    # A vector keeps its direction: it has the length 1 or 0.
    @classmethod
    def start(cls, group: Group) -> None:
        _check_order(group, "below", "above")

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: np.ndarray | None, step: int) -> np.ndarray:
        """Memory: (taxels of these bodies,) whether each is on."""
        before = np.zeros(group.number, np.bool_) if memory is None else memory
        after = np.empty_like(before)
        _trigger(values, group.ranges, group.parameters["above"], group.parameters["below"], before, after)
        return after


@dataclass(frozen=True)
class History(Stage):
    """The last outputs are kept for learning, in `SignalChain.history`; the reading is not changed."""

    samples: int = parameter(Integer(1, 1000), "Number of outputs.")
    has_memory = True

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: tuple | None, step: int) -> tuple:
        """Memory: (step, values of these bodies) of the last outputs, oldest first."""
        most = max(stage.samples for stage in group.stages)
        older = (output for output in memory or () if output[0] != step)
        return (*older, (step, group.take(values)))[-most:]


def _check_order(group: Group, low: str, high: str) -> None:
    """Check that one parameter is at most another one, for all values in their ranges."""
    for body, stage in zip(group.bodies, group.configured, strict=True):
        least, most = np.max(getattr(stage, low)), np.min(getattr(stage, high))
        if least > most:
            raise ConfigError(f"{body.name}.{stage.key()}.{low}: must be <= {high}, {most:g}, got {least:g}")


@kernel(nogil=True)
def _clip(values, ranges, low, high):
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                values[t, c] = min(max(values[t, c], low[b]), high[b])


@kernel(nogil=True)
def _trigger(values, ranges, above, below, before, after):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            square = 0.0
            for c in range(values.shape[1]):
                square += values[t, c] ** 2
            magnitude = np.sqrt(square)
            level = below[b] if before[k] else above[b]
            after[k] = magnitude >= level and magnitude > 0.0
            for c in range(values.shape[1]):
                if not after[k]:
                    values[t, c] = 0.0
                elif values.shape[1] == 1:
                    values[t, c] = 1.0
                else:
                    values[t, c] /= magnitude
            k += 1
