"""Wait for conditions in tests."""

from __future__ import annotations

import time

PATIENCE = 120.0
"""Maximum time to wait for any condition [s], which is more than enough even on a busy machine."""


def wait_until(condition):
    """Call a function repeatedly until it returns a true value."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
