"""Time indices count the actions of a run, from 0."""

from __future__ import annotations

from tactile_sim.trifinger.errors import InvalidValueError


def check_time_index(t: int, present: int, upcoming: bool = False) -> None:
    """Refuses all time indices but the present one.

    Args:
        t: what is asked for.
        present: index of the last action; -1 before the first.
        upcoming: whether the index after it is valid, too.

    Raises:
        ValueError: another time index, or no number.
    """
    try:
        negative = t < 0
    except TypeError:
        raise InvalidValueError(f"time index {t!r} is not a whole number") from None
    if negative:
        raise InvalidValueError(f"time index {t} is less than 0")
    if t != present and not (upcoming and t == present + 1):
        more = f" or {present + 1}" if upcoming else ""
        there = f"{present}{more}" if present >= 0 else ("0" if upcoming else "no action yet")
        raise InvalidValueError(f"time index {t} is not the present one: {there}")
