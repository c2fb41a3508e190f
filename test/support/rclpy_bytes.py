"""Serialize messages with rclpy to compare them with ours."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from functools import cache
from typing import Any

_SERIALIZE = """
import pickle, sys
from rclpy.serialization import serialize_message
while True:
    try:
        messages = pickle.load(sys.stdin.buffer)
    except EOFError:
        break
    pickle.dump([serialize_message(message) for message in messages], sys.stdout.buffer)
    sys.stdout.flush()
"""


@cache
def _serializer() -> subprocess.Popen:
    """Start a process that serializes messages and ends when this process ends.

    rclpy leaves padding uninitialized. In that process, glibc fills new memory, and thus the padding, with
    zeros.
    """
    environment = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.perturb=255"}
    return subprocess.Popen(
        [sys.executable, "-c", _SERIALIZE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )


def rclpy_bytes(messages: list[Any]) -> list[bytes]:
    """Return the bytes of each message, with zeros in the padding."""
    process = _serializer()
    assert process.stdin is not None and process.stdout is not None
    pickle.dump(messages, process.stdin)
    process.stdin.flush()
    return pickle.load(process.stdout)
