"""Stages of the driver: clip, contact flag and history. For its tare, see `tactile_sim.signal_chain.tare`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tactile_sim.errors import ConfigError
from tactile_sim.schema import LARGEST, Integer, Number, parameter
from tactile_sim.signal_chain.group import Group
from tactile_sim.signal_chain.loops import ONE, ZERO, copy, span, squares
from tactile_sim.signal_chain.stage import Stage, computation, ranged


@dataclass(frozen=True)
class Clip(Stage):
    """Each channel is limited to a range."""

    low: float = ranged(Number(), "Minimum value [units].", default=-LARGEST)
    high: float = ranged(Number(), "Maximum value [units].", default=LARGEST)

    @classmethod
    def check(cls, group: Group) -> None:
        _check_order(group, "low", "high")

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            begin, end, _ = span(own, b)
            low, high = np.float32(own.parameters[b, 0]), np.float32(own.parameters[b, 1])
            for c in range(len(values)):
                row = values[c, begin:end]
                for i in range(len(row)):
                    row[i] = min(max(row[i], low), high)


@dataclass(frozen=True)
class Contact(Stage):
    """A taxel reads 1 once it reaches an upper magnitude, and 0 once it falls below a lower one."""

    above: float = ranged(Number(above=0), "Magnitude at which the reading becomes 1 [units].")
    below: float = ranged(Number(least=0), "Magnitude below which it becomes 0 again [units].")
    has_memory = True

    @classmethod
    def check(cls, group: Group) -> None:
        _check_order(group, "below", "above")

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the number of values in memory, each of which stores the contact flags of four taxels."""
        return -(-group.number // 4)

    # A vector keeps its direction and is scaled to length 1 or 0.
    @staticmethod
    @computation
    def compute(values, own, memory, now):
        for b in range(len(own.ranges)):
            begin, end, first = span(own, b)
            above, below = np.float32(own.parameters[b, 0]), np.float32(own.parameters[b, 1])
            before = memory.view(np.uint8)[first : first + end - begin]
            magnitudes = now.work[0, : end - begin]
            squares(values, begin, end, magnitudes)
            for i in range(len(before)):
                magnitude = np.sqrt(magnitudes[i])
                on = (magnitude >= (below if before[i] else above)) & (magnitude > ZERO)
                magnitudes[i] = ONE / magnitude if on else ZERO
            for c in range(len(values)):
                row = values[c, begin:end]
                if len(values) == 1:
                    for i in range(len(row)):
                        row[i] = ONE if magnitudes[i] > ZERO else ZERO
                else:
                    for i in range(len(row)):
                        row[i] *= magnitudes[i]
            if now.keep:
                for i in range(len(before)):
                    before[i] = magnitudes[i] > ZERO


@dataclass(frozen=True)
class History(Stage):
    """The last outputs are kept in `SignalChain.history`, e.g. for learning; readings are unchanged."""

    samples: int = parameter(Integer(1, 1000), "Number of outputs to keep.")
    has_memory = True

    @classmethod
    def words(cls, group: Group) -> int:
        """Return the number of values in memory: the slot index of the next output, and all outputs.

        The outputs have the shape (samples, channels, taxels of the group). ``samples`` is the largest
        number of samples of any pad, because all pads share the slots.
        """
        return 1 + max(stage.samples for stage in group.stages) * group.channels * group.number

    @staticmethod
    @computation
    def compute(values, own, memory, now):
        if not now.keep:
            return
        most = 0.0
        for b in range(len(own.ranges)):
            most = max(most, own.parameters[b, 0])
        slots = memory[1:].reshape((np.int64(most), len(values), -1))
        after = np.int64(memory[0])
        if not now.again:
            after = (after + 1) % len(slots)
        memory[0] = after
        for b in range(len(own.ranges)):
            begin, end, first = span(own, b)
            for c in range(len(values)):
                newest = slots[(after - 1) % len(slots), c, first : first + end - begin]
                copy(values[c, begin:end], newest)

    @classmethod
    def outputs(cls, group: Group, memory: np.ndarray) -> dict[str, np.ndarray]:
        """Return the last outputs of each pad from the memory of this stage.

        Args:
            group: The pads with a history.
            memory: Memory of this stage in one environment.

        Returns:
            Pad name -> outputs (samples, taxels, channels), oldest first; samples before the first output are
            0.
        """
        most = max(stage.samples for stage in group.stages)
        slots = memory[1:].reshape(most, group.channels, group.number)
        order = np.arange(int(memory[0]) - most, int(memory[0])) % most
        return {
            body.name: slots[order[most - stage.samples :], :, place : place + end - begin].swapaxes(1, 2)
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
