"""Stages between a taxel's converter and the computer: broken wires and lost readings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.errors import ConfigError
from tactile_sim.schema import SHARE, Integers, Number, parameter
from tactile_sim.signal_chain.codes import Codes, load, save, stored_words
from tactile_sim.signal_chain.draws import LOWER, entry
from tactile_sim.signal_chain.group import Draw, Group
from tactile_sim.signal_chain.loops import ONE, ZERO, span
from tactile_sim.signal_chain.stage import Stage, computation, ranged


@dataclass(frozen=True)
class DeadTaxels(Stage):
    """Some taxels always read the same value: listed ones, and a random fraction that depends on the seed."""

    fraction: float = ranged(SHARE, "Fraction of the body's taxels that are dead, 0 to 1.", default=0.0)
    taxels: tuple[int, ...] = parameter(
        Integers(least=0), "Indices of further dead taxels in the body's array.", default=()
    )
    value: float = ranged(Number(), "Reading of each channel of a dead taxel [units].", default=0.0)
    marks = True

    def output_codes(self, codes: Codes | None) -> Codes | None:
        fixed = type(self.value) is not tuple
        return codes if codes and fixed and codes.contain(self.value) else None

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
        """Return the dead taxels as a flat array (2 k,).

        It contains two numbers for each dead taxel: its index in the skin, and its constant reading. k is the
        largest possible number of dead taxels. Unused entries have the index -1.
        """
        rows: list[np.ndarray] = []
        for k, (stage, (begin, end, _)) in enumerate(zip(group.stages, group.pads.tolist(), strict=True)):
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
    """Some readings of taxels are lost at random: the previous one is repeated, or zero is reported."""

    hold: float = ranged(
        SHARE, "Probability that a reading of a taxel repeats the previous one.", default=0.0
    )
    zero: float = ranged(SHARE, "Probability that a reading of a taxel is zero.", default=0.0)
    has_memory = True

    def output_codes(self, codes: Codes | None) -> Codes | None:
        return codes if codes and codes.contain(0.0) else None

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the size of the last reading of all taxels in the group.

        It includes all channels, and is stored before readings are set to zero.
        """
        return stored_words(group.channels * group.number, group.codes is not None)

    @classmethod
    def integers(cls, group: Group) -> np.ndarray:
        return group.codes.integers if group.codes else super().integers(group)

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        taxels = own.ranges[-1, 2] + own.ranges[-1, 1] - own.ranges[-1, 0]
        for b in range(len(own.ranges)):
            begin, end, first = span(own, b)
            hold, zero = 0.0 if now.first else own.parameters[b, 0], own.parameters[b, 1]
            held, cleared = now.work[0, : end - begin], now.work[1, : end - begin]
            before = now.work[2, : end - begin]
            held_below, cleared_below = np.int64(hold * 2.0**32), np.int64(zero * 2.0**32)
            for i in range(len(held)):
                bits = entry(now.key, begin + i)
                held[i] = ONE if np.int64(bits >> np.uint64(32)) < held_below else ZERO
                cleared[i] = ONE if np.int64(bits & LOWER) < cleared_below else ZERO
            for c in range(len(values)):
                row, place = values[c, begin:end], c * taxels + first
                load(memory, place, own.integers, before)
                for i in range(len(row)):
                    row[i] = before[i] if held[i] > ZERO else row[i]
                if now.keep:
                    save(row, memory, place, own.integers)
                for i in range(len(row)):
                    row[i] = ZERO if cleared[i] > ZERO else row[i]
