"""The net force on each body over the last seconds, as it was seen."""

from __future__ import annotations

from collections import deque

import numpy as np

from tactile_sim.view.world import Moment

SPAN = 10.0
"""Seconds of simulation time that are kept."""
BINS = 300
"""So many in that time: of moments that are nearer to each other the largest force counts, so that no blow is
lost."""

UNSEEN = 0.25
"""Over a longer time between two moments [s] no line leads: nobody knows what was felt."""


class _Bin:
    def __init__(self, time: float, forces: np.ndarray, begins: bool):
        self.time = time
        self.forces = forces.copy()
        self.begins = begins


class ForceHistory:
    """Magnitudes of forces in runs: between two of them nobody knows what was felt.

    Attribute: ``forces`` (bodies,), those of the last moment [N].
    """

    def __init__(self, bodies: int):
        self.forces = np.zeros(bodies)
        self._time = 0.0
        self._bins: deque[_Bin] = deque()

    def add(self, moment: Moment) -> None:
        """Keeps the forces of a moment. Where time went back, what was later is forgotten."""
        if len(moment.forces) != len(self.forces) or not np.isfinite(moment.forces).all():
            return
        begins = moment.begins or moment.time > self._time + UNSEEN
        while self._bins and self._bins[-1].time > moment.time:
            self._bins.pop()
            begins = True
        self._time, self.forces = moment.time, np.linalg.norm(moment.forces, axis=1)
        if begins or not self._bins or self._time >= self._bins[-1].time + SPAN / BINS:
            self._bins.append(_Bin(self._time, self.forces, begins))
        else:
            np.maximum(self._bins[-1].forces, self.forces, out=self._bins[-1].forces)
        while self._bins[0].time < self._time - SPAN:
            self._bins.popleft()

    def runs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each run the times (k,) [s], 0 at the last moment and less before, and forces (k, bodies) [N];
        the last run ends with the last moment."""
        kept: list[list[tuple[float, np.ndarray]]] = []
        for each in self._bins:
            if each.begins or not kept:
                kept.append([])
            kept[-1].append((each.time, each.forces))
        if kept and kept[-1][-1][0] < self._time:
            kept[-1].append((self._time, self.forces))
        return [
            (np.array([time for time, _ in run]) - self._time, np.array([forces for _, forces in run]))
            for run in kept
        ]
