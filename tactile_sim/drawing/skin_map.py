"""Show the readings of a whole skin as one map, in which the pads are arranged as on the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.spatial import cKDTree

from tactile_sim.drawing import colors
from tactile_sim.drawing.map_layout import grid, separate, view_axes

BACKGROUND, BODY, TEXT = (18, 20, 25), (36, 40, 48), (205, 212, 222)
SIDE = -0.05
"""Limit on the cosine between a taxel's normal and the view direction; above it, the taxel is in front."""
REACH, MARGIN = 0.48, 0.8
"""Distances from a taxel up to which pixels show the taxel and the body, in taxel spacings."""
NEAR = 4.0
"""Radius of the region whose frontmost taxel is the reference of a taxel's depth, in taxel spacings."""
LEAST_PIXELS = 2.0
"""Minimum number of pixels between neighbouring taxels of a readable pad."""
UNKNOWN_SPACING = 1e-3
"""Spacing of taxels whose spacing is unknown [m]."""
LABEL, GAP, TITLE = 14, 6, 20
"""Height of a label and a title, and distance between pads [pixels]."""


@dataclass(frozen=True)
class RestPose:
    """The taxels of a skin in the pose that a map shows, in the world frame."""

    names: Sequence[str]
    """Names of the p pads."""
    counts: np.ndarray
    """Number of taxels of each pad (p,). Taxel arrays list one pad after another."""
    parents: np.ndarray
    """Index of the pad on the nearest ancestor of each pad's body (p,); roots have their own index."""
    positions: np.ndarray
    """Positions of the n taxels (n, 3) [m]."""
    normals: np.ndarray
    """Outward unit normals (n, 3), or zeros if they are unknown."""
    spacings: np.ndarray
    """Nominal distance between neighbouring taxels of each pad (p,) [m]."""

    @property
    def starts(self) -> np.ndarray:
        """Index of the first taxel of each pad, followed by n (p + 1,)."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(int)


class SkinMap:
    """An image of a whole skin with its front and, mirrored, its back, as in charts of the human body.

    Each pad is flattened around the side that it shows, so that taxels at its edge are not foreshortened.
    Pads that would overlap are moved apart. All pads have the same scale, unless the smallest would be
    unreadable; then the map is a grid, in which each pad fills its cell.

    Attributes:
        axes: Axes of the front view as rows (3, 3): right, up and toward the viewer.
        centers: Centres of the pads (p, 2) in the front view [pixels], from the left and from the top.
        halves: Half-widths and half-heights of the pads' areas (p, 2) [pixels], with their labels.
        zooms: Scale of each pad (p,) [pixels/m].
        pixels: (q,) indices (row * width + column) of the pixels that show taxels.
        taxels: (q,) taxel that each of these pixels shows.
        width: Width of the image [pixels].
        height: Height of the image [pixels].
    """

    def __init__(self, pose: RestPose, largest: int = 900, stacked: bool = False) -> None:
        """Arrange the pads and assign a taxel to each pixel.

        Args:
            pose: The taxels in the pose to show. At least one pad must have taxels.
            largest: Maximum width and height of one side of the map [pixels].
            stacked: Whether the back is below the front instead of beside it, for narrow panels.
        """
        starts = pose.starts
        spacings = np.where(pose.spacings > 0.0, pose.spacings, UNKNOWN_SPACING)
        pad_of = np.repeat(np.arange(len(pose.counts)), pose.counts)
        middles = np.array(
            [pose.positions[a:b].mean(axis=0) for a, b in zip(starts, starts[1:], strict=False)]
        )
        self.axes = view_axes(pose.positions, pose.normals, middles - middles[pose.parents])
        self._front = pose.normals @ self.axes[2] >= SIDE
        flat = np.concatenate(
            [
                _flattened(
                    pose.positions[a:b], pose.normals[a:b], self._front[a:b], self.axes, NEAR * spacing
                )
                for a, b, spacing in zip(starts, starts[1:], spacings, strict=False)
            ]
        )
        low, high = (f.reduceat(flat, starts[:-1], axis=0) for f in (np.minimum, np.maximum))
        centers, sizes = (low + high) / 2, high - low + 2 * MARGIN * spacings[:, None]
        self._arrange(centers, sizes, spacings, pose.parents, largest)
        sides = 1 if self._front.all() else 2
        side = np.ceil(self._extent).astype(int)
        self._titles = ("front", "back")[:sides]
        self._back = (sides - 1) * np.array([0, side[1]] if stacked else [side[0], 0])
        self.width, self.height = (side + self._back).tolist()
        self._side_width = int(side[0])
        local = (flat - centers[pad_of]) * self.zooms[pad_of, None] * [1.0, -1.0]
        places = self.centers[pad_of] + local
        places[~self._front] = self._in_back(places[~self._front])
        places[:, 1] -= LABEL / 2
        body = self._assign(places, (spacings * self.zooms)[pad_of])
        present = np.stack(
            [np.bincount(pad_of[side], minlength=len(low)) > 0 for side in (self._front, ~self._front)]
        )
        self._base = self._labelled(pose.names, present)
        self._base[body] = BODY

    def _arrange(
        self, centers: np.ndarray, sizes: np.ndarray, spacings: np.ndarray, parents: np.ndarray, largest: int
    ) -> None:
        """Place the pads (p, 2) [m] in the image; see the attributes."""
        zoom = largest / np.ptp(np.concatenate([centers - sizes / 2, centers + sizes / 2]), axis=0).max()
        for _ in range(6):  # labels and gaps have a fixed size in pixels, so the zoom changes their share
            halves = sizes * zoom / 2 + [GAP / 2, (LABEL + GAP) / 2]
            placed = separate(centers * [zoom, -zoom], halves, parents)
            if placed is None:
                break
            extent = np.ptp(np.concatenate([placed - halves, placed + halves]), axis=0).max() + TITLE + GAP
            if extent <= largest:
                break
            zoom *= 0.99 * max((largest - 60) / extent, 0.05)
        if placed is None or zoom * spacings.min() < LEAST_PIXELS:
            cells = grid(len(sizes))
            cell = (largest - TITLE - GAP) / (cells[:, 0].max() + 1)
            self.zooms = (cell - LABEL - GAP) / sizes.max(axis=1)
            halves, placed = np.full((len(sizes), 2), cell / 2), cells * [cell, -cell]
        else:
            self.zooms = np.full(len(sizes), zoom)
        corner = (placed - halves).min(axis=0) - [GAP / 2, TITLE]
        self.centers, self.halves = placed - corner, halves
        self._extent = (self.centers + halves).max(axis=0) + GAP / 2

    def _in_back(self, points: np.ndarray) -> np.ndarray:
        """Mirror points (k, 2) of the front view into the back view [pixels]."""
        return np.asarray(points * [-1.0, 1.0] + [self._side_width, 0.0] + self._back)

    def _assign(self, places: np.ndarray, spacings: np.ndarray) -> np.ndarray:
        """Assign to each pixel the nearest taxel, and to each taxel at least one pixel.

        Args:
            places: Columns and rows of the taxels (n, 2) [pixels].
            spacings: Distance between neighbouring taxels at each taxel (n,) [pixels].

        Returns:
            Indices of the pixels that show a body.
        """
        shown = np.full(self.height * self.width, -1)
        rows, columns = np.divmod(np.arange(self.height * self.width), self.width)
        distance, nearest = cKDTree(places).query(np.column_stack([columns, rows]) + 0.5)
        inside = distance <= np.maximum(REACH * spacings[nearest], 0.8)
        shown[inside] = nearest[inside]
        counts = np.bincount(shown[inside], minlength=len(places))
        hidden = np.flatnonzero(counts == 0)
        if len(hidden):  # taxels between others: each takes the nearest pixel of one that has several
            pixels = np.flatnonzero(inside)
            tree = cKDTree(np.column_stack([columns, rows])[pixels] + 0.5)
            around = tree.query(places[hidden], min(32, len(pixels)))[1].reshape(len(hidden), -1)
            for taxel, near in zip(hidden, pixels[around], strict=True):
                free = near[counts[shown[near]] > 1]
                if len(free):
                    counts[shown[free[0]]] -= 1
                    shown[free[0]], counts[taxel] = taxel, 1
        self.pixels = np.flatnonzero(shown >= 0)
        self.taxels = shown[self.pixels]
        return np.flatnonzero(distance <= MARGIN * spacings[nearest])

    def _labelled(self, names: Sequence[str], present: np.ndarray) -> np.ndarray:
        """Return the image (height * width, 3) without taxels: background, titles and names of the pads.

        Args:
            names: Names of the p pads.
            present: Whether each pad has taxels on the front and on the back (2, p).
        """
        image = Image.new("RGB", (self.width, self.height), BACKGROUND)
        pen, small = ImageDraw.Draw(image), ImageFont.load_default(LABEL - 3)
        for side, title in enumerate(self._titles):
            pen.text(tuple(side * self._back + [GAP, 2]), title, TEXT, ImageFont.load_default(TITLE - 6))
            bottoms = self.centers + self.halves * [0, 1] - [0, GAP / 2]
            bottoms = bottoms if side == 0 else self._in_back(bottoms)
            for k, name in enumerate(names):
                if present[side, k] and pen.textlength(name, small) <= 2 * self.halves[k, 0]:
                    pen.text(tuple(bottoms[k]), name, TEXT, small, anchor="mb")
        return np.array(image).reshape(-1, 3)

    def image(self, values: np.ndarray, scale: float, logarithmic: bool = True) -> np.ndarray:
        """Render readings as an image.

        Args:
            values: (n,) magnitudes of the readings of all taxels, in any unit.
            scale: Reading with the brightest colour, in the same unit.
            logarithmic: Whether the colour scale is logarithmic.

        Returns:
            (height, width, 3) uint8 RGB image. Taxels without contact have the colour of dark bodies.
        """
        level = colors.levels(values, scale, logarithmic)
        shades = np.where(
            level[:, None] > 0.0, colors.level_colors(level), np.array(colors.DARK_BODY, np.uint8)
        )
        out = self._base.copy()
        out[self.pixels] = shades[self.taxels]
        return out.reshape(self.height, self.width, 3)


def _flattened(
    positions: np.ndarray, normals: np.ndarray, front: np.ndarray, axes: np.ndarray, near: float
) -> np.ndarray:
    """Project the taxels of a pad to the plane of a view, and spread those that are turned away from it.

    A taxel moves outward, along its normal in the plane, by the part of its path over a cylinder that the
    projection hides: ``depth * (angle - sin(angle)) / (1 - cos(angle))``. On cylinders and spheres this
    restores distances, and the sides of boxes are folded down.

    Args:
        positions: Positions of the taxels (n, 3) [m].
        normals: Outward unit normals (n, 3), or zeros.
        front: Whether each taxel is in the front view (n,). All others are seen from behind.
        axes: Axes of the front view as rows (3, 3).
        near: Radius in the plane within which the frontmost taxel is the reference of the depth [m].

    Returns:
        Coordinates (n, 2) along the first two axes [m].
    """
    seen, turned = positions @ axes.T, normals @ axes.T
    toward = np.where(front, 1.0, -1.0)
    height, cosine = seen[:, 2] * toward, np.clip(turned[:, 2] * toward, 0.0, 1.0)
    known = normals.any(axis=1)
    angle = np.where(known, np.arccos(cosine), 0.0)
    top = height.copy()
    for side in (front, ~front):
        if side.any():
            tree, own = cKDTree(seen[side, :2]), height[side]
            top[side] = [own[around].max() for around in tree.query_ball_point(seen[side, :2], near)]
    share = np.divide(
        angle - np.sin(angle), 1.0 - np.cos(angle), out=np.zeros(len(angle)), where=angle > 1e-3
    )
    outward = turned[:, :2] / np.maximum(np.linalg.norm(turned[:, :2], axis=1), 1e-9)[:, None]
    return np.asarray(seen[:, :2] + ((top - height) * share)[:, None] * outward)
