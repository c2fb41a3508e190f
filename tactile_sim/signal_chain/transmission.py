"""Stages between a taxel's converter and the computer: broken wires and latency."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.errors import ConfigError
from tactile_sim.schema import SHARE, Integers, Number, parameter
from tactile_sim.signal_chain.stage import Group, Stage


@dataclass(frozen=True)
class DeadTaxels(Stage):
    """Some taxels always read zero: a fraction of them, chosen by the seed, and those listed."""

    fraction: float = parameter(SHARE, "Fraction of the body's taxels, 0 to 1.", default=0.0)
    taxels: tuple[int, ...] = parameter(Integers(least=0), "Indices in the body's array.", default=())

    @classmethod
    def start(cls, group: Group) -> np.ndarray:
        """Return the dead taxels (k,), which depend on the seed and the ids of the bodies alone."""
        dead = [np.empty(0, np.int64)]
        for body, stage in zip(group.bodies, group.stages, strict=True):
            taxels = body.stop - body.start
            unknown = [taxel for taxel in stage.taxels if taxel >= taxels]
            if unknown:
                raise ConfigError(
                    f"{body.name}.dead_taxels.taxels: body {body.name!r} has the taxels 0 to {taxels - 1}, "
                    f"got {unknown[0]}"
                )
            drawn = np.random.default_rng([group.seed, body.body_id]).permutation(taxels)
            dead += [body.start + drawn[: round(stage.fraction * taxels)]]
            dead += [body.start + np.array(stage.taxels, np.int64)]
        return np.unique(np.concatenate(dead))

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: np.ndarray, step: int) -> np.ndarray:
        values[memory] = 0.0
        return memory


@dataclass(frozen=True)
class Delay(Stage):
    """Readings arrive late: the newest one that is old enough is reported, and zero before there is one."""

    time: float = parameter(Number(least=0, most=10, unit="s"), "Latency [s].")
    has_memory = True

    # Readings are taken when tactile messages are due, so a delay that is no multiple of their interval acts
    # as one up to the next message. The sensor never measured what lies between two readings, so nothing is
    # interpolated.
    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: tuple | None, step: int) -> tuple:
        """Memory: (step, values of these bodies) of the readings under way, oldest first."""
        ages = np.array([group.steps(time) for time in group.parameters["time"]])
        now = group.zeros(values)
        _pack(values, group.ranges, now)
        readings = tuple(reading for reading in memory or () if reading[0] != step) + ((step, now),)
        first = 0
        for age in np.unique(ages):
            first = sum(step - taken >= age for taken, _ in readings) - 1
            arrived = readings[first][1] if first >= 0 else np.zeros_like(now)
            _unpack(values, group.ranges, ages == age, arrived)
        return readings[max(first, 0) :]


@kernel(nogil=True)
def _pack(values, ranges, out):
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            for c in range(values.shape[1]):
                out[k, c] = values[t, c]
            k += 1


@kernel(nogil=True)
def _unpack(values, ranges, chosen, new):
    """Write the rows of the chosen bodies (b,) back into the skin."""
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            if chosen[b]:
                for c in range(values.shape[1]):
                    values[t, c] = new[k, c]
            k += 1
