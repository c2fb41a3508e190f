"""Stages between a taxel's converter and the computer: broken wires, lost readings and latency."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.errors import ConfigError
from tactile_sim.schema import SHARE, Integers, Number, parameter
from tactile_sim.signal_chain.noise import entry, stream, unit
from tactile_sim.signal_chain.stage import Group, Stage, ranged

_ZERO, _HELD = 0x2545F491, 0x6A09E667
"""Turn a seed into those of lost readings."""
_JITTER = 0x3C6EF372


@dataclass(frozen=True)
class DeadTaxels(Stage):
    """Some taxels always read the same: a fraction of them, chosen by the seed, and those listed."""

    fraction: float = ranged(SHARE, "Fraction of the body's taxels, 0 to 1.", default=0.0)
    taxels: tuple[int, ...] = parameter(Integers(least=0), "Indices in the body's array.", default=())
    value: float = ranged(Number(), "What each channel of them reads [units].", default=0.0)
    marks = True

    @classmethod
    def start(cls, group: Group) -> tuple[np.ndarray, np.ndarray]:
        """Return the dead taxels (k,) and their values (k, 1)."""
        dead, values = [np.empty(0, np.int64)], [np.empty(0)]
        for k, (body, stage) in enumerate(zip(group.bodies, group.stages, strict=True)):
            taxels = body.stop - body.start
            unknown = [taxel for taxel in stage.taxels if taxel >= taxels]
            if unknown:
                raise ConfigError(
                    f"{body.name}.dead_taxels.taxels: body {body.name!r} has the taxels 0 to {taxels - 1}, "
                    f"got {unknown[0]}"
                )
            drawn = group.draw(k).permutation(taxels)[: round(stage.fraction * taxels)]
            own = np.unique(np.concatenate([drawn, np.array(stage.taxels, np.int64)]))
            dead.append(body.start + own)
            values.append(np.full(len(own), stage.value))
        return np.concatenate(dead), np.concatenate(values)[:, None]

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: tuple, step: int) -> tuple:
        dead, stuck = memory
        values[dead] = stuck
        group.skin.valid[dead] = 0
        return memory


@dataclass(frozen=True)
class Dropout(Stage):
    """Some readings of taxels are lost: they repeat the one before, or read zero."""

    hold: float = ranged(SHARE, "Probability that a reading repeats the one before.", default=0.0)
    zero: float = ranged(SHARE, "Probability that a reading is zero.", default=0.0)
    has_memory = True

    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: np.ndarray | None, step: int) -> np.ndarray:
        """Memory: (taxels of these bodies, channels) the last reading, before zeros."""
        before = group.take(values) if memory is None else memory
        after = np.empty_like(before)
        hold, zero = group.parameters["hold"], group.parameters["zero"]
        seeds = np.uint64(group.seed ^ _HELD), np.uint64(group.seed ^ _ZERO)
        _lose(values, group.ranges, hold, zero, before, after, *seeds, np.uint64(step))
        return after


@dataclass(frozen=True)
class Delay(Stage):
    """Readings arrive late: the newest one that has arrived is reported, and zero before there is one."""

    time: float = ranged(Number(least=0, most=10, unit="s"), "Latency [s].")
    jitter: float = ranged(
        Number(least=0, most=10, unit="s"),
        "Greatest additional latency [s], drawn uniformly for each reading of the body.",
        default=0.0,
    )
    has_memory = True
    marks = True

    # Readings are taken when tactile messages are due, so a delay that is no multiple of their interval acts
    # as one up to the next message. The sensor never measured what lies between two readings, so nothing is
    # interpolated.
    @classmethod
    def apply(cls, values: np.ndarray, group: Group, memory: tuple | None, step: int) -> tuple:
        """Memory: (step, steps of arrival (b,), values and valid of these bodies), oldest reading first."""
        valid = group.skin.valid[:, None]
        late = group.parameters["time"]
        if group.parameters["jitter"].any():
            drawn = _uniform(group.ranges, np.uint64(group.seed ^ _JITTER), np.uint64(step))
            late = late + group.parameters["jitter"] * drawn
        arrival = np.array([step + group.steps(time) for time in late])
        now = step, arrival, group.take(values), group.take(valid)
        readings = (*(reading for reading in memory or () if reading[0] != step), now)
        arrived = np.array([reading[1] for reading in readings]) <= step
        newest = np.where(arrived.any(axis=0), len(readings) - 1 - arrived[::-1].argmax(axis=0), -1)
        for k in set(newest.tolist()):
            _, _, output, marks = (
                readings[k] if k >= 0 else (0, 0, group.zeros(values), np.zeros_like(now[3]))
            )
            _report(values, valid, group.ranges, newest == k, output, marks)
        return readings[max(newest.min(), 0) :]


@kernel(nogil=True)
def _uniform(ranges, seed, step):
    key = stream(seed, step)
    drawn = np.empty(len(ranges))
    for b in range(len(ranges)):
        drawn[b] = unit(entry(key, ranges[b, 0], 0))
    return drawn


@kernel(nogil=True)
def _report(values, valid, ranges, chosen, output, marks):
    """Write a reading of the chosen bodies (b,) into the skin."""
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            if chosen[b]:
                valid[t, 0] = marks[k, 0]
                for c in range(values.shape[1]):
                    values[t, c] = output[k, c]
            k += 1


@kernel(nogil=True)
def _lose(values, ranges, hold, zero, before, after, hold_seed, zero_seed, step):
    held, zeroed = stream(hold_seed, step), stream(zero_seed, step)
    k = 0
    for b in range(len(ranges)):
        for t in range(ranges[b, 0], ranges[b, 1]):
            repeat = hold[b] > 0.0 and unit(entry(held, t, 0)) <= hold[b]
            clear = zero[b] > 0.0 and unit(entry(zeroed, t, 0)) <= zero[b]
            for c in range(values.shape[1]):
                after[k, c] = before[k, c] if repeat else values[t, c]
                values[t, c] = 0.0 if clear else after[k, c]
            k += 1
