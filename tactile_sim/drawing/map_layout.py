"""Arrange the pads of a skin in a plane as they are arranged on the robot."""

from __future__ import annotations

import numpy as np

COHERENCE = 0.4
"""Minimum length of the summed steps from parents to children, relative to the sum of their lengths.

Above it, the descendants point in a common direction, which is drawn upward.
"""
FLATNESS = 0.8
"""Maximum ratio of the smallest to the middle variance of the taxels of a skin that has a flat side."""
UPRIGHT = 0.7
"""Minimum sine of the angle between the vertical and the view direction if the vertical is drawn upward."""
ROUNDS, GROWTH = 2000, 1.002
"""Maximum number of rounds that separate boxes, and factor by which the centres move apart in each round."""


def view_axes(positions: np.ndarray, normals: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return the axes of the view that shows most of a skin.

    The view is along the direction in which the taxels vary least, from the side that more of them face. If
    no such direction exists, as on a cube, it is along +y. The upward direction is that of the descendants if
    they point in a common direction; otherwise the vertical or, in a view from above, the longest direction.

    Args:
        positions: Positions of the taxels (n, 3) [m].
        normals: Outward unit normals of the taxels (n, 3), or zeros if they are unknown.
        steps: Vector from the centre of each pad's parent to that of the pad (k, 3) [m].

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
        centers: Centres of the boxes (b, 2).
        halves: Half-widths and half-heights of the boxes (b, 2).
        parents: Index of each box's parent (b,); roots have their own index.

    Returns:
        Centres (b, 2) of boxes that do not overlap; None if they are not found within `ROUNDS`.
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
    """Return how pairs of boxes must move apart.

    Args:
        centers: Centres of the boxes (b, 2).
        parents: Index of each box's parent (b,).
        first: Index of the first box of each pair (k,).
        second: Index of the second box (k,).

    Returns:
        Signs (k,) of the movement of the second box, and axes (k,), which are -1 for pairs without a rule.
    """
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
