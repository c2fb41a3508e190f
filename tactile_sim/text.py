"""Formatting of counts and lists of names for messages."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, one: str, many: str = "") -> str:
    """Format a number with a noun, such as ``1 body`` or ``2 bodies``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """Join names with commas, and shorten more than ``limit`` names to ``a, b, ... (9 in total)``."""
    return ", ".join(names[:limit]) + (f", ... ({len(names)} in total)" if len(names) > limit else "")
