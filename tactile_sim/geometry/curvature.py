"""The geoms of a scene as native code needs them for the curvature of surfaces in contact.

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
