"""Loops over the taxels of a run, for the computations of stages."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel

ZERO, ONE = np.float32(0.0), np.float32(1.0)
"""Float32 constants. Literals in a kernel are float64 and would halve the speed of a loop over float32."""

REST = 16
"""Number of taxels in a block, whose readings are 0 together or not: one cache line of float32 values."""
AWAKE, LOADED = 1, 2
"""States of a block of taxels, see `Now.awake`."""


@kernel(counted=False)
def span(own, b):
    """Return where the taxels of run b begin and end in the skin, and where they begin in the group.

    These are the three numbers in a row of `Own.ranges`.
    """
    return own.ranges[b, 0], own.ranges[b, 1], own.ranges[b, 2]


@kernel(counted=False)
def awake_span(awake, begin, end, least=AWAKE):
    """Return where the next taxels that are awake begin and end, from ``begin`` to ``end``.

    Args:
        awake: Which blocks of `REST` taxels are awake, see `Now`.
        begin: First taxel to consider.
        end: End of the taxels (exclusive). Both results are ``end`` if no taxels are awake.
        least: `AWAKE`, or `LOADED` for blocks whose ideal readings are not 0 now.
    """
    last = (end + REST - 1) // REST
    block = begin // REST
    while block < last and awake[block] < least:
        block += 1
    start = min(max(begin, block * REST), end)
    while block < last and awake[block] >= least:
        block += 1
    return start, min(max(start, block * REST), end)


@kernel(counted=False)
def copy(source, target):
    """Copy numbers (n,) to another array (n,) in a loop, several times faster than a slice assignment."""
    for i in range(len(target)):
        target[i] = source[i]


@kernel(counted=False)
def squares(values, begin, end, out):
    """Compute the squared magnitudes of readings over all channels.

    Args:
        values: (channels, taxels of the skin) Readings.
        begin: First taxel.
        end: End of the taxels (exclusive).
        out: (end - begin,) Output.
    """
    for i in range(len(out)):
        out[i] = ZERO
    for c in range(len(values)):
        row = values[c, begin:end]
        for i in range(len(row)):
            out[i] += row[i] * row[i]
