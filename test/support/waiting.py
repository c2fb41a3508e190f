"""Wait for conditions in tests."""

from __future__ import annotations

import time

PATIENCE = 120.0
"""Timeout of all waits [s], far longer than they take on a busy machine."""


def wait_until(condition):
    """Call a function repeatedly until it returns a true value."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
