"""Feelers in the browser, a line each."""

from __future__ import annotations

import numpy as np
from viser import FrameHandle, LineSegmentsHandle, SceneApi

from tactile_sim.view.light import as_light
from tactile_sim.view.padded import padded
from tactile_sim.view.world import World

COVERED, ALL, NONE = "covered", "all", "none"
CHOICES = (COVERED, ALL, NONE)
"""Which of them are seen; at first those that are covered: thousands that are free hide the skin."""
FREE, DEEP = np.array([0.45, 0.5, 0.55]), np.array([1.0, 0.75, 0.1])
"""Colours of feelers: grey where free, yellow where covered to the root, as in ``markers``."""
TOUCHED = 1e-6
"""Covered by more than this share of the length."""


class FeelerLines:
    """The lines of all bodies, of which those that are wanted are drawn."""

    def __init__(self, api: SceneApi, world: World, frames: dict[int, FrameHandle]):
        """frames: of the bodies, by index."""
        starts = world.feeler_positions
        self._lengths = world.feeler_lengths
        self._ends = np.stack([starts, starts + self._lengths[:, None] * world.feeler_normals], axis=1)
        self._cover = np.zeros(len(starts))
        self._choice = COVERED
        bodies = np.asarray(world.feeler_bodies, int)
        self._lines = [
            (np.flatnonzero(bodies == body), self._add(api, frames[body].name))
            for body in np.unique(bodies).tolist()
        ]
        self._drawn = [np.zeros(0, int)] * len(self._lines)

    @staticmethod
    def _add(api: SceneApi, parent: str) -> LineSegmentsHandle:
        return api.add_line_segments(
            f"{parent}/feelers",
            np.zeros((1, 2, 3)),
            np.zeros((1, 2, 3), np.uint8),
            thickness=1.0,
            thickness_units="screen",
            visible=False,
        )

    def draw(self, free: np.ndarray) -> None:
        """free: (f,) lengths [m]; another number of them says nothing."""
        if len(free) == len(self._lengths) > 0:
            self._cover = np.clip(1.0 - free / self._lengths, 0.0, 1.0)
            self._apply()

    def show(self, choice: str) -> None:
        """Which are seen: one of ``CHOICES``."""
        self._choice = choice
        self._apply()

    def _apply(self) -> None:
        mixed = FREE + self._cover[:, None] * (DEEP - FREE)
        colors = as_light(mixed)
        wanted = self._cover > TOUCHED if self._choice == COVERED else np.ones(len(colors), bool)
        for k, (mine, lines) in enumerate(self._lines):
            drawn = mine[wanted[mine]] if self._choice != NONE else mine[:0]
            lines.visible = len(drawn) > 0
            if not len(drawn):
                continue
            if not np.array_equal(drawn, self._drawn[k]):
                self._drawn[k] = drawn
                lines.points = padded(self._ends[drawn]).astype(np.float32)
            lines.colors = padded(np.repeat(colors[drawn, None], 2, axis=1))
