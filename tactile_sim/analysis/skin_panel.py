"""Draw the right part of a video: the taxels, seen from two sides, and the tactile images."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.colors import LogNorm
from PIL import Image, ImageDraw, ImageFont

from tactile_sim.analysis import dots, style
from tactile_sim.analysis.layouts import Placed

BACKGROUND = (20, 23, 28)
TEXT = (214, 220, 229)
UNLOADED = np.array([69.0, 79.0, 94.0])
"""RGB colour (0 to 255) of taxels without load."""
SIDES = (("from above", dots.axes(30.0, -50.0)), ("from below", dots.axes(-30.0, -50.0)))
FILL = 0.92
"""Fraction of the available space that the skin fills."""
OVERSAMPLING = 2
"""Taxels are drawn at this multiple of the final resolution, for smooth edges."""
TITLE, LEGEND, MARGIN = 24, 70, 12
"""Height of a title, height of the legend, and width of the margin [pixels]."""


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font of this size [pixels] for text in videos."""
    return ImageFont.load_default(size)


def middle(skin: Placed) -> np.ndarray:
    """Return the centre (3,) of a skin's bounding box [m]."""
    return (skin.positions.min(axis=0) + skin.positions.max(axis=0)) / 2


def reach(skin: Placed) -> np.ndarray:
    """Return the largest distances from a taxel to the :func:`middle` of the skin, in all views.

    Returns:
        The largest horizontal and the largest vertical distance in the image plane (2,) [m].
    """
    apart = skin.positions - middle(skin)
    return np.max([np.abs(apart @ view[:2].T).max(axis=0) for _, view in SIDES], axis=0)


class SkinPanel:
    """Draws the right part of each image of a video.

    Args:
        width: Width of the panel [pixels].
        height: Height of the panel [pixels].
        half: Half-width and half-height of the region that each view must show (2,) [m], from :func:`reach`.
        norm: Colour scale of the readings.
        label: Label of the colour scale.
    """

    def __init__(self, width: int, height: int, half: np.ndarray, norm: LogNorm, label: str) -> None:
        self.width, self.height = width, height
        self._half, self._norm = half, norm
        self._empty = self._bar(label)

    def paint(self, skin: Placed, felt: np.ndarray, images: Mapping[str, np.ndarray]) -> Image.Image:
        """Draw the panel for one time.

        Args:
            skin: Positions, normals and spacings of the n taxels.
            felt: Magnitudes of the readings (n,).
            images: Tactile images (height, width, 3) uint8, keyed by body name.
        """
        panel = self._empty.copy()
        tiers = len(SIDES) + bool(images)
        height = (self.height - LEGEND) // tiers
        for tier, (side, view) in enumerate(SIDES):
            taxels = self._taxels(skin, felt, view, height - TITLE)
            self._put(panel, taxels, MARGIN, (tier + bool(images)) * height, side)
        columns = self.width // max(1, len(images))
        for place, (body, image) in enumerate(sorted(images.items())):
            zoom = min((columns - 2 * MARGIN) / image.shape[1], (height - TITLE) / image.shape[0])
            size = max(1, round(zoom * image.shape[1])), max(1, round(zoom * image.shape[0]))
            resized = Image.fromarray(image).resize(size, Image.Resampling.NEAREST)
            left = place * columns + (columns - size[0]) // 2
            self._put(panel, resized, left, 0, f"tactile image of {body}" if columns > 200 else body)
        return panel

    def _put(self, panel: Image.Image, part: Image.Image, left: int, top: int, title: str) -> None:
        panel.paste(part, (left, top + TITLE))
        ImageDraw.Draw(panel).text((left, top + 4), title, TEXT, font(15))

    def _taxels(self, skin: Placed, felt: np.ndarray, view: np.ndarray, height: int) -> Image.Image:
        """Draw the taxels as seen along one view.

        Args:
            skin: Positions, normals and spacings of the n taxels.
            felt: Magnitudes of the readings (n,).
            view: Axes of the view as rows (3, 3).
            height: Height of the image [pixels].
        """
        width = self.width - 2 * MARGIN
        image = np.full((OVERSAMPLING * height, OVERSAMPLING * width, 3), BACKGROUND, np.uint8)
        light = np.clip(0.55 + 0.45 * skin.normals @ view[2], 0.35, 1.0)[:, None]
        shown = (UNLOADED * light).astype(np.uint8)
        shown[felt > 0] = (255 * style.shades(felt[felt > 0], self._norm)).astype(np.uint8)
        zoom = FILL * (np.array([width, height]) / (2 * self._half)).min()
        dots.draw(skin, shown, view, middle(skin), OVERSAMPLING * zoom, image)
        return Image.fromarray(image).resize((width, height), Image.Resampling.BOX)

    def _bar(self, label: str) -> Image.Image:
        """Return an empty panel with the colour scale at the bottom."""
        panel = Image.new("RGB", (self.width, self.height), BACKGROUND)
        low, high = np.log10([self._norm.vmin or 1.0, self._norm.vmax or 1.0])
        left, top, width = 2 * MARGIN, self.height - 40, self.width - 4 * MARGIN
        levels = 10 ** np.linspace(low, high, width)
        bar = (255 * style.shades(levels, self._norm)).astype(np.uint8)
        panel.paste(Image.fromarray(np.tile(bar, (10, 1, 1))), (left, top))
        pen = ImageDraw.Draw(panel)
        pen.text((left, top - 6), label, TEXT, font(15), anchor="ls")
        for mark in style.marks(self._norm):
            x = left + width * (np.log10(mark) - low) / (high - low)
            pen.text((x, top + 14), f"{mark:g}", TEXT, font(14), anchor="ma")
        return panel
