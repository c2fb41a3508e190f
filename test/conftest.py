"""What all tests share."""

from __future__ import annotations

import signal

# A shell's background job has SIGINT ignored and hands that down; the programs under test must hear it.
signal.signal(signal.SIGINT, signal.default_int_handler)
