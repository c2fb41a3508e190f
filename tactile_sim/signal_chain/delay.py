"""Stage between the sensor and the computer: latency."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.schema import Number
from tactile_sim.signal_chain.codes import Codes, load, save, stored_words
from tactile_sim.signal_chain.draws import entry, upper
from tactile_sim.signal_chain.group import Group
from tactile_sim.signal_chain.loops import ZERO, copy, span
from tactile_sim.signal_chain.stage import SLACK, Stage, computation, ranged

_HEADER = 4
"""Number of float32 words that precede the slots; they store two int64 counters."""


@dataclass(frozen=True)
class Delay(Stage):
    """Readings arrive late: the newest one that has arrived is reported, or zero if none has arrived yet."""

    time: float = ranged(Number(least=0, most=10, unit="s", usual=(1e-5, 2.0)), "Latency [s].")
    jitter: float = ranged(
        Number(least=0, most=10, unit="s", usual=(1e-5, 2.0)),
        "Maximum additional latency [s], drawn uniformly for each reading of the body.",
        default=0.0,
    )
    has_memory = True
    marks = True

    @property
    def joined(self) -> bool:
        return not self.random and self.jitter == 0.0

    def output_codes(self, codes: Codes | None) -> Codes | None:
        return codes if codes and codes.contain(0.0) else None

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the number of values in memory: two int64 counters and ``room`` slots.

        The counters are the index of the oldest slot and the number of stored readings. A slot stores the
        arrival step of each run as int64, the validity of each taxel as a byte, and the values (channels,
        taxels).
        """
        coded = group.codes is not None
        return _HEADER + group.room * _slot_words(len(group.runs), group.number, group.channels, coded)

    @classmethod
    def integers(cls, group: Group) -> np.ndarray:
        return group.codes.integers if group.codes else super().integers(group)

    # Readings are stored when tactile messages are due, so a delay is effectively rounded up to a multiple of
    # the message interval. Readings are not interpolated, because a sensor does not measure in between.
    @staticmethod
    @computation
    def compute(values, own, memory, now):
        runs, taxels = len(own.ranges), 0
        for b in range(runs):
            taxels += own.ranges[b, 1] - own.ranges[b, 0]
        marks, first_value = 2 * runs, 2 * runs + (taxels + 3) // 4
        counters = memory[:_HEADER].view(np.int64)
        slots = memory[_HEADER:].reshape((-1, _slot_words(runs, taxels, len(values), len(own.integers) > 0)))
        room, oldest, count = len(slots), counters[0], counters[1]
        stored = count - 1 if now.again else count  # a reading of the same step is replaced
        new, least = slots[(oldest + stored) % room], stored
        for b in range(runs):
            begin, end, first = span(own, b)
            late = own.parameters[b, 0]
            if own.parameters[b, 1] > 0.0:
                late += own.parameters[b, 1] * upper(entry(now.key, begin))
            arrival = now.step + math.ceil(late / now.timestep - SLACK)
            newest = stored
            if arrival > now.step:
                newest -= 1
                while newest >= 0 and _arrivals(slots[(oldest + newest) % room], runs)[b] > now.step:
                    newest -= 1
            least = min(least, newest)
            if now.keep:
                _arrivals(new, runs)[b] = arrival
                copy(now.valid[begin:end], new[marks:first_value].view(np.uint8)[first : first + end - begin])
                for c in range(len(values)):
                    save(values[c, begin:end], new[first_value:], c * taxels + first, own.integers)
            if newest == stored:
                continue
            if newest < 0:
                now.valid[begin:end] = 0
                values[:, begin:end] = ZERO
                continue
            read = slots[(oldest + newest) % room]
            copy(read[marks:first_value].view(np.uint8)[first : first + end - begin], now.valid[begin:end])
            for c in range(len(values)):
                load(read[first_value:], c * taxels + first, own.integers, values[c, begin:end])
        if now.keep:
            # Readings before the newest one that has arrived on every pad are never reported.
            drop = max(least, 0)
            counters[0], counters[1] = (oldest + drop) % room, stored + 1 - drop


@kernel(counted=False)
def _slot_words(runs, taxels, channels, coded):
    """Return the size of a slot [words]; it is even, so that int64 numbers in the next slot are aligned."""
    size = 2 * runs + (taxels + 3) // 4 + stored_words(channels * taxels, coded)
    return size + size % 2


@kernel(counted=False, inline="always")
def _arrivals(slot, runs):
    """Return the arrival steps (runs,) int64 in a slot."""
    return slot[: 2 * runs].view(np.int64)


def with_room(group: Group, rate: float) -> Group:
    """Return a copy of a group whose memory has room for all readings that are on their way.

    Args:
        group: Group of pads with the stage `Delay`.
        rate: Expected rate of the readings [Hz].
    """
    late = group.ends[1].sum(axis=1).max()  # time and jitter
    return replace(group, room=max(2, 1 + math.ceil(late * rate - SLACK)))


@kernel(counted=False)
def is_full(memory, begin, end, room, runs, kept, steps):
    """Return whether any environment has no room for another reading.

    There is room if a slot is free. If all slots are used, there is still room in two cases: the last stored
    reading is of the same step, so the new one replaces it; or the second oldest reading has arrived for
    every run, so the oldest is no longer needed.

    Args:
        memory: (n, words) Memory of all stages.
        begin: First column of the memory of `Delay`.
        end: End of its columns (exclusive).
        room: Number of slots.
        runs: Number of runs.
        kept: (n,) Step of the last stored reading.
        steps: (n,) Step of the new reading.
    """
    for env in range(len(memory)):
        own = memory[env, begin:end]
        counters = own[:_HEADER].view(np.int64)
        if counters[1] < room or kept[env] == steps[env]:
            continue
        second = (counters[0] + 1) % room
        arrivals = _arrivals(own[_HEADER:].reshape((room, -1))[second], runs)
        for b in range(runs):
            if arrivals[b] > steps[env]:
                return True
    return False


def move_slots(before: np.ndarray, after: np.ndarray, room: int, more: int) -> None:
    """Move stored readings to a larger memory.

    Args:
        before: (n, words) Memory of `Delay` with ``room`` slots.
        after: (n, words of the larger memory) Output with ``more`` slots.
        room: Former number of slots.
        more: New number of slots.
    """
    old = before[:, _HEADER:].reshape(len(before), room, -1)
    new = after[:, _HEADER:].reshape(len(after), more, -1)
    for env, (oldest, count) in enumerate(before[:, :_HEADER].copy().view(np.int64).tolist()):
        new[env, :count] = old[env, (oldest + np.arange(count)) % room]
        after[env, :_HEADER].view(np.int64)[:] = 0, count
    after[:, _HEADER:] = new.reshape(len(after), -1)
