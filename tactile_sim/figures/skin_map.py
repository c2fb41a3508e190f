"""Show the readings of a whole skin as one map, in which the pads are arranged as on the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.spatial import cKDTree

from tactile_sim.figures import colors

COHERENCE = 0.4
"""Minimum length of the summed steps from parents to children, relative to the sum of their lengths.

Above it, the descendants point in a common direction, which is drawn upward.
"""
FLATNESS = 0.8
"""Maximum ratio of the smallest to the middle variance of the taxels of a skin that has a flat side."""
UPRIGHT = 0.7
"""Minimum sine of the angle between the vertical and the view direction if the vertical is drawn upward."""
ROUNDS, GROWTH = 2000, 1.002
"""Maximum number of rounds that separate boxes, and factor by which the centers move apart in each round."""


def view_axes(positions: np.ndarray, normals: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return the axes of the view that shows most of a skin.

    The view is along the direction in which the taxels vary least, from the side that more of them face. If
    no such direction exists, as on a cube, it is along +y. The upward direction is that of the descendants if
    they point in a common direction; otherwise the vertical or, in a view from above, the longest direction.

    Args:
        positions: Positions of the taxels (n, 3) [m].
        normals: Outward unit normals of the taxels (n, 3), or zeros if they are unknown.
        steps: Vector from the center of each pad's parent to that of the pad (k, 3) [m].

    Returns:
        Axes as rows (3, 3): right, up and toward the viewer.
    """
    variances, directions = np.linalg.eigh(np.cov(positions.T) if len(positions) > 1 else np.eye(3))
    if variances[0] > FLATNESS * variances[1]:
        directions = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    toward = directions[:, 0]
    if np.sign(normals @ toward).sum() < 0.0:
        toward = -toward
    plane = np.eye(3) - np.outer(toward, toward)
    distal, lengths = plane @ steps.sum(axis=0), np.linalg.norm(steps, axis=1).sum()
    up = plane @ [0.0, 0.0, 1.0]
    if np.linalg.norm(distal) > COHERENCE * lengths:
        up = distal
    elif np.linalg.norm(up) < UPRIGHT:
        up = directions[:, 2] * (1.0 if directions[:, 2].sum() >= 0.0 else -1.0)
    up = up / np.linalg.norm(up)
    return np.stack([np.cross(up, toward), up, toward])


