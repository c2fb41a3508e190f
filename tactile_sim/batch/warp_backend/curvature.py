"""Warp functions for the effective radius of two touching geoms, as in `tactile_sim.geometry.curvature`."""

import warp as wp

from tactile_sim.geometry import curvature


@wp.struct
class Geom:
    """Shape, size and pose of a geom of the scene, with the same fields as `curvature.GEOM`."""

    patch: int
    body: int
    kind: int
    size: wp.vec3
    position: wp.vec3
    rotation: wp.mat33
    bound: float


@wp.func
def curvature_of(geom: Geom, body_rotation: wp.mat33, frame: wp.mat33):
    """Return the components 11, 12 and 22 of a geom's curvature in the tangent plane of a contact [1/m].

    ``body_rotation`` is the rotation from the geom's body to the world. The rows of ``frame`` are the normal
    and the two tangents of the contact in the world.
    """
    if geom.kind == wp.static(curvature.FLAT):
        return wp.vec3(0.0, 0.0, 0.0)
    weight = 1.0 / geom.size[0]
    if geom.kind == wp.static(curvature.SPHERE):
        return wp.vec3(weight, 0.0, weight)
    to_geom = wp.transpose(body_rotation * geom.rotation)
    normal, first, second = to_geom * frame[0], to_geom * frame[1], to_geom * frame[2]
    if geom.kind == wp.static(curvature.CYLINDER) and normal[2] * normal[2] > 0.5:
        return wp.vec3(0.0, 0.0, 0.0)
    axes = int(3)
    if geom.kind == wp.static(curvature.CYLINDER) or (
        geom.kind == wp.static(curvature.CAPSULE) and wp.abs(normal[2]) <= wp.static(curvature.ON_CAP)
    ):
        axes = 2
    support = wp.length(wp.cw_mul(geom.size, normal))
    out = wp.vec3(0.0, 0.0, 0.0)
    for axis in range(axes):
        if geom.kind == wp.static(curvature.ELLIPSOID):
            weight = support / (geom.size[axis] * geom.size[axis])
        x, y = first[axis], second[axis]
        out += weight * wp.vec3(x * x, x * y, y * y)
    return out


@wp.func
def effective_radius(a: Geom, b: Geom, rotation_a: wp.mat33, rotation_b: wp.mat33, frame: wp.mat33):
    """Return the effective radius of the touching geoms ``a`` and ``b`` [m].

    The rotations of their bodies and the ``frame`` of the contact are as in `curvature_of`.
    """
    form = curvature_of(a, rotation_a, frame) + curvature_of(b, rotation_b, frame)
    least = wp.max(1.0 / a.bound, 1.0 / b.bound)
    mean = 0.5 * (form[0] + form[2])
    difference = 0.5 * (form[0] - form[2])
    apart = wp.sqrt(difference * difference + form[1] * form[1])
    floor = wp.static(curvature.STRAIGHT) * least
    k1, k2 = mean + apart, mean - apart
    return 1.0 / wp.sqrt(wp.where(k1 > floor, k1, least) * wp.where(k2 > floor, k2, least))
