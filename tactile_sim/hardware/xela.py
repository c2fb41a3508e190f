"""Read the stream of XELA's server, which sends JSON messages over a websocket.

A message is ``{"message": 7, "1": {"sensor": "1", "model": "uSPa44", "taxels": 16, "time": 1.7e9, "data":
"8000,7FFE,...", "calibrated": [0.01, ...] or null}, "2": {...}}``. ``data`` contains x, y and z of each taxel
as raw hexadecimal values, and ``calibrated`` contains the corresponding forces. The first message has
``"message": "Welcome"``. XELA's own ROS nodes read the same format (github.com/mcsix/xela_server_ros2).
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from tactile_sim.hardware.pad_input import StreamError

RETRY = 0.5
"""Time between two attempts to connect [s]."""
_OPTIONS: dict[str, Any] = {"open_timeout": 2.0, "close_timeout": 0.5, "max_size": 1 << 20, "proxy": None}
"""Options for ``websockets.connect``: timeouts [s], largest message size [bytes] and no proxy."""


class SensorValues(NamedTuple):
    """Values from one sensor as flat lists: x, y and z of the first taxel, then of the second, and so on."""

    raw: list[int]
    calibrated: list[Any] | None
    """Calibrated forces on the taxels [N], or None if the server has no calibration for this sensor."""


def sensors_of(text: str | bytes) -> dict[int, dict[str, Any]]:
    """Return the entries in a message, keyed by sensor number. The greeting has no entries."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise StreamError("is not JSON") from None
    if not isinstance(content, dict) or "message" not in content:
        raise StreamError("must be a mapping with the key 'message'")
    return {int(key): entry for key, entry in content.items() if re.fullmatch("[0-9]{1,3}", key)}


def values_of(entry: Any) -> SensorValues:
    """Return the raw and calibrated values in one of the entries that `sensors_of` returns."""
    if not isinstance(entry, dict) or not isinstance(entry.get("data"), str):
        raise StreamError("'data' must be hexadecimal values, separated by commas")
    try:
        raw = [int(value, 16) for value in entry["data"].split(",")]
    except ValueError:
        raise StreamError("'data' must be hexadecimal values, separated by commas") from None
    if isinstance(taxels := entry.get("taxels"), int) and 3 * taxels != len(raw):
        raise StreamError(f"'data' must have 3 values for each of {taxels} taxels, got {len(raw)}")
    calibrated = entry.get("calibrated")
    if calibrated is not None and not isinstance(calibrated, list):
        raise StreamError("'calibrated' must be a list or null")
    return SensorValues(raw, calibrated or None)


class XelaClient:
    """Reads the server's stream in a separate thread and reconnects when the connection is lost."""

    def __init__(self, address: str, receive: Callable[[str | bytes], None], state: Callable[[str], None]):
        self._address, self._receive, self._state = address, receive, state
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Disconnect and end the thread."""
        self._stopped.set()
        self._thread.join(timeout=2.0)

    def _run(self) -> None:
        from websockets.exceptions import WebSocketException  # slow to import
        from websockets.sync.client import connect

        last: str | None = None

        def report(state: str) -> None:
            nonlocal last
            if state != last:
                last = state
                self._state(state)

        while not self._stopped.is_set():
            try:
                with connect(self._address, **_OPTIONS) as socket:
                    report("")
                    while not self._stopped.is_set():
                        try:
                            self._receive(socket.recv(timeout=0.2))
                        except TimeoutError:
                            continue
            except (OSError, WebSocketException, ValueError) as error:
                report(" ".join(str(error).split()) or type(error).__name__)
            self._stopped.wait(RETRY)
