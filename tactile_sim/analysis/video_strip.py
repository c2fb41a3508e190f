"""Draw the force strip of a video: the net force on the most loaded pads over time, with a cursor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

from tactile_sim.analysis import style
from tactile_sim.analysis.skin_panel import BACKGROUND, MARGIN, TEXT, font
from tactile_sim.drawing.force_scale import full_scale
from tactile_sim.drawing.themes import DARK

LEGEND, LINE = 26, 2
"""Height of the legend above the plot, and width of the lines [pixels]."""
CURSOR = (255, 255, 255)


class ForceStrip:
    """Draws the strip below each image of a video.

    Args:
        width: Width [pixels].
        height: Height [pixels].
        times: Times of the readings (n,) [s].
        nets: Net readings (n, p) of the pads over time, in ``unit``.
        names: Names of the pads (p,).
        unit: Unit of the readings.
    """

    def __init__(
        self, width: int, height: int, times: np.ndarray, nets: np.ndarray, names: Sequence[str], unit: str
    ) -> None:
        lines = DARK.lines[: style.NAMED_LINES]
        order = np.argsort(-nets.max(axis=0), kind="stable")[: len(lines)]
        shown = [int(pad) for pad in order if nets[:, pad].max() > 0.0]
        self._times, self._nets = times, nets[:, shown]
        self._names, self._colors = [names[pad] for pad in shown], lines[: len(shown)]
        self._left, self._right = MARGIN, width - MARGIN
        self._top, self._bottom = LEGEND, height - MARGIN
        self._empty = self._plot(width, height, unit)

    def paint(self, time: float) -> Image.Image:
        """Draw the strip with the cursor and the values at a time [s]."""
        image = self._empty.copy()
        pen = ImageDraw.Draw(image)
        row = max(0, int(np.searchsorted(self._times, time, side="right")) - 1)
        step = (self._right - self._left) // max(len(self._names), 4)
        for place, (name, color) in enumerate(zip(self._names, self._colors, strict=True)):
            left = self._left + place * step
            pen.line([(left, LEGEND // 2), (left + 14, LEGEND // 2)], color, 4)
            text = f"{name} {self._nets[row, place]:.2f}"
            pen.text((left + 20, LEGEND // 2), text, TEXT, font(15), anchor="lm")
        x = float(self._x(np.array([time]))[0])
        pen.line([(x, self._top), (x, self._bottom)], CURSOR, LINE)
        return image

    def _plot(self, width: int, height: int, unit: str) -> Image.Image:
        """Return the strip without cursor and values."""
        image = Image.new("RGB", (width, height), BACKGROUND)
        pen = ImageDraw.Draw(image)
        end = full_scale(float(self._nets.max(initial=0.0)) / 1.2)
        for y in (self._top, self._bottom):
            pen.line([(self._left, y), (self._right, y)], DARK.grid)
        x = self._x(self._times)
        for values, color in zip(self._nets.T, self._colors, strict=True):
            y = self._bottom - (self._bottom - self._top) * values / end
            pen.line(np.column_stack([x, y]).ravel().tolist(), color, LINE)
        pen.text((self._right, self._top + 4), f"{end:g} {unit}", TEXT, font(13), anchor="ra")
        return image

    def _x(self, times: np.ndarray) -> np.ndarray:
        """Return the horizontal pixels (n,) of times (n,) [s]."""
        first, last = self._times[0], self._times[-1]
        share = np.clip((times - first) / max(last - first, 1e-9), 0.0, 1.0)
        return self._left + share * (self._right - self._left)
