"""Warp kernels that distribute contact loads over taxels, by the same rules as `tactile_sim.skin`.

Each thread uses one row of ``queue`` and ``distances`` for the taxels around a load.
"""

import warp as wp

from tactile_sim.batch.warp.contacts import DISTANCE, FRAME, GEOMS, POSITION, WRENCH_WORLD, vector_at
from tactile_sim.geometry import curvature
from tactile_sim.skin import responses, touch_functions
from tactile_sim.skin.patches import FACING


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


@wp.struct
class Load:
    """Contact load on a patch of skin, in the frame of the patch's body; see `skin.loads.Loads`."""

    point: wp.vec3
    normal: wp.vec3
    force: wp.vec3
    force_world: wp.vec3
    radius: float
    patch: int
    other_patch: int


@wp.func
def load_of(
    env: int,
    slot: int,
    side: int,
    values: wp.array3d[float],
    here: Geom,
    there: Geom,
    xpos: wp.array2d[wp.vec3],
    xmat: wp.array2d[wp.mat33],
):
    """Return the load of a contact on the skin of one of its two geoms, in the frame of that geom's body.

    ``slot``: Index of the contact in the environment.
    ``side``: 0 for the first geom of the contact, 1 for the second.
    ``here``: The geom with the skin.
    ``there``: The other geom.
    """
    frame = wp.matrix_from_rows(
        vector_at(values, env, slot, wp.static(FRAME)),
        vector_at(values, env, slot, wp.static(FRAME) + 3),
        vector_at(values, env, slot, wp.static(FRAME) + 6),
    )
    sign = wp.where(side == 1, 1.0, -1.0)
    to_body = wp.transpose(xmat[env, here.body])
    normal = to_body * frame[0]
    half = 0.5 * values[env, slot, wp.static(DISTANCE)] * sign
    load = Load()
    middle = vector_at(values, env, slot, wp.static(POSITION)) - xpos[env, here.body]
    load.point = to_body * middle + half * normal
    load.normal = sign * normal
    load.force_world = sign * vector_at(values, env, slot, wp.static(WRENCH_WORLD))
    load.force = to_body * load.force_world
    load.radius = effective_radius(here, there, xmat[env, here.body], xmat[env, there.body], frame)
    load.patch = here.patch
    load.other_patch = there.patch
    return load


@wp.func
def value_of(load: Load, quantity: int):
    """Return the value of a touch function for a load as a vector; a scalar is the first component.

    ``quantity`` is the number of the touch function, as in `touch_functions.evaluate`.
    """
    along = wp.dot(load.force, load.normal)
    if quantity == wp.static(touch_functions.NORMAL):
        return wp.vec3(along, 0.0, 0.0)
    if quantity == wp.static(touch_functions.NORMAL_FORCE):
        return along * load.normal
    if quantity == wp.static(touch_functions.FORCE_VECTOR_GLOBAL):
        return load.force_world
    if quantity == wp.static(touch_functions.FRICTION):
        return load.force - along * load.normal
    return load.force


@wp.struct
class Patch:
    """Patch of skin and its search grid, with the same fields as `patches.PATCH`."""

    start: int
    stop: int
    spacing: float
    corner: wp.vec3
    cell: float
    shape: wp.vec3i
    base: int
    limited: int
    modulus: float
    thickness: float


@wp.struct
class Taxels:
    """Taxels of a skin with their neighbors and search grids; see `patches.TaxelIndex`."""

    positions: wp.array[wp.vec3]
    normals: wp.array[wp.vec3]
    axes: wp.array[wp.mat33]
    extents: wp.array[wp.vec3]
    factor: wp.array[float]
    patches: wp.array[Patch]
    cell_start: wp.array[int]
    order: wp.array[int]
    begin: wp.array[int]
    neighbors: wp.array[int]


@wp.func
def faces(taxels: Taxels, taxel: int, load_normal: wp.vec3):
    """Return whether a taxel is on the side of the surface to which the load is applied."""
    return wp.dot(taxels.normals[taxel], load_normal) < wp.static(FACING)


@wp.func
def cell_of(x: float, corner: float, cell: float, number: int):
    """Return the index of the grid cell that contains the coordinate ``x`` along one axis.

    The grid starts at ``corner`` and has ``number`` cells of width ``cell``. Coordinates outside the grid are
    in its first or last cell.
    """
    return int(wp.clamp(wp.floor((x - corner) / cell), 0.0, float(number - 1)))


