"""What the TriFinger's interface raises: its programs catch ``ValueError``, ours ``TactileSimError``."""

from __future__ import annotations

from tactile_sim.errors import TactileSimError


class InvalidValueError(TactileSimError, ValueError):
    """A value that the TriFinger's interface refuses: a finger type, a time index, a difficulty."""


class MissingKeyError(InvalidValueError, KeyError):
    """A mapping that lacks a key."""

    __str__ = Exception.__str__  # that of KeyError puts the text in quotes


class MissingPackageError(TactileSimError, ImportError):
    """A package that something needs, and that nothing else here does, is not installed."""


class MissingAttributeError(TactileSimError, AttributeError):
    """An attribute of trifinger_simulation that this package does not have."""


class GoalFileError(TactileSimError, RuntimeError):
    """A file from which no goal can be read."""


class InvalidGoalError(TactileSimError):
    """A goal that lies outside of what the task allows."""
