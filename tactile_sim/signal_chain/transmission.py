"""Stages between a taxel's converter and the computer: broken wires and lost readings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.errors import ConfigError
from tactile_sim.schema import SHARE, Integers, Number, parameter
from tactile_sim.signal_chain.codes import Codes, load, save, stored_words
from tactile_sim.signal_chain.draws import fill_bits, hash32
from tactile_sim.signal_chain.group import Draw, Group
from tactile_sim.signal_chain.loops import ZERO, span
from tactile_sim.signal_chain.stage import Stage, computation, ranged

_BLOCK = 64
"""Number of taxels among which lost readings are searched at once."""


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
            bits = now.work[0].view(np.uint32)[: end - begin]
            fill_bits(now.key, begin, bits)
            if hold > 0.0:
                _replace(bits, hold, values, begin, memory, first, taxels, own.integers)
            if now.keep:
                for c in range(len(values)):
                    save(values[c, begin:end], memory, c * taxels + first, own.integers)
            if zero > 0.0:
                for i in range(len(bits)):
                    bits[i] = hash32(bits[i])
                _replace(bits, zero, values, begin, memory[:0], first, taxels, own.integers)


@kernel(counted=False)
def _replace(bits, share, values, begin, memory, first, taxels, codes):
    """Replace the readings of a random share of taxels by those in memory, or by 0 if it is empty."""
    most = np.uint32(max(share * 2.0**32 - 1.0, 0.0))
    for start in range(0, len(bits), _BLOCK):
        own, chosen = bits[start : start + _BLOCK], np.int32(0)
        for i in range(len(own)):
            chosen = np.int32(chosen | np.int32(own[i] <= most))
        if chosen:
            for i in range(start, start + len(own)):
                if bits[i] <= most:
                    for c in range(len(values)):
                        reading = values[c, begin + i : begin + i + 1]
                        if len(memory):
                            load(memory, c * taxels + first + i, codes, reading)
                        else:
                            reading[0] = ZERO
