"""Compute the curvature of two surfaces at their point of contact.

The method follows K. L. Johnson, Contact Mechanics (1985), chapter 4. Near the point of contact, the gap
between two surfaces is a quadratic form in the tangent plane: the sum of the forms of both surfaces. If this
sum has the principal curvatures k1 and k2, the contact area is an ellipse about as large as the contact disc
of a sphere of radius 1/sqrt(k1 k2) on a plane.

Curvatures are computed for spheres, capsules, cylinders and ellipsoids; other surfaces are treated as flat.
Where neither surface is curved, the theory gives an unbounded area or a line. That does not suit bounded
surfaces, on which MuJoCo reports several contacts, or meshes whose flat faces approximate a round body. A
direction without curvature therefore gets the curvature of the smaller geom's bounding sphere. A box on a
table has the effective radius of the box's bounding sphere. A capsule on its side has its own radius in one
direction and the radius of its bounding sphere in the other. The contact area then grows with the force, as
it does between round bodies.
"""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.compilation import kernel

GEOM = np.dtype(
    [
        ("patch", np.int64),
        ("body", np.int64),
        ("kind", np.int64),
        ("size", float, 3),
        ("position", float, 3),
        ("rotation", float, (3, 3)),
        ("bound", float),
    ]
)
"""A geom. ``patch`` is the index of the skin patch that receives its loads, or -1 without skin. ``body`` is
the id of its body. ``kind`` is one of the constants below, such as `SPHERE`. ``size`` is MuJoCo's size [m].
``position`` [m] and ``rotation`` are its pose in the body's frame. ``bound`` is the radius of its bounding
sphere [m], which is infinite for a plane."""
FLAT, SPHERE, CAPSULE, CYLINDER, ELLIPSOID = range(5)
KINDS = {
    mujoco.mjtGeom.mjGEOM_SPHERE: SPHERE,
    mujoco.mjtGeom.mjGEOM_CAPSULE: CAPSULE,
    mujoco.mjtGeom.mjGEOM_CYLINDER: CYLINDER,
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: ELLIPSOID,
}
STRAIGHT = 1e-3
"""Curvatures below this fraction of the curvature of the smaller geom's bounding sphere count as zero."""
ON_CAP = 0.1
"""A contact is on an end of a capsule if its normal's absolute component along the capsule's axis exceeds
this."""


def geom_table(model: mujoco.MjModel) -> np.ndarray:
    """Return the geoms of a model as an array (ngeom,) of `GEOM`. All have ``patch`` -1, i.e. no skin."""
    table = np.zeros(model.ngeom, GEOM)
    table["patch"] = -1
    table["body"] = model.geom_bodyid
    table["kind"] = [KINDS.get(kind, FLAT) for kind in model.geom_type.tolist()]
    table["size"] = model.geom_size
    table["position"] = model.geom_pos
    for geom in range(model.ngeom):
        rotation = np.empty(9)
        mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
        table["rotation"][geom] = rotation.reshape(3, 3)
    table["bound"] = np.where(model.geom_rbound > 0, model.geom_rbound, np.inf)
    return table


@kernel(counted=False)
def effective_radius(geoms, first, second, frame, rotations):
    """Return the effective radius of curvature of two touching geoms [m].

    Args:
        geoms: (ngeom,) geoms of the scene, as an array of `GEOM`.
        first: Index of the first geom, or -1 if it is unknown, which counts as flat.
        second: Index of the second geom, or -1.
        frame: (9,) normal and two tangents of the contact in the world frame.
        rotations: (nbody, 3, 3) rotations from body frames to the world.
    """
    xx, xy, yy = 0.0, 0.0, 0.0  # Components of the quadratic form along the tangents.
    least = 0.0  # Curvature of the smaller geom's bounding sphere.
    for g in (first, second):
        if g >= 0:
            a, b, c = _curvature(geoms[g], rotations[geoms[g].body], frame[0:3], frame[3:6], frame[6:9])
            xx, xy, yy = xx + a, xy + b, yy + c
            least = max(least, 1.0 / geoms[g].bound)
    mean, apart = 0.5 * (xx + yy), np.sqrt((0.5 * (xx - yy)) ** 2 + xy * xy)
    k1, k2 = mean + apart, mean - apart
    return 1.0 / np.sqrt((k1 if k1 > STRAIGHT * least else least) * (k2 if k2 > STRAIGHT * least else least))


@kernel(counted=False)
def _curvature(geom, body_rotation, normal, tangent1, tangent2):
    """Return the curvature of a geom at the point where its surface has a specified normal.

    The curvature tensor is a weighted sum of t t' over the geom's axes, where t contains the components of
    an axis along the two tangents.

    Args:
        geom: An entry of `GEOM`.
        body_rotation: (3, 3) rotation from the body's frame to the world.
        normal: (3,) unit normal in the world frame; its sign does not matter.
        tangent1: (3,) first tangent in the world frame.
        tangent2: (3,) second tangent in the world frame.

    Returns:
        The components 11, 12 and 22 of the tensor along the two tangents [1/m].
    """
    if geom.kind == FLAT:
        return 0.0, 0.0, 0.0
    weight = 1.0 / geom.size[0]
    if geom.kind == SPHERE:
        return weight, 0.0, weight
    up = _along_axis(geom, body_rotation, normal, 2)
    if geom.kind == CYLINDER and up * up > 0.5:
        return 0.0, 0.0, 0.0  # One of its flat ends.
    straight = geom.kind == CYLINDER or (geom.kind == CAPSULE and abs(up) <= ON_CAP)
    support = 0.0
    if geom.kind == ELLIPSOID:
        for axis in range(3):
            support += (geom.size[axis] * _along_axis(geom, body_rotation, normal, axis)) ** 2
        support = np.sqrt(support)
    xx, xy, yy = 0.0, 0.0, 0.0
    for axis in range(2 if straight else 3):
        if geom.kind == ELLIPSOID:
            # Curvature of the implicit surface sum (x/a)^2 = 1: the Hessian divided by the length of the
            # gradient, at the point x = a^2 n / s, s = |a n|, where the normal is n.
            weight = support / geom.size[axis] ** 2
        x = _along_axis(geom, body_rotation, tangent1, axis)
        y = _along_axis(geom, body_rotation, tangent2, axis)
        xx, xy, yy = xx + weight * x * x, xy + weight * x * y, yy + weight * y * y
    return xx, xy, yy


@kernel(counted=False)
def _along_axis(geom, body_rotation, vector, axis):
    """Return the component of a vector (3,) in the world frame along an axis (0, 1 or 2) of a geom."""
    along = 0.0
    for j in range(3):
        for i in range(3):
            along += vector[i] * body_rotation[i, j] * geom.rotation[j, axis]
    return along
