"""Fixtures for tests of bags."""

from falling import fall, make_bag

__all__ = ["fall", "make_bag"]
