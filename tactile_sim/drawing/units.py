"""Units with SI prefixes, so that numbers in views are short and have no exponents."""

from __future__ import annotations

import math

PREFIXES = {-3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G"}
"""SI prefixes by power of 1000."""
SI_UNITS = ("N", "Pa", "V", "m", "m/s")
"""Units that take a prefix. Other units, such as the counts of a converter, do not."""


def prefixed(value: float, unit: str) -> tuple[float, str]:
    """Choose the SI prefix that brings a value into the range from 1 to 1000.

    Args:
        value: The value, which may be 0.
        unit: Its unit. Only `SI_UNITS` take a prefix.

    Returns:
        The size of the prefixed unit as a multiple of ``unit``, and its symbol, such as ``(0.001, "mN")``.
    """
    if unit not in SI_UNITS or not value or not math.isfinite(value):
        return 1.0, unit
    rounded = float(f"{abs(value):.3g}")  # 999.9 mN is 1 N
    power = min(max(math.floor(math.log10(rounded) / 3 + 1e-9), min(PREFIXES)), max(PREFIXES))
    return 1000.0**power, PREFIXES[power] + unit


def number(value: float) -> str:
    """Format a number with three significant digits, or as an integer if it is from 1000 to a million."""
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:.3g}"


def quantity(value: float, unit: str) -> str:
    """Format a value with its unit and an SI prefix, such as ``12.3 mN``."""
    size, symbol = prefixed(value, unit)
    return f"{number(value / size)} {symbol}".rstrip()
