"""Fixtures for the tests of analysis."""

from falling import fall, make_bag

__all__ = ["fall", "make_bag"]
