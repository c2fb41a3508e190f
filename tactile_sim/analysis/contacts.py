"""Collect the contact forces between bodies over time from a bag."""

from __future__ import annotations

from typing import Any

import numpy as np

from tactile_sim.analysis.span import Span
from tactile_sim.analysis.tactile_frames import finite
from tactile_sim.bag.messages import Message

FLEX = "flex"
"""Label for flexes, whose body name is empty in contact messages."""


class Contacts:
    """Contact forces between pairs of bodies over time."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self._times: list[float] = []
        self._names: dict[tuple[int, int], tuple[str, str]] = {}
        self._instants: list[np.ndarray] = []
        self._geoms: list[np.ndarray] = []
        self._forces: list[np.ndarray] = []

    def add(self, message: Message) -> None:
        """Store the contacts in a ContactWrenchArray message. Messages outside the time span are ignored."""
        if message.stamp not in self.span:
            return
        contacts: Any = message.value.contacts
        self._times.append(message.stamp / 1e9)
        if not len(contacts):
            return
        geoms = np.stack([contacts.geom1_id, contacts.geom2_id], axis=1).astype(np.int64)
        for first in np.unique(geoms, axis=0, return_index=True)[1]:
            self._names[tuple(geoms[first].tolist())] = (contacts.body1[first], contacts.body2[first])
        self._geoms.append(geoms)
        self._forces.append(finite(contacts.wrench.force).astype(np.float32))
        self._instants.append(np.full(len(geoms), len(self._times) - 1))

    @property
    def times(self) -> np.ndarray:
        """Stamps of the n contact messages that were added (n,) [s]."""
        return np.array(self._times)

    @property
    def magnitudes(self) -> np.ndarray:
        """Force magnitudes (c,) of all contacts in all messages [N]."""
        return np.linalg.norm(np.concatenate([np.zeros((0, 3)), *self._forces]), axis=1)

    def pairs(self) -> tuple[list[tuple[str, str]], np.ndarray]:
        """Return the net contact force between each pair of bodies.

        Returns:
            pairs: Names of the two bodies in each of the p pairs.
            forces: Magnitude of the net force between the bodies of each pair, in each of the n messages
                (n, p) [N].
        """
        if not self._geoms:
            return [], np.zeros((len(self._times), 0))
        geoms, which = np.unique(np.concatenate(self._geoms), axis=0, return_inverse=True)
        bodies = [tuple(name or FLEX for name in self._names[tuple(pair)]) for pair in geoms.tolist()]
        names = {pair: number for number, pair in enumerate(sorted({tuple(sorted(pair)) for pair in bodies}))}
        number = np.array([names[tuple(sorted(pair))] for pair in bodies])[which.ravel()]
        # Bodies with several geoms can appear in either order; forces act on the second body.
        sign = np.array([1.0 if pair == tuple(sorted(pair)) else -1.0 for pair in bodies])[which.ravel()]
        sums = np.zeros((len(self._times), len(names), 3))
        np.add.at(
            sums, (np.concatenate(self._instants), number), sign[:, None] * np.concatenate(self._forces)
        )
        return [(first, second) for first, second in names], np.linalg.norm(sums, axis=2)
