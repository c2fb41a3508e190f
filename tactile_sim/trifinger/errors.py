"""Errors of the TriFinger interface.

Each error is a `TactileSimError` and a subclass of the built-in error that trifinger_simulation raises.
"""

from __future__ import annotations

from tactile_sim.errors import TactileSimError


class InvalidValueError(TactileSimError, ValueError):
    """Error for an invalid argument, such as an unknown finger type."""


class MissingKeyError(InvalidValueError, KeyError):
    """Error for a mapping without a required key, such as a pose without ``orientation``."""

    __str__ = Exception.__str__  # KeyError would add quotes


class MissingPackageError(TactileSimError, ImportError):
    """Error for an optional package that is not installed."""


class MissingAttributeError(TactileSimError, AttributeError):
    """Error for an attribute of trifinger_simulation that this package does not have."""


class GoalFileError(TactileSimError, RuntimeError):
    """Error for a file that does not contain a valid goal."""


class InvalidGoalError(TactileSimError):
    """Error for a goal outside the goal space of a task."""
