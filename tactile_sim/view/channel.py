"""The memory that a simulation and its view share: one moment, written by the one and read by the other."""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np

from tactile_sim.engines import Contacts
from tactile_sim.view.world import World

MOST_CONTACTS = 1000
"""More are not shown."""
_CHANNELS = 3
"""Of a taxel, at most."""
_TRIES = 3
"""Copies that a reader makes until one is whole; writers are rare."""


def layout(world: World, state_size: int = 0) -> np.dtype:
    """One moment as it lies in memory; units and frames as in `Moment`, `Snapshot` and `Contacts`.

    Where it has a state, the fields from ``positions`` on are for `tactile_sim.view.mirror` to find; but
    the readings only unless they are ``told``. ``zero``: what is tared, taxel-major.
    """
    bodies, skins = len(world.bodies), len(world.skin_bodies)
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
            ("touch_function", "S32"),
            ("response_function", "S32"),
            ("tared", "?"),
            ("zero", "f8", (_CHANNELS * len(world.taxel_positions) if state_size else 0,)),
            ("told", "?"),
            ("positions", "f8", (bodies, 3)),
            ("quaternions", "f8", (bodies, 4)),
            ("unit", "S8"),
            ("channels", "u4"),
            ("readings", "f4", (_CHANNELS * len(world.taxel_positions),)),
            ("wrenches", "f8", (skins, 6)),
            ("contact_count", "u4"),
            ("contacts", "f8", (MOST_CONTACTS, Contacts.WIDTH)),
            ("feelers", "f8", (len(world.feeler_bodies),)),
            ("controls", "f8", (len(world.actuators),)),
        ]
    )


def put(
    record: np.ndarray,
    *,
    readings: np.ndarray | None = None,
    contacts: np.ndarray | None = None,
    zero: np.ndarray | None = None,
    **others: Any,
) -> None:
    """Sets the fields of a record that are given; the others stay as they are.

    readings, zero: (n, 1 or 3) of the taxels; contacts: (c, WIDTH) ``Contacts.values``.
    """
    for field, value in others.items():
        record[field] = value
    if zero is not None:
        record["zero"][: zero.size] = zero.reshape(-1)
    if readings is not None:
        record["channels"] = readings.shape[1]
        record["readings"][: readings.size] = readings.reshape(-1)
    if contacts is not None:
        shown = contacts[:MOST_CONTACTS]
        record["contact_count"] = len(shown)
        record["contacts"][: len(shown)] = shown


class Channel:
    """A moment in memory without a name, which is gone when the last of its two sides is, however it ends.

    The writer never waits: a number counts up before and after each writing, and a reader that sees it change
    under its copy takes another. The reader tells how many look, so that nothing is written for nobody.
    """

    def __init__(self, world: World, file: int | None = None, state_size: int = 0):
        """file: the number of the other side's memory, as an open file; None: makes one."""
        head, moment = (
            np.dtype([("sequence", "u8"), ("clients", "u4"), ("", "u4")]),
            layout(world, state_size),
        )
        self.file = os.memfd_create("tactile_sim_view") if file is None else file
        size = head.itemsize + moment.itemsize
        if file is None:
            os.truncate(self.file, size)
        memory = mmap.mmap(self.file, size)
        view = memoryview(memory)
        self._sequence = view[:8].cast("Q")
        self._clients = view[8:12].cast("I")
        self._record = np.ndarray((), moment, memory, head.itemsize)
        self._seen = 0

    @property
    def clients(self) -> int:
        """How many browsers look."""
        return self._clients[0]

    @clients.setter
    def clients(self, number: int) -> None:
        self._clients[0] = number

    def write(self, **fields: Any) -> None:
        """Writes fields as in `put`."""
        self._sequence[0] += 1
        try:
            put(self._record, **fields)
        finally:
            self._sequence[0] += 1

    def read(self) -> np.ndarray | None:
        """A copy of the moment written last; None where it is not new, or just being written."""
        for _ in range(_TRIES):
            before = self._sequence[0]
            if before == self._seen:
                return None
            copy = self._record.copy()
            if before % 2 == 0 and self._sequence[0] == before:
                self._seen = before
                return copy
        return None

    def close(self) -> None:
        """Lets go of the memory's file; what is mapped goes with this object."""
        os.close(self.file)