@wp.func
def find_nearest(load: Load, patch: Patch, taxels: Taxels):
    """Return the index of the patch's taxel that is nearest to a load.

    Taxels that face the load take precedence if they are within two taxel spacings of the load; see
    `tactile_sim.skin.responses`.
    """
    if not wp.length_sq(load.point) < wp.static(1e30):
        return patch.start
    reach = 2.0 * patch.spacing
    radius = float(patch.spacing)
    best = int(patch.start)
    done = bool(False)
    while not done:
        best_square, facing, facing_square = float(wp.inf), int(-1), float(wp.inf)
        low, high = wp.vec3i(), wp.vec3i()
        for axis in range(3):
            x, corner, number = load.point[axis], patch.corner[axis], patch.shape[axis]
            low[axis] = cell_of(x - radius, corner, patch.cell, number)
            high[axis] = cell_of(x + radius, corner, patch.cell, number) + 1
        for i in range(low[0], high[0]):
            for j in range(low[1], high[1]):
                row = patch.base + (i * patch.shape[1] + j) * patch.shape[2]
                for e in range(taxels.cell_start[row + low[2]], taxels.cell_start[row + high[2]]):
                    q = taxels.order[e]
                    square = wp.length_sq(taxels.positions[q] - load.point)
                    if square < best_square or (square == best_square and q < best):
                        best, best_square = q, square
                    if square < facing_square or (square == facing_square and q < facing):
                        if faces(taxels, q, load.normal):
                            facing, facing_square = q, square
        size = high - low
        all_seen = size[0] * size[1] * size[2] == patch.shape[0] * patch.shape[1] * patch.shape[2]
        near = wp.min(radius, reach)
        if facing >= 0 and facing_square <= near * near:
            best = facing
            done = True
        elif radius >= reach and (all_seen or best_square <= radius * radius):
            done = True
        radius *= 2.0
    return best


@wp.func
def walk(
    start: int,
    load: Load,
    reach: float,
    taxels: Taxels,
    row: int,
    queue: wp.array2d[int],
    distances: wp.array2d[float],
):
    """Find the taxels around a load by walking from neighbor to neighbor; return their number.

    ``start``: Taxel at which the walk starts; it is always included.
    ``reach``: Maximum distance of the taxels from the load [m].

    Returns:
        The number of taxels, or -1 if they do not fit in the row.
    """
    queue[row, 0] = start
    distances[row, 0] = wp.length(taxels.positions[start] - load.point)
    head, tail = int(0), int(1)
    while head < tail:
        taxel = queue[row, head]
        head += 1
        for e in range(taxels.begin[taxel], taxels.begin[taxel + 1]):
            q = taxels.neighbors[e]
            distance = wp.length(taxels.positions[q] - load.point)
            if distance <= reach and faces(taxels, q, load.normal):
                known = bool(False)
                for k in range(tail):
                    known = known or queue[row, k] == q
                if not known:
                    if tail == queue.shape[1]:
                        return -1
                    queue[row, tail] = q
                    distances[row, tail] = distance
                    tail += 1
    return tail


@wp.func
def weight_of(distance: float, limit: float, extent: wp.vec3, law: int):
    """Return the relative weight with which a load acts on a taxel, as in `responses.spread`.

    Args:
        distance: Distance of the taxel from the load [m].
        limit: Distance at which the weight becomes zero [m].
        extent: Row of ``Taxels.extents`` of the taxel.
        law: Number of the response function, such as ``responses.LINEAR``.
    """
    if law == wp.static(responses.LINEAR):
        part = wp.min(2.0 * extent[1] / limit, 1.0)
        return part * part * wp.max(1.0 - distance / limit, 0.0)
    if distance < limit:
        return extent[0] * wp.sqrt(1.0 - (distance / limit) * (distance / limit))
    return 0.0


@wp.func
def modulus_of(patch: int, other: int, taxels: Taxels):
    """Return the effective plane-strain modulus of a patch in contact with another body [Pa].

    ``other`` is the patch of the other body; -1 if that body has no skin and is treated as rigid.
    """
    modulus = taxels.patches[patch].modulus
    if other < 0:
        return modulus
    return 1.0 / (1.0 / modulus + 1.0 / taxels.patches[other].modulus)


