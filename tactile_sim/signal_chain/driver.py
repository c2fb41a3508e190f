"""Stages of the driver: tare, clip, contact flag and history."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.common.errors import ConfigError
from tactile_sim.common.schema import DURATION, LARGEST, Integer, Number, parameter
from tactile_sim.signal_chain.group import Group
from tactile_sim.signal_chain.stage import Stage, ranged


@dataclass(frozen=True)
class Tare(Stage):
    """The reading at some time after the start is subtracted from all later ones, as if by ``~/tare``."""

    at: float = ranged(DURATION, "Time after the start [s].")
    has_memory = True

    # Without pads that have the stage, the first `~/tare` makes room for the reading that it subtracts.
    @classmethod
    def room(cls, group: Group, rate: float) -> int:
        return int(bool(group.bodies))


@dataclass(frozen=True)
class Clip(Stage):
    """Each channel is limited to a range."""

    low: float = ranged(Number(), "Minimum value [units].", default=-LARGEST)
    high: float = ranged(Number(), "Maximum value [units].", default=LARGEST)

    @classmethod
    def check(cls, group: Group) -> None:
        _check_order(group, "low", "high")


@dataclass(frozen=True)
class Contact(Stage):
    """A taxel reads 1 once it reaches an upper magnitude, and 0 once it falls below a lower one."""

    above: float = ranged(Number(above=0), "Magnitude at which the reading becomes 1 [units].")
    below: float = ranged(Number(least=0), "Magnitude below which it becomes 0 again [units].")
    has_memory = True

    @classmethod
    def check(cls, group: Group) -> None:
        _check_order(group, "below", "above")


@dataclass(frozen=True)
class History(Stage):
    """The last outputs are kept in `SignalChain.history`, e.g. for learning; readings are unchanged."""

    samples: int = parameter(Integer(1, 1000), "Number of outputs to keep.")
    has_memory = True

    @classmethod
    def room(cls, group: Group, rate: float) -> int:
        return max(stage.samples for stage in group.stages)

    @classmethod
    def outputs(cls, group: Group, stored: np.ndarray) -> dict[str, np.ndarray]:
        """Return the last outputs of each pad.

        Args:
            group: The pads with a history.
            stored: (samples * channels * taxels of the group,) last outputs, oldest first.

        Returns:
            Pad name -> outputs (samples, taxels, channels), oldest first; samples before the first output are
            0.
        """
        most = cls.room(group, 0.0)
        slots = stored.reshape(most, group.channels, group.number)
        return {
            body.name: slots[most - stage.samples :, :, place : place + end - begin].swapaxes(1, 2)
            for body, stage, (begin, end, place) in zip(
                group.bodies, group.stages, group.pads.tolist(), strict=True
            )
        }


def _check_order(group: Group, low: str, high: str) -> None:
    """Check that one parameter does not exceed another one, for all values in their ranges.

    Args:
        group: The pads with the stage.
        low: Name of the smaller parameter.
        high: Name of the larger parameter.

    Raises:
        ConfigError: A value of ``low`` can be larger than one of ``high``.
    """
    for body, stage in zip(group.bodies, group.stages, strict=True):
        least, most = np.max(getattr(stage, low)), np.min(getattr(stage, high))
        if least > most:
            raise ConfigError(f"{body.name}.{stage.key()}.{low}: must be <= {high}, {most:g}, got {least:g}")
