"""Distribute loads over taxels, and add up the resulting readings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.errors import ConfigError
from tactile_sim.geometry.vectors import cross, plus
from tactile_sim.skin.loads import LOAD


class Shares(NamedTuple):
    """Distribution of m loads over taxels.

    Each load is divided among its taxels in proportion to their weights, which need not be normalized. If
    none of a load's weights is positive, or one is not finite, its first taxel receives the whole load.
    """

    begin: np.ndarray
    """(m + 1,) int64 start of each load in ``taxel`` and ``weight``; each load has at least one taxel."""
    taxel: np.ndarray
    """(k,) int64 indices of taxels in the skin, load by load, without duplicates within a load."""
    weight: np.ndarray
    """(k,) float weight of each taxel in ``taxel``; negative weights count as 0."""


class Near(NamedTuple):
    """Taxels around m loads, load by load; the first taxel of each load is the one that receives the load."""

    begin: np.ndarray
    """(m + 1,) int64 start of each load in ``taxel`` and ``distance``."""
    taxel: np.ndarray
    """(k,) int64 indices of taxels in the skin, load by load."""
    distance: np.ndarray
    """(k,) distance of each taxel from the load's point [m], measured as configured for the skin."""

    @property
    def load(self) -> np.ndarray:
        """(k,) index of the load to which each taxel in ``taxel`` belongs."""
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))

    def shares(self, weight: np.ndarray) -> Shares:
        """Return `Shares` of the same taxels with weights (k,)."""
        return Shares(self.begin, self.taxel, np.ascontiguousarray(weight, float))


def checked(shares: Any, where: str, loads: int, taxels: int) -> Shares:
    """Check shares and convert them to the types that kernels require.

    Args:
        shares: Result of a user-defined response function, or an argument.
        where: Name of the function or argument, for error messages.
        loads: Number of loads.
        taxels: Number of taxels of the skin.

    Raises:
        ConfigError: The shares are inconsistent or contain an invalid taxel index.
    """
    try:
        begin, taxel = (np.ascontiguousarray(shares[k], np.int64) for k in (0, 1))
        weight = np.ascontiguousarray(shares[2], float)
    except (TypeError, ValueError, LookupError, OverflowError):
        raise ConfigError(f"{where}: must be Shares, got {shares!r:.60}") from None
    if begin.shape == (loads + 1,) and taxel.shape == weight.shape and taxel.ndim == 1:
        if _consistent(begin, taxel, taxels):
            return Shares(begin, taxel, weight)
    if begin.shape != (loads + 1,) or begin[0] != 0 or (np.diff(begin) < 1).any():
        fault = f"begin must be {loads + 1} numbers that increase from 0 for {loads} loads, got {begin.shape}"
    elif taxel.shape != (begin[-1],) or weight.shape != taxel.shape:
        fault = f"taxel and weight must have begin[-1] = {begin[-1]} numbers"
    else:
        fault = f"taxels must be from 0 to {taxels - 1}, got {taxel.min()} to {taxel.max()}"
    raise ConfigError(f"{where}: must be consistent Shares: {fault}")


@kernel(counted=False)
def _consistent(begin, taxel, taxels):
    """Return whether each load has a taxel, the lists of taxels are consecutive, and the indices exist."""
    if begin[0] != 0 or begin[len(begin) - 1] != len(taxel):
        return False
    for m in range(len(begin) - 1):
        if begin[m + 1] <= begin[m]:
            return False
    for t in taxel:
        if not 0 <= t < taxels:
            return False
    return True


@kernel
def at_taxels(loads, begin, taxel, positions):
    """Return each load once for each of its taxels (k,), with the velocity at the position of the taxel.

    Args:
        loads: (m,) loads, as an array of `loads.LOAD`.
        begin: As in `Shares`.
        taxel: As in `Shares`.
        positions: (n, 3) positions of the taxels in the frames of their bodies [m].
    """
    out = np.empty(begin[len(loads)], LOAD)
    for m in range(len(loads)):
        for e in range(begin[m], begin[m + 1]):
            out[e] = loads[m]
            moved = cross(loads[m].angular_velocity, plus(positions[taxel[e]], -1.0, loads[m].point))
            for i in range(3):
                out[e].velocity[i] += moved[i]
    return out


@kernel(counted=False)
def gather(loads, begin, taxel, weight, values, mean, sums, out):
    """Add up the readings of taxels. The cost depends only on the number of touched taxels.

    Args:
        loads: (m,) loads, as an array of `loads.LOAD`.
        begin: As in `Shares`.
        taxel: As in `Shares`.
        weight: As in `Shares`.
        values: Values of a touch function, (m, c) for each load or (k, c) for each entry of ``taxel``.
        mean: Whether readings are means, see `TouchFunction.mean`.
        sums: (n, 1 + c) scratch memory, which must be zero and is zero again afterwards.
        out: (n, c) output, initially zero.
    """
    channels, each = values.shape[1], len(values) > len(loads)
    for m in range(len(loads)):
        counts = 1.0
        if mean:
            counts = 0.0
            for i in range(3):
                counts += loads[m].force[i] * loads[m].normal[i]
            if not counts > 0.0:
                continue
        total = 0.0
        for e in range(begin[m], begin[m + 1]):
            if not weight[e] < 0.0:
                total += weight[e]
        shared = 0.0 < total < np.inf
        for e in range(begin[m], begin[m + 1] if shared else begin[m] + 1):
            share = counts * weight[e] / total if shared else counts
            row, known = e if each else m, True
            if mean:
                for c in range(channels):
                    known = known and not np.isnan(values[row, c])
            if share > 0.0 and known:
                t = taxel[e]
                sums[t, 0] += share
                for c in range(channels):
                    sums[t, 1 + c] += share * values[row, c]
    flush(taxel[: begin[len(loads)]], mean, sums, out)


@kernel(counted=False)
def flush(taxels, mean, sums, out):
    """Write the sums of touched taxels to the readings, and reset the sums to zero.

    Args:
        taxels: Indices of the touched taxels, possibly with duplicates.
        mean: Whether readings are means, see `TouchFunction.mean`.
        sums: (n, 1 + c) sum of weights and sums of values of each taxel.
        out: (n, c) output.
    """
    channels = out.shape[1]
    for t in taxels:
        if sums[t, 0] > 0.0:
            for c in range(channels):
                out[t, c] = sums[t, 1 + c] / sums[t, 0] if mean else sums[t, 1 + c]
                sums[t, 1 + c] = 0.0
            sums[t, 0] = 0.0
