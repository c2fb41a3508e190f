"""Store forces or readings over the last seconds."""

from __future__ import annotations

from collections import deque

import numpy as np

from tactile_sim.view.content import ViewFrame

SPAN = 10.0
"""Length of the history in simulation time [s]."""
BINS = 300
"""Number of samples in the history.

Each sample is the maximum over the frames in its time interval, which preserves short impacts.
"""
MAX_GAP = 0.25
"""Largest time between two frames that are connected by a line [s]."""


class _Bin:
    def __init__(self, time: float, forces: np.ndarray, starts_segment: bool):
        self.time = time
        self.forces = forces.copy()
        self.starts_segment = starts_segment


class ForceHistory:
    """Stores force magnitudes in segments. Between two segments, the force is unknown.

    Attributes:
        forces: Magnitudes in the last frame (bodies,) [N].
    """

    def __init__(self, bodies: int):
        self.forces = np.zeros(bodies)
        self._time = 0.0
        self._bins: deque[_Bin] = deque()

    def add(self, frame: ViewFrame, forces: np.ndarray) -> None:
        """Add the magnitudes of forces at the time of a view frame, and discard samples with a later time.

        Args:
            frame: View frame that defines the simulation time, and whether a new segment starts.
            forces: Force vectors (bodies, 3) [N]. They are ignored if the number of bodies differs or any
                value is not finite.
        """
        if len(forces) != len(self.forces) or not np.isfinite(forces).all():
            return
        starts = frame.discontinuous or frame.time > self._time + MAX_GAP
        while self._bins and self._bins[-1].time > frame.time:
            self._bins.pop()
            starts = True
        self._time, self.forces = frame.time, np.linalg.norm(forces, axis=1)
        if starts or not self._bins or self._time >= self._bins[-1].time + SPAN / BINS:
            self._bins.append(_Bin(self._time, self.forces, starts))
        else:
            np.maximum(self._bins[-1].forces, self.forces, out=self._bins[-1].forces)
        while self._bins[0].time < self._time - SPAN:
            self._bins.popleft()

    def segments(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the stored forces as segments without gaps.

        Returns:
            For each segment, the times (k,) relative to the last frame [s], which are <= 0, and the forces
            (k, bodies) [N]. The last segment ends at the last frame.
        """
        kept: list[list[tuple[float, np.ndarray]]] = []
        for each in self._bins:
            if each.starts_segment or not kept:
                kept.append([])
            kept[-1].append((each.time, each.forces))
        if kept and kept[-1][-1][0] < self._time:
            kept[-1].append((self._time, self.forces))
        return [
            (
                np.array([time for time, _ in segment]) - self._time,
                np.array([forces for _, forces in segment]),
            )
            for segment in kept
        ]
