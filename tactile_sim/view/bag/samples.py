"""Sample the forces in the messages of a bag."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from tactile_sim.figures.messages import by_pad, finite

LIMIT = 512
"""Largest number of samples of each topic."""
MIN_INTERVAL = 20_000_000
"""Smallest time between two samples [ns]."""
FORCE, PEAK = slice(0, 3), 3
"""Columns of the samples."""


class TopicSamples:
    """Samples of the forces in the messages on a topic, evenly spaced in time.

    The time between two samples is initially `MIN_INTERVAL`. It doubles whenever there are `LIMIT` samples,
    and every second sample is discarded. Thus, memory is bounded, and few messages of a long bag are decoded.
    """

    def __init__(self) -> None:
        self._times: list[int] = []
        self._rows: list[np.ndarray] = []
        self._columns: dict[str, int] = {}
        self._interval = float(MIN_INTERVAL)
        self._due = -math.inf

    def is_due(self, time: int) -> bool:
        """Return whether the message with this log time [ns] must be sampled."""
        return time >= self._due

    def add(self, time: int, value: Any) -> None:
        """Sample a message.

        Args:
            time: Log time of the message [ns].
            value: A decoded TactileFrame, TactileArray or ContactWrenchArray.
        """
        found = _of_contacts(value.contacts) if hasattr(value, "contacts") else _of_pads(value)
        for name in found:
            self._columns.setdefault(name, len(self._columns))
        row = np.zeros((len(self._columns), 4), np.float32)
        for name, entry in found.items():
            row[self._columns[name]] = entry
        self._times.append(time)
        self._rows.append(row)
        if len(self._times) == LIMIT:
            self._interval = (time - self._times[0]) / (LIMIT // 2)
            del self._times[1::2], self._rows[1::2]
        self._due = self._times[-1] + self._interval

    @property
    def times(self) -> np.ndarray:
        """Log times of the samples (n,) [ns]."""
        return np.array(self._times, np.int64)

    @property
    def names(self) -> Collection[str]:
        """Names of the pads or bodies in the samples."""
        return self._columns.keys()

    @property
    def peaks(self) -> np.ndarray:
        """Largest reading in each sample (n,)."""
        return np.array([row[:, PEAK].max(initial=0.0) for row in self._rows])

    def at(self, name: str, times: np.ndarray) -> np.ndarray:
        """Return the samples of a pad or body (n, 4), interpolated at log times (n,) [ns].

        The columns are `FORCE`, the sum of a pad's force vectors or the net contact force on a body [N], and
        `PEAK`, the largest reading of a pad. Both are zero if they are unknown. The sum of a pad is in the
        frame of its vectors.
        """
        column = self._columns[name]
        values = np.array([row[column] if column < len(row) else np.zeros(4) for row in self._rows])
        return np.stack([np.interp(times, self.times, each) for each in values.T], axis=1)


def _of_pads(value: Any) -> dict[str, np.ndarray]:
    """Return the sum of the force vectors and the largest reading (4,) of each pad."""
    result = {}
    for pad, part in by_pad(value).items():
        readings = finite(part.readings)
        result[pad] = entry = np.zeros(4)
        entry[PEAK] = math.sqrt(np.einsum("ij,ij->i", readings, readings).max(initial=0.0))
        if part.quantity in ("force_vector", "force_vector_global"):
            entry[FORCE] = readings.sum(axis=0)
    return result


def _of_contacts(contacts: Any) -> dict[str, np.ndarray]:
    """Return the net contact force and 0 (4,) of each body in contact."""
    forces = np.asarray(contacts.wrench.force, float).reshape(-1, 3)
    names = [*contacts.body1, *contacts.body2]
    bodies, indices = np.unique(np.array(names, object), return_inverse=True)
    entries = np.zeros((len(bodies), 4))
    np.add.at(entries[:, FORCE], indices, finite(np.concatenate([-forces, forces])))
    return dict(zip(bodies.tolist(), entries, strict=True))