def pad_parents(pad_bodies: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """Return the index of the pad on each pad's nearest ancestor that has one (p,).

    Pads without such an ancestor have their own index.

    Args:
        pad_bodies: Index of each pad's body (p,).
        parents: Index of each body's parent (bodies,); roots have their own index. If empty, all are roots.
    """
    bodies = np.asarray(pad_bodies, int).tolist()
    first = {body: pad for pad, body in reversed(list(enumerate(bodies)))}
    found = []
    for pad, body in enumerate(bodies):
        for _ in range(len(parents)):
            body = int(parents[body])
            if body in first and body != bodies[pad]:
                break
        found.append(first[body] if body in first and body != bodies[pad] else pad)
    return np.array(found, int)


def limbs(parents: np.ndarray) -> np.ndarray:
    """Return the limb of each pad (p,): the index of the first pad in its unbranched chain.

    Args:
        parents: Index of each pad's parent (p,); roots have their own index.
    """
    own = np.arange(len(parents))
    children = np.bincount(parents[parents != own], minlength=len(parents))
    heads = np.where((parents != own) & (children[parents] == 1), parents, own)
    for _ in own:
        heads = heads[heads]
    return heads


def separate(centers: np.ndarray, halves: np.ndarray, parents: np.ndarray) -> np.ndarray | None:
    """Move boxes apart until none overlap, and keep their arrangement.

    The boxes of a limb and its parent move along the limb, so that their order remains. Limbs of the same
    parent that point in the same direction move apart across it. All others move along the axis in which they
    overlap least.

    Args:
        centers: Centers of the boxes (b, 2).
        halves: Half-widths and half-heights of the boxes (b, 2).
        parents: Index of each box's parent (b,); roots have their own index.

    Returns:
        Centers (b, 2) of boxes that do not overlap; None if they are not found within `ROUNDS`.
    """
    centers = np.array(centers, float)
    first, second = np.triu_indices(len(centers), 1)
    needed = halves[first] + halves[second]
    ways, forced = _directions(centers, parents, first, second)
    for _ in range(ROUNDS):
        apart = centers[second] - centers[first]
        overlap = needed - np.abs(apart)
        pairs = np.flatnonzero((overlap > 1e-9 * needed).all(axis=1))
        if not len(pairs):
            return centers
        axis = np.where(forced[pairs] >= 0, forced[pairs], overlap[pairs].argmin(axis=1))
        side = np.where(forced[pairs] >= 0, ways[pairs], np.where(apart[pairs, axis] < 0.0, -1.0, 1.0))
        push = 0.25 * (needed[pairs, axis] - side * apart[pairs, axis]) * side
        np.subtract.at(centers, (first[pairs], axis), push)
        np.add.at(centers, (second[pairs], axis), push)
        centers *= GROWTH
    return None


def _directions(
    centers: np.ndarray, parents: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return how pairs of boxes must move apart."""
    heads, own = limbs(parents), np.arange(len(parents))
    depths, above = np.zeros(len(own)), own
    for _ in own:
        depths += parents[above] != above
        above = parents[above]
    last, order = own.copy(), np.argsort(depths, kind="stable")
    last[heads[order]] = order  # the deepest pad of each limb is assigned last
    last = last[heads]
    along = centers[last] - centers[parents[heads]]
    axis = np.abs(along).argmax(axis=1)
    sign = np.where(along[own, axis] < 0.0, -1.0, 1.0)
    same = heads[first] == heads[second]
    beside = (
        (parents[heads[first]] == parents[heads[second]])
        & (axis[first] == axis[second])
        & (sign[first] == sign[second])
        & ~same
        & (parents[heads[first]] != first)
        & (parents[heads[second]] != second)
    )
    root = parents[heads]  # the parent of each pad's limb
    out, back = (
        (root[second] == first) & (root[first] != second),
        (root[first] == second) & (heads[first] != second),
    )
    middle = np.array([centers[heads == head].mean(axis=0) for head in heads])
    across = 1 - axis[first]
    pairs = np.arange(len(first))
    beyond = (middle[second] - middle[first])[pairs, across]
    deeper = np.sign(depths[second] - depths[first])
    ways = np.select(
        [same | back, out], [sign[first] * deeper, sign[second] * deeper], np.where(beyond < 0.0, -1.0, 1.0)
    )
    return ways, np.select([same | back, out, beside], [axis[first], axis[second], across], -1)


def grid(number: int) -> np.ndarray:
    """Return the cells (number, 2) of a grid with unit spacing, row by row from the top left."""
    columns = int(np.ceil(np.sqrt(number)))
    rows, places = np.divmod(np.arange(number), columns)
    return np.column_stack([places, -rows]).astype(float)


BACKGROUND, BODY, TEXT = (18, 20, 25), (36, 40, 48), (205, 212, 222)
SIDE = -0.05
"""Limit on the cosine between a taxel's normal and the view direction; above it, the taxel is in front."""
REACH, MARGIN = 0.48, 0.8
"""Distances from a taxel up to which pixels show the taxel and the body, in taxel spacings."""
NEAR = 4.0
"""Radius of the region whose frontmost taxel is the reference of a taxel's depth, in taxel spacings."""
LEAST_PIXELS = 2.0
"""Minimum number of pixels between neighboring taxels of a readable pad."""
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
    """Nominal distance between neighboring taxels of each pad (p,) [m]."""

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
        centers: Centers of the pads (p, 2) in the front view [pixels], from the left and from the top.
        halves: Half-widths and half-heights of the pads' areas (p, 2) [pixels], with their labels.
        zooms: Scale of each pad (p,) [pixels/m].
        pixels: (q,) indices (row * width + column) of the pixels that show taxels.
        taxels: (q,) taxel that each of these pixels shows.
        width: Width of the image [pixels].
        height: Height of the image [pixels].
    """

    def __init__(self, pose: RestPose, largest: int = 900, stacked: bool = False) -> None:
        """Arrange the pads and assign a taxel to each pixel."""
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
        self._base = self._labeled(pose.names, present)
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
        """Assign to each pixel the nearest taxel, and to each taxel at least one pixel."""
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

    def _labeled(self, names: Sequence[str], present: np.ndarray) -> np.ndarray:
        """Return the image (height * width, 3) without taxels: background, titles and names of the pads."""
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
            scale: Reading with the brightest color, in the same unit.
            logarithmic: Whether the color scale is logarithmic.

        Returns:
            (height, width, 3) uint8 RGB image. Taxels without contact have the color of dark bodies.
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
