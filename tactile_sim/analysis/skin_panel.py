"""The right part of a video: what the skin feels, as tactile images or as taxels from two sides."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.colors import LogNorm
from PIL import Image, ImageDraw, ImageFont

from tactile_sim.analysis import dots, paper
from tactile_sim.analysis.layouts import Placed

BACKGROUND = (20, 23, 28)
TEXT = (214, 220, 229)
ASLEEP = np.array([69.0, 79.0, 94.0])
"""A taxel that feels nothing."""
SIDES = (("from above", dots.axes(30.0, -50.0)), ("from below", dots.axes(-30.0, -50.0)))
FILL = 0.92
"""How much of its room a skin takes."""
SHARPER = 2
"""Taxels are painted so many times as large, which makes smooth edges."""
TITLE, LEGEND, MARGIN = 24, 70, 12
"""Heights and a distance [pixels]."""


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font of all texts in videos."""
    return ImageFont.load_default(size)


def middle(skin: Placed) -> np.ndarray:
    """(3,) of a skin [m]."""
    return (skin.positions.min(axis=0) + skin.positions.max(axis=0)) / 2


def reach(skin: Placed) -> np.ndarray:
    """(2,) how far a skin reaches from its middle aside and up, seen from any of the sides [m]."""
    apart = skin.positions - middle(skin)
    return np.max([np.abs(apart @ view[:2].T).max(axis=0) for _, view in SIDES], axis=0)


class SkinPanel:
    """Paints panels (height, width) of one look.

    half (2,) [m]: how far the skin reaches at most from its middle, aside and up, as :func:`reach` tells;
    norm and label: what colours mean.
    """

    def __init__(self, width: int, height: int, half: np.ndarray, norm: LogNorm, label: str) -> None:
        self.width, self.height = width, height
        self._half, self._norm = half, norm
        self._empty = Image.new("RGB", (width, height), BACKGROUND)
        self._legend(label)

    def taxels(self, skin: Placed, felt: np.ndarray) -> Image.Image:
        """The skin at one instant, of which each taxel feels something (n,)."""
        panel = self._empty.copy()
        pen = ImageDraw.Draw(panel)
        center = middle(skin)
        height = (self.height - LEGEND) // len(SIDES) - TITLE
        for place, (side, view) in enumerate(SIDES):
            image = np.full((SHARPER * height, SHARPER * self.width, 3), BACKGROUND, np.uint8)
            light = np.clip(0.55 + 0.45 * skin.normals @ view[2], 0.35, 1.0)[:, None]
            shown = (ASLEEP * light).astype(np.uint8)
            shown[felt > 0] = (255 * paper.shades(felt[felt > 0], self._norm)).astype(np.uint8)
            zoom = FILL * (np.array([self.width, height]) / (2 * self._half)).min()
            dots.draw(skin, shown, view, center, SHARPER * zoom, image)
            top = place * (height + TITLE)
            pen.text((MARGIN, top + 4), side, TEXT, font(15))
            small = Image.fromarray(image).resize((self.width, height), Image.Resampling.BOX)
            panel.paste(small, (0, top + TITLE))
        return panel

    def images(self, images: Mapping[str, np.ndarray]) -> Image.Image:
        """Tactile images (h, w, 3) by their bodies' names, side by side."""
        panel = self._empty.copy()
        pen = ImageDraw.Draw(panel)
        columns = int(np.ceil(np.sqrt(len(images))))
        rows = -(-len(images) // columns)
        width, height = self.width // columns, (self.height - LEGEND) // rows
        room = width - 2 * MARGIN, height - TITLE - MARGIN
        for place, (body, image) in enumerate(sorted(images.items())):
            left, top = place % columns * width + MARGIN, place // columns * height
            zoom = min(room[0] / image.shape[1], room[1] / image.shape[0])
            size = max(1, round(zoom * image.shape[1])), max(1, round(zoom * image.shape[0]))
            panel.paste(Image.fromarray(image).resize(size, Image.Resampling.NEAREST), (left, top + TITLE))
            pen.text((left, top + 4), body, TEXT, font(15))
        return panel

    def _legend(self, label: str) -> None:
        low, high = np.log10([self._norm.vmin or 1.0, self._norm.vmax or 1.0])
        left, top, width = 2 * MARGIN, self.height - 40, self.width - 4 * MARGIN
        levels = 10 ** np.linspace(low, high, width)
        bar = (255 * paper.shades(levels, self._norm)).astype(np.uint8)
        self._empty.paste(Image.fromarray(np.tile(bar, (10, 1, 1))), (left, top))
        pen = ImageDraw.Draw(self._empty)
        pen.text((left, top - 6), label, TEXT, font(15), anchor="ls")
        for decade in range(int(np.ceil(low)), int(np.floor(high)) + 1):
            x = left + width * (decade - low) / (high - low)
            pen.text((x, top + 14), f"{10.0**decade:g}", TEXT, font(14), anchor="ma")
