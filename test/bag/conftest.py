"""What tests of bags share."""

from falling import fall, make_bag

__all__ = ["fall", "make_bag"]
