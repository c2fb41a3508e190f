"""Intersect a ray with the triangles of a mesh and test whether the ray starts inside."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.rays.tree import BEGIN, END, SKIP

HUGE = 1e200
"""Value used in place of 1 / 0, so that its product with 0 is 0."""


@kernel(error_model="numpy")
def hit_mesh(x, y, z, u, v, w, first, last, closed, boxes, links, triangles, reach):
    """Return the distance along a ray to the first point inside a mesh [m].

    An open mesh has no inside, so only its triangles are hit.

    Args:
        x: x component of the ray's origin in the frame of the mesh [m].
        y: y component of the origin [m].
        z: z component of the origin [m].
        u: x component of the ray's unit direction.
        v: y component of the direction.
        w: z component of the direction.
        first: First node of the mesh in boxes and links.
        last: Index after the last node of the mesh.
        closed: Whether the mesh has an inside.
        boxes: Boxes of the trees of all meshes, see `tactile_sim.geometry.rays.tree.Tree`.
        links: Links of these trees.
        triangles: (t, 9) corners of each triangle [m], in the order of the trees.
        reach: Largest distance of interest [m].

    Returns:
        The distance, which is 0 if the ray starts inside a closed mesh, and infinite without a hit within
        reach.
    """
    if closed and _inside(x, y, z, first, last, boxes, links, triangles):
        return 0.0
    return cross_mesh(x, y, z, u, v, w, first, last, boxes, links, triangles, reach, False)[0]


@kernel(error_model="numpy")
def _inside(x, y, z, first, last, boxes, links, triangles):
    """Return whether a point (x, y, z) is in a closed mesh; the arguments are as in `hit_mesh`.

    Crossings are counted along the shortest way from the point out of the mesh's bounding box.
    """
    out, u, v, w = np.inf, 0.0, 0.0, 0.0
    for k, value in enumerate((x, y, z)):
        off = value - boxes[first, k]
        if abs(off) > boxes[first, 3 + k]:
            return False
        if boxes[first, 3 + k] - abs(off) < out:
            out, side = boxes[first, 3 + k] - abs(off), np.copysign(1.0, off)
            u, v, w = side * (k == 0), side * (k == 1), side * (k == 2)
    return cross_mesh(x, y, z, u, v, w, first, last, boxes, links, triangles, out, True)[1] != 0


@kernel(error_model="numpy")
def cross_mesh(x, y, z, u, v, w, first, last, boxes, links, triangles, reach, count):
    """Return the distance to the nearest crossing of a ray with a mesh, and a crossing number.

    The crossing number is the number of triangles crossed from the front minus the number crossed from the
    back; its sign has no meaning. For a ray that ends outside a closed mesh, the crossing number is 0 if the
    ray starts outside or in a cavity, and nonzero if it starts inside. This also holds if parts of the mesh
    overlap or if all triangles face inwards.

    If ``count`` is False, the search ends at the nearest crossing, and the crossing number is not meaningful.
    The other arguments are as in `hit_mesh`.

    Returns:
        The distance [m], which is infinite without a crossing within reach, and the crossing number.
    """
    o, (a, b, c, sa, sb, sc) = (x, y, z), _shear(u, v, w)
    iu, iv, iw = _inverse(u), _inverse(v), _inverse(w)
    nearest, turns = np.inf, 0
    node = first
    while node < last:
        far = reach if count else min(nearest, reach)
        enter, leave = _within(boxes, node, x, y, z, iu, iv, iw, far)
        if not enter <= leave:
            node = links[node, SKIP]
            continue
        for t in range(links[node, BEGIN], links[node, END]):
            at, side = _crossing(triangles, t, o, a, b, c, sa, sb, sc)
            if side != 0 and at >= 0.0:
                turns += side
                nearest = min(nearest, at)
        node += 1
    return (nearest if nearest <= reach else np.inf), turns


@kernel(error_model="numpy")
def misses_box(boxes, node, x, y, z, u, v, w, reach):
    """Test by the separating axis theorem whether a ray misses the box of a node.

    The test needs no division, which pays off because most rays that come near a mesh miss it.

    Args:
        boxes: Boxes of the trees.
        node: Index of the node.
        x: x component of the ray's origin [m].
        y: y component of the origin [m].
        z: z component of the origin [m].
        u: x component of the unit direction.
        v: y component of the direction.
        w: z component of the direction.
        reach: Length of the ray [m].
    """
    half = 0.5 * reach
    x, y, z = (x + half * u - boxes[node, 0], y + half * v - boxes[node, 1], z + half * w - boxes[node, 2])
    a, b, c = boxes[node, 3], boxes[node, 4], boxes[node, 5]
    p, q, r = abs(u), abs(v), abs(w)
    if abs(x) > a + half * p or abs(y) > b + half * q or abs(z) > c + half * r:
        return True
    if abs(y * w - z * v) > b * r + c * q or abs(z * u - x * w) > c * p + a * r:
        return True
    return abs(x * v - y * u) > a * q + b * p


@kernel(error_model="numpy")
def _inverse(value):
    """Return 1 / value, or `HUGE` if value is about 0."""
    if abs(value) > 1.0 / HUGE:
        return 1.0 / value
    return HUGE


@kernel(error_model="numpy")
def _within(boxes, node, x, y, z, iu, iv, iw, far):
    """Return the distances at which a ray enters and leaves a node's box, limited to [0, ``far``] [m].

    If the ray misses the box, the entry is larger than the exit.

    Args:
        boxes: Boxes of the trees.
        node: Index of the node.
        x: x component of the ray's origin [m].
        y: y component of the origin [m].
        z: z component of the origin [m].
        iu: `_inverse` of the direction's x component.
        iv: `_inverse` of its y component.
        iw: `_inverse` of its z component.
        far: Maximum distance [m].
    """
    middle, half = (boxes[node, 0] - x) * iu, boxes[node, 3] * abs(iu)
    enter, leave = max(middle - half, 0.0), min(middle + half, far)
    middle, half = (boxes[node, 1] - y) * iv, boxes[node, 4] * abs(iv)
    enter, leave = max(middle - half, enter), min(middle + half, leave)
    middle, half = (boxes[node, 2] - z) * iw, boxes[node, 5] * abs(iw)
    return max(middle - half, enter), min(middle + half, leave)


@kernel(error_model="numpy")
def _shear(u, v, w):
    """Return the order of axes and the shear that align a ray with an axis, for `_crossing`.

    This follows S. Woop, C. Benthin, I. Wald, Watertight Ray/Triangle Intersection, JCGT 2(1), 2013.

    Args:
        u: x component of the ray's unit direction.
        v: y component of the direction.
        w: z component of the direction.

    Returns:
        a, b, c: Axes in cyclic order; c is the axis with the largest component of the direction.
        sa, sb: Components of the direction along a and b, divided by the component along c.
        sc: Inverse of the component along c.
    """
    d = (u, v, w)
    c = 2
    if abs(u) >= abs(v) and abs(u) >= abs(w):
        c = 0
    elif abs(v) >= abs(w):
        c = 1
    a, b = (c + 1) % 3, (c + 2) % 3
    return a, b, c, d[a] / d[c], d[b] / d[c], 1.0 / d[c]


@kernel(error_model="numpy")
def _crossing(corners, t, o, a, b, c, sa, sb, sc):
    """Compute where a line crosses a triangle.

    A line through an edge or a corner crosses exactly one of the triangles there, as if it were moved aside
    by an infinitesimal amount. This works because `_side` returns opposite signs for the two triangles that
    share an edge.

    Args:
        corners: (n, 9) corners of all triangles [m].
        t: Index of the triangle.
        o: Origin of the line as a tuple of three [m].
        a: First result of `_shear`.
        b: Second result of `_shear`.
        c: Third result of `_shear`.
        sa: Fourth result of `_shear`.
        sb: Fifth result of `_shear`.
        sc: Sixth result of `_shear`.

    Returns:
        The distance from the origin [m], which may be negative, and the side: -1 if the triangle faces
        towards positive coordinates along axis c, and 1 otherwise. For a miss, infinity and 0.
    """
    pc, qc, rc = (corners[t, c] - o[c], corners[t, 3 + c] - o[c], corners[t, 6 + c] - o[c])
    pa, qa, ra = (
        corners[t, a] - o[a] - sa * pc,
        corners[t, 3 + a] - o[a] - sa * qc,
        corners[t, 6 + a] - o[a] - sa * rc,
    )
    pb, qb, rb = (
        corners[t, b] - o[b] - sb * pc,
        corners[t, 3 + b] - o[b] - sb * qc,
        corners[t, 6 + b] - o[b] - sb * rc,
    )
    first, second, third = ra * qb - rb * qa, pa * rb - pb * ra, qa * pb - qb * pa
    side = _side(second, pa, pb, ra, rb)
    if _side(first, ra, rb, qa, qb) != side or _side(third, qa, qb, pa, pb) != side:
        return np.inf, 0
    total = first + second + third
    if total == 0.0:
        return np.inf, 0
    return (first * pc + second * qc + third * rc) * sc / total, side


@kernel(error_model="numpy")
def _side(area, pa, pb, qa, qb):
    """Return 1 or -1 for the side of the edge from p to q on which a line passes.

    A line through the edge counts as being on one side. That side is the same for both triangles of the edge.
    """
    if area != 0.0:
        return 1 if area > 0.0 else -1
    if pb != qb:
        return 1 if pb > qb else -1
    return 1 if qa > pa else -1
