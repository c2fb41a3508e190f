"""What tests of analysis share."""

from falling import fall, make_bag

__all__ = ["fall", "make_bag"]
