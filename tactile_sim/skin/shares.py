"""The distribution of loads over taxels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tactile_sim.common.errors import ConfigError


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
    """Check shares and convert them to the types that native code requires.

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
    if begin.shape != (loads + 1,) or begin[0] != 0 or (np.diff(begin) < 1).any():
        fault = f"begin must be {loads + 1} numbers that increase from 0 for {loads} loads, got {begin.shape}"
    elif taxel.shape != (begin[-1],) or weight.shape != taxel.shape:
        fault = f"taxel and weight must have begin[-1] = {begin[-1]} numbers"
    elif len(taxel) and not 0 <= taxel.min() <= taxel.max() < taxels:
        fault = f"taxels must be from 0 to {taxels - 1}, got {taxel.min()} to {taxel.max()}"
    else:
        return Shares(begin, taxel, weight)
    raise ConfigError(f"{where}: must be consistent Shares: {fault}")
