"""The memory that a simulation shares with its view. It contains one view frame (`ViewFrame`)."""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np

from tactile_sim.engines import Contacts
from tactile_sim.view.content import ViewScene

MAX_CONTACTS = 1000
"""Largest number of contacts in a view frame. Further contacts are not shown."""
_MAX_CHANNELS = 3
"""Largest number of channels per taxel."""
_READ_ATTEMPTS = 3
"""Number of attempts to copy a frame. An attempt fails if the frame is written during the copy."""


def record_dtype(scene: ViewScene, state_size: int = 0) -> np.dtype:
    """Return the memory layout of a view frame.

    Units and coordinate frames are as in `ViewFrame`, `Snapshot` and `Contacts`.
    """
    bodies, skins = len(scene.bodies), len(scene.skin_bodies)
    return np.dtype(
        [
            ("time", "f8"),
            ("paused", "?"),
            ("fault", "S300"),
            ("force_scale", "f8"),
            ("taxel_scale", "f8"),
            ("state", "f8", (state_size,)),
            ("step", "i8"),
            ("taken", "i8"),
            ("press_body", "i4"),
            ("press_geom", "i4"),
            ("press_point", "f8", (3,)),
            ("press_force", "f8", (3,)),
            ("pull_force", "f8", (3,)),
            ("touch_function", "S32"),
            ("response_function", "S32"),
            ("enabled", "?", (len(scene.stages),)),
            ("tared", "?"),
            ("zero", "f8", (_MAX_CHANNELS * len(scene.taxel_positions) if state_size else 0,)),
            ("has_readings", "?"),
            ("positions", "f8", (bodies, 3)),
            ("quaternions", "f8", (bodies, 4)),
            ("unit", "S8"),
            ("channels", "u4"),
            ("readings", "f4", (_MAX_CHANNELS * len(scene.taxel_positions),)),
            ("valid", "u1", (len(scene.taxel_positions),)),
            ("wrenches", "f8", (skins, 6)),
            ("pad_readings", "f8", (skins,)),
            ("contact_count", "u4"),
            ("contacts", "f8", (MAX_CONTACTS, Contacts.WIDTH)),
            ("contact_bodies", "i4", (MAX_CONTACTS, 2)),
            ("feelers", "f8", (len(scene.feeler_bodies),)),
            ("controls", "f8", (len(scene.actuators),)),
        ]
    )


def update_record(
    record: np.ndarray,
    *,
    readings: np.ndarray | None = None,
    valid: np.ndarray | None = None,
    contacts: Contacts | None = None,
    zero: np.ndarray | None = None,
    **others: Any,
) -> None:
    """Set the specified fields of a record and leave the others unchanged.

    Args:
        record: A record with the type returned by `record_dtype`.
        readings: Readings (n, 1 or 3).
        valid: Whether the readings are valid (n,) uint8. If empty, all readings are valid.
        contacts: Contacts to show; those after the first `MAX_CONTACTS` are dropped.
        zero: Readings that the tare subtracts (n, 1 or 3).
        others: Values of other fields, keyed by field name.
    """
    for field, value in others.items():
        record[field] = value
    if zero is not None:
        record["zero"][: zero.size] = zero.reshape(-1)
    if readings is not None:
        record["channels"] = readings.shape[1]
        record["readings"][: readings.size] = readings.reshape(-1)
    if valid is not None:
        record["valid"] = valid if len(valid) else 1
    if contacts is not None:
        count = record["contact_count"] = min(len(contacts), MAX_CONTACTS)
        record["contacts"][:count] = contacts.values[:count]
        record["contact_bodies"][:count] = contacts.ids[:count, Contacts.BODIES : Contacts.BODIES + 2]


class SharedFrame:
    """A frame in anonymous memory, which the kernel frees when both processes have ended.

    The writer never waits. It increments a sequence number before and after writing. If the number changes
    while the reader copies the frame, the reader tries again. The reader reports the number of browsers so
    that nothing is written while none is connected.
    """

    def __init__(self, scene: ViewScene, file: int | None = None, state_size: int = 0):
        head = np.dtype([("sequence", "u8"), ("clients", "u4"), ("drawn", "u4")])
        record = record_dtype(scene, state_size)
        self.file = os.memfd_create("tactile_sim_view") if file is None else file
        size = head.itemsize + record.itemsize
        if file is None:
            os.truncate(self.file, size)
        memory = mmap.mmap(self.file, size)
        view = memoryview(memory)
        self._sequence = view[:8].cast("Q")
        self._clients, self._drawn = view[8:12].cast("I"), view[12:16].cast("I")
        self._record = np.ndarray((), record, memory, head.itemsize)
        self._last_read = 0

    @property
    def clients(self) -> int:
        """Number of connected browsers."""
        return self._clients[0]

    @clients.setter
    def clients(self, number: int) -> None:
        self._clients[0] = number

    @property
    def drawn(self) -> bool:
        """Whether any browser has drawn its first frame."""
        return bool(self._drawn[0])

    @drawn.setter
    def drawn(self, drawn: bool) -> None:
        self._drawn[0] = drawn

    def write(self, **fields: Any) -> None:
        """Write fields of the frame. The arguments are as in `update_record`."""
        self._sequence[0] += 1
        try:
            update_record(self._record, **fields)
        finally:
            self._sequence[0] += 1

    def read(self) -> np.ndarray | None:
        """Return a copy of the frame, or None if it is not new or is being written."""
        for _ in range(_READ_ATTEMPTS):
            before = self._sequence[0]
            if before == self._last_read:
                return None
            copy = self._record.copy()
            if before % 2 == 0 and self._sequence[0] == before:
                self._last_read = before
                return copy
        return None

    def close(self) -> None:
        """Close the file descriptor. The memory stays mapped as long as this object exists."""
        os.close(self.file)
