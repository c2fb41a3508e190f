"""Outputs of a converter as 16-bit numbers, in the memory of the stages after it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel


class Codes(NamedTuple):
    """Values that a converter can output: ``least + k`` steps, with k from 0 to 65,535."""

    step: float
    """Width of a step [units]."""
    least: int
    """Smallest value in steps."""

    def contain(self, value: float) -> bool:
        """Return whether a value, rounded to float32, is stored exactly."""
        values = np.array([value], np.float32)
        codes, stored = np.empty(1, np.uint16), np.empty(1, np.float32)
        if not 0 <= np.rint(values[0] / np.float32(self.step)) - self.least <= np.iinfo(np.uint16).max:
            return False
        encode(values, self.step, self.least, codes)
        decode(codes, self.step, self.least, stored)
        return stored.tobytes() == values.tobytes()

    @property
    def integers(self) -> np.ndarray:
        """(3,) int32 values for `Stage.integers`, which `save` and `load` require."""
        return np.concatenate([[self.least], np.array([self.step]).view(np.int32)]).astype(np.int32)


@kernel(counted=False)
def stored_words(count, coded):
    """Return the number of float32 words that store ``count`` values."""
    return (count + 1) // 2 if coded else count


@kernel(counted=False)
def save(values, memory, place, codes):
    """Store values (n,) float32 in memory.

    Args:
        values: Values to store.
        memory: (m,) float32 memory of the stage.
        place: Number of values in front of them.
        codes: `Codes.integers`, or an empty array to store float32.
    """
    if len(codes):
        step = codes[1:].view(np.float64)[0]
        encode(values, step, codes[0], memory.view(np.uint16)[place : place + len(values)])
    else:
        stored = memory[place : place + len(values)]
        for i in range(len(values)):
            stored[i] = values[i]


@kernel(counted=False)
def load(memory, place, codes, values):
    """Read values that `save` has stored; ``values`` is the output."""
    if len(codes):
        step = codes[1:].view(np.float64)[0]
        decode(memory.view(np.uint16)[place : place + len(values)], step, codes[0], values)
    else:
        stored = memory[place : place + len(values)]
        for i in range(len(values)):
            values[i] = stored[i]


@kernel(error_model="numpy", counted=False)
def encode(values, step, least, codes):
    """Compute the codes (n,) uint16 of values (n,) float32, see `Codes`."""
    per_step, first = np.float32(1.0 / step), np.float32(least)
    for i in range(len(codes)):
        codes[i] = np.uint16(np.int32(np.rint(values[i] * per_step) - first))


@kernel(counted=False)
def decode(codes, step, least, values):
    """Compute the values (n,) float32 of codes (n,) uint16, rounded as by `Quantisation`."""
    first = np.float32(least)
    for i in range(len(codes)):
        values[i] = np.float64(np.float32(codes[i]) + first) * step
