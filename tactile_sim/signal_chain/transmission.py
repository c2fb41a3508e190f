"""Stages between a taxel's converter and the computer: broken wires, lost readings and latency."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tactile_sim.common.errors import ConfigError
from tactile_sim.common.schema import SHARE, Integers, Number, parameter
from tactile_sim.signal_chain.group import Draw, Group
from tactile_sim.signal_chain.stage import SLACK, Codes, Stage, ranged


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
    def room(cls, group: Group, rate: float) -> int:
        """Return the number of readings that are on their way, or 2 without a rate."""
        late = group.ends[1].sum(axis=1).max()  # time and jitter
        return max(2, 1 + math.ceil(late * rate - SLACK))
