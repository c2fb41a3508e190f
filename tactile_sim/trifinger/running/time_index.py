"""Check time steps and time indices. Time indices number the steps consecutively from 0."""

from __future__ import annotations

from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.values import count, numbers

MAX_TIME_STEP = 1 / 60
"""Largest valid time step [s]; the same as in trifinger_simulation."""


def check_time_step(time_step: float) -> None:
    """Check a time step [s]; raise InvalidValueError unless it is > 0 and at most `MAX_TIME_STEP`."""
    if not 0 < numbers("time_step", time_step) <= MAX_TIME_STEP:
        raise InvalidValueError(f"time_step: must be > 0 and <= 1/60 s, got {time_step}")


def check_time_index(t: int, present: int, upcoming: bool = False) -> None:
    """Check that a time index is the index of the last step or, optionally, of the next one.

    Args:
        t: Time index to check.
        present: Index of the last step; -1 before the first step.
        upcoming: Whether ``present + 1`` is valid as well.

    Raises:
        InvalidValueError: ``t`` has any other value.
    """
    count("time index", t)
    if t != present and not (upcoming and t == present + 1):
        valid = [index for index in (present, present + 1)[: 1 + upcoming] if index >= 0]
        wanted = (
            f"must be {' or '.join(map(str, valid))}" if valid else "not available before the first action"
        )
        raise InvalidValueError(f"time index: {wanted}, got {t}")
