"""Draw feelers as lines in the browser."""

from __future__ import annotations

import numpy as np
from viser import FrameHandle, LineSegmentsHandle, SceneApi

from tactile_sim.view.content import ViewScene
from tactile_sim.view.scene.colors import linear_rgb
from tactile_sim.view.scene.padding import padded

COVERED, ALL, NONE = "covered", "all", "none"
CHOICES = (COVERED, ALL, NONE)
"""Options for the feelers to draw. By default, free ones are not drawn, so that they do not hide the skin."""
FREE, DEEP = np.array([0.45, 0.5, 0.55]), np.array([1.0, 0.75, 0.1])
"""Colours of free feelers and of feelers covered to their roots, the same as in the topic ``markers``."""
MIN_COVER = 1e-6
"""Covered fraction of a feeler's length above which it counts as covered."""


class FeelerLines:
    """Draws the feelers of all bodies."""

    def __init__(self, api: SceneApi, scene: ViewScene, frames: dict[int, FrameHandle]):
        """Add the lines to the scene.

        Args:
            api: viser's scene.
            scene: Constant content of the view.
            frames: Nodes of the bodies, keyed by body index.
        """
        starts = scene.feeler_positions
        self._lengths = scene.feeler_lengths
        self._ends = np.stack([starts, starts + self._lengths[:, None] * scene.feeler_normals], axis=1)
        self._cover = np.zeros(len(starts))
        self._choice = COVERED
        self._bodies = bodies = np.asarray(scene.feeler_bodies, int)
        self._hidden: list[int] = []
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

    def draw(self, free_lengths: np.ndarray) -> None:
        """Draw the feelers.

        Args:
            free_lengths: Free lengths of the feelers (f,) [m]. An array with another length is ignored.
        """
        if len(free_lengths) == len(self._lengths) > 0:
            self._cover = np.clip(1.0 - free_lengths / self._lengths, 0.0, 1.0)
            self._apply()

    def select(self, choice: str) -> None:
        """Select the feelers to draw, one of `CHOICES`."""
        self._choice = choice
        self._apply()

    def set_hidden(self, bodies: list[int]) -> None:
        """Hide the feelers of the bodies with these indices, and show all others."""
        self._hidden = bodies
        self._apply()

    def _apply(self) -> None:
        colors = linear_rgb(FREE + self._cover[:, None] * (DEEP - FREE))
        selected = self._cover > MIN_COVER if self._choice == COVERED else np.ones(len(colors), bool)
        selected = selected & ~np.isin(self._bodies, self._hidden)
        for k, (own, lines) in enumerate(self._lines):
            drawn = own[selected[own]] if self._choice != NONE else own[:0]
            lines.visible = len(drawn) > 0
            if not len(drawn):
                continue
            if not np.array_equal(drawn, self._drawn[k]):
                self._drawn[k] = drawn
                lines.points = padded(self._ends[drawn]).astype(np.float32)
            lines.colors = padded(np.repeat(colors[drawn, None], 2, axis=1))
