"""Words for people: counts and lists of names."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, one: str, many: str = "") -> str:
    """Return ``1 body``, ``2 bodies``; ``many`` is ``one`` with an s by default."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def shortened(names: Sequence[str], limit: int = 8) -> str:
    """Return ``a, b, ... (9 in all)`` for long lists of names."""
    return ", ".join(names[:limit]) + (f", ... ({len(names)} in all)" if len(names) > limit else "")