@wp.func
def add_reading(
    env: int, t: int, value: wp.vec3, in_taxel_axes: bool, taxels: Taxels, out: wp.array3d[float]
):
    """Multiply a value by the touch function's factor for taxel ``t``, and add it to the taxel's reading.

    With ``in_taxel_axes``, the value is first rotated into the axes of the taxel and its third component is
    negated. ``out`` has the shape (num_envs, taxels, channels).
    """
    reading = taxels.factor[t] * value
    if in_taxel_axes:
        reading = taxels.axes[t] * reading
        reading[2] = -reading[2]
    for c in range(out.shape[2]):
        out[env, t, c] += reading[c]


@wp.func
def is_outside(start: int, load: Load, taxels: Taxels):
    """Return whether a load is ignored because it does not act on its pad.

    This is only possible on a pad with a limited extent: the load is beyond the pad's edge, or the nearest
    taxel, ``start``, faces away from it. `find_nearest` returns this taxel.
    """
    edge = taxels.extents[start][2]
    outside = wp.length(taxels.positions[start] - load.point) > edge
    return edge < wp.inf and (outside or not faces(taxels, start, load.normal))


@wp.func
def add_load(
    env: int,
    row: int,
    start: int,
    load: Load,
    taxels: Taxels,
    quantity: int,
    law: int,
    in_taxel_axes: bool,
    queue: wp.array2d[int],
    distances: wp.array2d[float],
    out: wp.array3d[float],
):
    """Add a load to the readings of the taxels around it; return False if they do not fit in the queue.

    ``start``: Result of `find_nearest`.
    ``quantity``: Number of the touch function, see `value_of`.
    ``law``: Number of the response function, such as ``responses.LINEAR``.
    ``out``: (num_envs, taxels, channels) readings to which the load is added.
    """
    limit, found, total = float(0.0), int(1), float(0.0)
    if law == wp.static(responses.NEAREST):
        queue[row, 0] = start
    else:
        if law == wp.static(responses.LINEAR):
            apart = wp.length(taxels.positions[start] - load.point)
            widest = taxels.patches[load.patch].spacing
            limit = 2.0 * wp.min(wp.max(taxels.extents[start][1], apart), widest)
        else:
            pressed = wp.max(wp.dot(load.force, load.normal), 0.0)
            limit = wp.cbrt(0.75 * pressed * load.radius / modulus_of(load.patch, load.other_patch, taxels))
        found = walk(start, load, limit, taxels, row, queue, distances)
        if found < 0:
            return False
        if law == wp.static(responses.LINEAR):
            for k in range(found):
                limit = wp.min(limit, 2.0 * wp.max(taxels.extents[queue[row, k]][1], distances[row, k]))
        for k in range(found):
            distances[row, k] = weight_of(distances[row, k], limit, taxels.extents[queue[row, k]], law)
            total += distances[row, k]
    shared = total > 0.0 and total < wp.inf
    if not shared:
        found = 1
    value = value_of(load, quantity)
    for k in range(found):
        share = float(1.0)
        if shared:
            share = distances[row, k] / total
        add_reading(env, queue[row, k], share * value, in_taxel_axes, taxels, out)
    return True


@wp.kernel(enable_backward=False)
def read_contacts(
    counts: wp.array[int],
    values: wp.array3d[float],
    ids: wp.array3d[int],
    xpos: wp.array2d[wp.vec3],
    xmat: wp.array2d[wp.mat33],
    geoms: wp.array[Geom],
    taxels: Taxels,
    quantity: int,
    law: int,
    in_taxel_axes: bool,
    queue: wp.array2d[int],
    distances: wp.array2d[float],
    out: wp.array3d[float],
    full: wp.array[int],
):
    """Add the loads on each patch of each environment to the readings of its taxels.

    The readings must be zero at the start. One thread handles a patch and adds its contacts in sequence, so
    each reading is written by one thread. ``full`` is set if a load reaches more taxels than fit in a row of
    the queue.
    """
    env, p = wp.tid()
    row = env * taxels.patches.shape[0] + p
    for slot in range(counts[env]):
        for side in range(2):
            here = geoms[ids[env, slot, wp.static(GEOMS) + side]]
            if here.patch != p:
                continue
            there = geoms[ids[env, slot, wp.static(GEOMS) + 1 - side]]
            load = load_of(env, slot, side, values, here, there, xpos, xmat)
            start = find_nearest(load, taxels.patches[p], taxels)
            if is_outside(start, load, taxels):
                continue
            if not add_load(
                env, row, start, load, taxels, quantity, law, in_taxel_axes, queue, distances, out
            ):
                full[0] = 1
                return
