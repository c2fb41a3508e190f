"""Stages between a taxel's converter and the computer: broken wires, lost readings and latency."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tactile_sim.errors import ConfigError
from tactile_sim.schema import SHARE, Integers, Number, parameter
from tactile_sim.signal_chain.draws import entry, lower, upper
from tactile_sim.signal_chain.stage import SLACK, Draw, Group, Stage, computation, copy, ranged, span


@dataclass(frozen=True)
class DeadTaxels(Stage):
    """Some taxels always read the same: a fraction that is chosen by the seed, and those listed."""

    fraction: float = ranged(SHARE, "Fraction of the body's taxels that are dead, 0 to 1.", default=0.0)
    taxels: tuple[int, ...] = parameter(
        Integers(least=0), "Indices of further dead taxels in the body's array.", default=()
    )
    value: float = ranged(Number(), "Reading of each channel of a dead taxel [units].", default=0.0)
    marks = True

    @property
    def scattered(self) -> bool:
        return self.random or self.fraction > 0

    @classmethod
    def check(cls, group: Group) -> None:
        for body, stage in zip(group.bodies, group.stages, strict=True):
            taxels = body.stop - body.start
            unknown = [taxel for taxel in stage.taxels if taxel >= taxels]
            if unknown:
                raise ConfigError(
                    f"{body.name}.dead_taxels.taxels: body {body.name!r} has the taxels 0 to {taxels - 1}, "
                    f"got {unknown[0]}"
                )

    @classmethod
    def constants(cls, group: Group, draw: Draw) -> np.ndarray:
        """Return the index in the skin and the constant reading of each dead taxel (k, 2).

        The number of rows is the largest possible one; unused rows have the index -1.
        """
        rows: list[np.ndarray] = []
        for k, (stage, (begin, end, _)) in enumerate(zip(group.stages, group.ranges.tolist(), strict=True)):
            most, count = (
                round(share * (end - begin)) for share in (group.ends[1, k, 0], draw.parameters[k, 0])
            )
            own = np.full((most + len(stage.taxels), 2), -1.0)
            dead = np.concatenate([draw.chosen(k, count), np.array(stage.taxels, np.int64)])
            own[: len(dead), 0], own[: len(dead), 1] = begin + dead, draw.parameters[k, 1]
            rows.append(own)
        return np.concatenate([np.empty((0, 2)), *rows]).ravel()

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for k in range(0, len(own.constants), 2):
            taxel = np.int64(own.constants[k])
            if taxel >= 0:
                now.valid[taxel] = 0
                for c in range(len(values)):
                    values[c, taxel] = own.constants[k + 1]


@dataclass(frozen=True)
class Dropout(Stage):
    """Some readings of taxels are lost: the previous one is repeated, or zero is reported."""

    hold: float = ranged(
        SHARE, "Probability that a reading of a taxel repeats the previous one.", default=0.0
    )
    zero: float = ranged(SHARE, "Probability that a reading of a taxel is zero.", default=0.0)
    has_memory = True

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the size of the last reading (channels, taxels in the group), before zeroing."""
        return group.channels * group.number

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        last = memory.reshape((len(values), -1))
        for b in range(len(own.ranges)):
            begin, end, first = span(own, b)
            hold, zero = 0.0 if now.first else own.parameters[b, 0], own.parameters[b, 1]
            held, cleared = now.work[0, : end - begin], now.work[1, : end - begin]
            for i in range(len(held)):
                bits = entry(now.key, begin + i)
                held[i], cleared[i] = upper(bits), lower(bits)
            for c in range(len(values)):
                row, before = values[c, begin:end], last[c, first : first + end - begin]
                for i in range(len(row)):
                    after = before[i] if held[i] <= hold else row[i]
                    row[i] = 0.0 if cleared[i] <= zero else after
                    if now.keep:
                        before[i] = after


@dataclass(frozen=True)
class Delay(Stage):
    """Readings arrive late: the newest one that has arrived is reported, or zero before the first."""

    time: float = ranged(Number(least=0, most=10, unit="s"), "Latency [s].")
    jitter: float = ranged(
        Number(least=0, most=10, unit="s"),
        "Maximum additional latency [s], drawn uniformly for each reading of the body.",
        default=0.0,
    )
    has_memory = True
    marks = True

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the size of two counters (oldest slot, number of readings) and of ``room`` slots.

        A slot stores the arrival step of each pad, the validity of each taxel as a byte, and the values
        (channels, taxels).
        """
        return 2 + group.room * (len(group.bodies) + -(-group.number // 8) + group.channels * group.number)

    # Readings are stored when tactile messages are due, so a delay is effectively rounded up to a multiple of
    # the message interval. Readings are not interpolated, because a sensor does not measure in between.
    @staticmethod
    @computation
    def compute(values, own, memory, now):
        bodies, taxels = len(own.ranges), 0
        for b in range(bodies):
            taxels += own.ranges[b, 1] - own.ranges[b, 0]
        marked = bodies + (taxels + 7) // 8
        slots = memory[2:].reshape((-1, marked + len(values) * taxels))
        room, oldest, count = len(slots), np.int64(memory[0]), np.int64(memory[1])
        stored = count - 1 if now.again else count  # a reading of the same step is replaced
        new, least = slots[(oldest + stored) % room], stored
        for b in range(bodies):
            begin, end, first = span(own, b)
            late = own.parameters[b, 0]
            if own.parameters[b, 1] > 0.0:
                late += own.parameters[b, 1] * upper(entry(now.key, begin))
            arrival = now.step + math.ceil(late / now.timestep - SLACK)
            newest = stored
            if arrival > now.step:
                newest -= 1
                while newest >= 0 and slots[(oldest + newest) % room, b] > now.step:
                    newest -= 1
            least = min(least, newest)
            if now.keep:
                new[b] = arrival
                copy(now.valid[begin:end], new[bodies:marked].view(np.uint8)[first : first + end - begin])
                for c in range(len(values)):
                    place = marked + c * taxels + first
                    copy(values[c, begin:end], new[place : place + end - begin])
            if newest == stored:
                continue
            if newest < 0:
                now.valid[begin:end] = 0
                values[:, begin:end] = 0.0
                continue
            read = slots[(oldest + newest) % room]
            copy(read[bodies:marked].view(np.uint8)[first : first + end - begin], now.valid[begin:end])
            for c in range(len(values)):
                place = marked + c * taxels + first
                copy(read[place : place + end - begin], values[c, begin:end])
        if now.keep:
            # Readings before the newest one that has arrived on every body are never reported.
            drop = max(least, 0)
            memory[0], memory[1] = (oldest + drop) % room, stored + 1 - drop
