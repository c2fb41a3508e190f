"""How round two surfaces are where they touch.

After K. L. Johnson, Contact Mechanics (1985), chapter 4. Near the point of contact the gap between two
surfaces is a quadratic form in the tangent plane, the sum of those of the two. Where this sum has principal
curvatures k1 and k2, the area of contact is an ellipse about as large as the disc that a sphere of radius
1/sqrt(k1 k2) makes on a flat.

Curvatures are known on spheres, capsules, cylinders and ellipsoids; other surfaces count as flat. Where both
surfaces are straight, the area of contact would be endless or a line; but no surface goes on beyond its geom,
MuJoCo gives several contacts along it, and the faces of a mesh may stand for a round body. So a direction
without curvature counts as curved like the ball around the smaller of the two geoms: a box on a table has
the radius of the ball around the box, a capsule on its side that of its side one way and of the ball around
it the other. The area of contact then grows with the force, as it does between round bodies.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numba import njit

GEOM = np.dtype(
    [
        ("patch", np.int64),
        ("body", np.int64),
        ("kind", np.int64),
        ("size", float, 3),
        ("rotation", float, (3, 3)),
        ("bound", float),
    ]
)
"""A geom: the patch of skin that takes its loads or -1, its body, a kind of below, MuJoCo's sizes [m], the
rotation of its frame to the body's, and the radius of the ball around it [m], infinite for a plane."""
FLAT, SPHERE, CAPSULE, CYLINDER, ELLIPSOID = range(5)
KINDS = {
    mujoco.mjtGeom.mjGEOM_SPHERE: SPHERE,
    mujoco.mjtGeom.mjGEOM_CAPSULE: CAPSULE,
    mujoco.mjtGeom.mjGEOM_CYLINDER: CYLINDER,
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: ELLIPSOID,
}
STRAIGHT = 1e-3
"""Less curvature than this, over that of the ball around the smaller geom, is none."""
ON_CAP = 0.1
"""A normal that leans more than this out of a capsule's side is on one of its ends."""


def geom_table(model: mujoco.MjModel) -> np.ndarray:
    """(ngeom,) of `GEOM`, all of them without a skin."""
    table = np.zeros(model.ngeom, GEOM)
    table["patch"] = -1
    table["body"] = model.geom_bodyid
    table["kind"] = [KINDS.get(kind, FLAT) for kind in model.geom_type.tolist()]
    table["size"] = model.geom_size
    for geom in range(model.ngeom):
        rotation = np.empty(9)
        mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
        table["rotation"][geom] = rotation.reshape(3, 3)
    table["bound"] = np.where(model.geom_rbound > 0, model.geom_rbound, np.inf)
    return table


@njit(cache=True)
def effective_radius(geoms, first, second, normal, rotations):
    """Of two geoms (indices, or -1 where unknown) that touch with this normal (3,) in the world [m].

    rotations (nbody, 3, 3) from each body's frame to the world's.
    """
    k = np.zeros((3, 3))
    least = 0.0  # Of the ball around the smaller geom.
    for g in (first, second):
        if g >= 0:
            _add_curvature(geoms[g], rotations[geoms[g].body], normal, k)
            least = max(least, 1.0 / geoms[g].bound)
    # Two eigenvalues and a zero along the normal: what they sum to, and their product.
    trace = k[0, 0] + k[1, 1] + k[2, 2]
    square = 0.0
    for i in range(3):
        for j in range(3):
            square += k[i, j] * k[i, j]
    product = 0.5 * (trace * trace - square)
    apart = np.sqrt(max(0.25 * trace * trace - product, 0.0))
    k1, k2 = 0.5 * trace + apart, 0.5 * trace - apart
    return 1.0 / np.sqrt((k1 if k1 > STRAIGHT * least else least) * (k2 if k2 > STRAIGHT * least else least))


@njit(cache=True)
def _add_curvature(geom, body_rotation, normal, k):
    """Adds to k (3, 3) the curvature of a geom's surface where it has this normal, as a form in the world.

    That is the sum over the geom's axes e of `weight` t t', where t is e without its part along the normal.
    """
    if geom.kind == FLAT:
        return
    axes, along = np.empty((3, 3)), np.zeros(3)
    for a in range(3):
        for i in range(3):
            axes[a, i] = 0.0
            for j in range(3):
                axes[a, i] += body_rotation[i, j] * geom.rotation[j, a]
            along[a] += axes[a, i] * normal[i]
    weight = np.full(3, 1.0 / geom.size[0])
    if geom.kind == ELLIPSOID:
        # Of the implicit surface sum (x/a)^2 = 1: its Hessian over the length of its slope, at the point
        # x = a^2 n / s, s = |a n|, that has this normal n.
        s = 0.0
        for a in range(3):
            s += (geom.size[a] * along[a]) ** 2
        for a in range(3):
            weight[a] = np.sqrt(s) / geom.size[a] ** 2
    elif geom.kind == CYLINDER and along[2] * along[2] > 0.5:
        return  # One of its flat ends.
    elif geom.kind == CYLINDER or (geom.kind == CAPSULE and abs(along[2]) <= ON_CAP):
        weight[2] = 0.0
    for a in range(3):
        for i in range(3):
            for j in range(3):
                t = axes[a, i] - along[a] * normal[i]
                k[i, j] += weight[a] * t * (axes[a, j] - along[a] * normal[j])
