"""Parsers for the values of command line options.

For an invalid text, they raise an ArgumentTypeError that states the requirement.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable


def positive(text: str) -> float:
    """Parse a finite number above 0."""
    value = _number(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"must be a number above 0, got {text!r}")
    return value


def between(low: float, high: float) -> Callable[[str], float]:
    """Return a parser that accepts numbers from ``low`` to ``high``."""

    def parse(text: str) -> float:
        value = _number(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"must be from {low:g} to {high:g}, got {text!r}")
        return value

    return parse


def seconds(text: str) -> float:
    """Parse a finite time in seconds, which may be negative."""
    value = _number(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"must be a number of seconds, got {text!r}")
    return value


def port_number(text: str) -> int:
    """Parse the number of a TCP port."""
    if not (text.isdecimal() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"must be a port from 0 to 65535, got {text!r}")
    return int(text)


def _number(text: str) -> float:
    """Parse a number; return NaN if the text is not a number."""
    try:
        return float(text)
    except ValueError:
        return math.nan
