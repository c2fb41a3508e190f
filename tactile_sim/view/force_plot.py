"""A plot of the force on each body over the last seconds."""

from __future__ import annotations

from collections import deque

import numpy as np
from viser import GuiApi, uplot

from tactile_sim.force_scale import full_scale
from tactile_sim.view.world import Moment, World

SPAN = 10.0
"""Seconds of simulation time that are seen."""
POINTS = 300
"""At most so many in that time."""
GAP = 0.25
"""While time stands, moments further apart than this [s] are those of jumps: the lines begin anew."""
LINES = 6
"""Bodies with lines of their own, those that feel most."""
_COLORS = ("#ffcc1a", "#4dabf7", "#ff6b6b", "#51cf66", "#cc5de8", "#ff922b")


class ForcePlot:
    """Keeps the forces of the last seconds and plots the largest."""

    def __init__(self, gui: GuiApi, world: World):
        self._names = [world.bodies[int(body)] for body in world.skin_bodies]
        self._lines = list(range(min(LINES, len(self._names))))
        """Which of the bodies with skin are drawn, each in a place and colour of its own."""
        self._past: deque[tuple[float, np.ndarray]] = deque()
        self._latest = (0.0, np.zeros(len(self._names)))
        self._broken = False
        self._top = 0.0
        self._least = world.taxel_scale
        self._plot = gui.add_uplot(
            (np.array([-SPAN, 0.0]), *[np.full(2, np.nan)] * len(self._lines)),
            self._series(),
            axes=(
                {"label": f"the last {SPAN:g} s, to now", "labelSize": 16, "size": 28},
                {"label": "force [N]", "labelSize": 16, "size": 46},
            ),
            legend={"live": False},
            cursor={"show": False},
            scales=self._scales(1.0),
            height=190,
            padding=(10, 16, 0, 0),
        )

    def _series(self) -> tuple[uplot.Series, ...]:
        lines: list[uplot.Series] = [
            {"label": self._names[body], "stroke": color, "width": 1.5, "points": {"size": 4}}
            for body, color in zip(self._lines, _COLORS, strict=False)
        ]
        return ({}, *lines)

    def add(self, moment: Moment) -> None:
        """Keeps the forces of a moment; starts anew where time jumps."""
        if len(moment.forces) != len(self._names) or not np.isfinite(moment.forces).all():
            return
        if self._past and moment.time < self._past[-1][0]:
            self._past.clear()
        forces = np.linalg.norm(moment.forces, axis=1)
        self._latest = (moment.time, forces)
        if self._past and (self._broken or (moment.paused and moment.time > self._past[-1][0] + GAP)):
            self._past.clear()  # browsers draw a line through what is not a number
        self._broken = False
        if not self._past or moment.time >= self._past[-1][0] + SPAN / POINTS:
            self._past.append(self._latest)
        while self._past[0][0] < moment.time - SPAN:
            self._past.popleft()

    def interrupt(self) -> None:
        """No line leads from what was to what comes next."""
        self._broken = True

    def draw(self) -> None:
        """Plots what is kept."""
        if not self._past:
            return
        newer = self._latest[0] > self._past[-1][0]
        kept = [*self._past, self._latest] if newer else self._past
        times = np.array([time for time, _ in kept])
        forces = np.array([force for _, force in kept])
        self._choose(forces.max(axis=0))
        self._stretch(forces.max(initial=0.0))
        # The axis is as long as the data, and so the same from the first moment on.
        lines = (np.concatenate([[np.nan], forces[:, body]]) for body in self._lines)
        self._plot.data = (np.concatenate([[-SPAN], times - times[-1]]), *lines)

    def _choose(self, largest: np.ndarray) -> None:
        """A body that feels twice what the least of those drawn feels takes its place."""
        changed = False
        for body in np.argsort(-largest)[:LINES].tolist():
            least = min(self._lines, key=lambda line: largest[line])
            if body not in self._lines and largest[body] > 2.0 * largest[least]:
                self._lines[self._lines.index(least)] = body
                changed = True
        if changed:
            self._plot.series = self._series()

    def _stretch(self, largest: float) -> None:
        """The scale changes in steps of 1, 2 and 5, and shrinks late, so that it does not flicker."""
        needed = full_scale(max(largest, self._least))
        if needed > self._top or needed < self._top / 4.0:
            self._top = needed
            self._plot.scales = self._scales(needed)

    @staticmethod
    def _scales(top: float) -> dict[str, uplot.Scale]:
        return {"x": {"time": False, "range": (-SPAN, 0.0)}, "y": {"range": (0.0, top)}}
