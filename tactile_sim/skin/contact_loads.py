"""Convert the contacts of an engine to loads on bodies with skin."""

from __future__ import annotations

from tactile_sim.compilation import kernel
from tactile_sim.engines.contacts import (
    ANGULAR,
    DISTANCE,
    FRAME,
    FRICTION,
    GEOMS,
    POSITION,
    VELOCITY,
    WRENCH_WORLD,
)
from tactile_sim.geometry.curvature import effective_radius


@kernel(counted=False)
def resolve_loads(values, ids, geoms, patch_bodies, body_positions, body_rotations, out):
    """Convert contacts to loads on bodies with skin; return the number of loads.

    Args:
        values: (c, WIDTH) values of `engines.Contacts`.
        ids: (c, IDS) ids of `engines.Contacts`.
        geoms: (ngeom,) geoms of the scene, as an array of `curvature.GEOM`.
        patch_bodies: (p,) for each patch, the index of its body among the bodies with skin.
        body_positions: (nbody, 3) positions of the bodies in the world [m].
        body_rotations: (nbody, 3, 3) rotations from body frames to the world.
        out: (2 c,) output: array of `loads.LOAD`. Each contact yields up to two loads.
    """
    position, frame, distance = values[:, POSITION:], values[:, FRAME:], values[:, DISTANCE]
    wrench_world, velocity, geom_pairs = values[:, WRENCH_WORLD:], values[:, VELOCITY:], ids[:, GEOMS:]
    m = 0
    for c in range(len(distance)):
        radius = -1.0
        for side in range(2):
            geom = geom_pairs[c, side]
            if geom < 0 or geoms[geom].patch < 0:
                continue
            other = geom_pairs[c, 1 - side]
            if radius < 0.0:
                radius = effective_radius(geoms, geom, other, frame[c], body_rotations)
            # The normal points from object 1 to object 2, out of 1 and into 2. The position is midway between
            # the surfaces: along the normal, the surface of 2 is half the distance ahead and that of 1 half
            # the distance behind. In penetration the distance is negative, and the order is reversed.
            sign = 1.0 if side == 1 else -1.0
            half = 0.5 * distance[c] * sign
            load, body = out[m], geoms[geom].body
            load.contact = c
            load.patch = geoms[geom].patch
            load.body = patch_bodies[load.patch]
            load.other_patch = geoms[other].patch if other >= 0 else -1
            load.radius, load.friction = radius, values[c, FRICTION]
            for i in range(3):
                point, force, normal, slip, turn = 0.0, 0.0, 0.0, 0.0, 0.0
                for k in range(3):
                    load.rotation[i, k] = body_rotations[body, i, k]
                    to_body = body_rotations[body, k, i]
                    world = position[c, k] + half * frame[c, k]
                    point += to_body * (world - body_positions[body, k])
                    force += to_body * wrench_world[c, k]
                    normal += to_body * frame[c, k]
                    slip += to_body * velocity[c, k]
                    turn += to_body * values[c, ANGULAR + k]
                load.point[i] = point
                load.force[i] = sign * force
                load.force_world[i] = sign * wrench_world[c, i]
                load.normal[i] = sign * normal
                # A contact has the velocity of object 2 relative to 1, a load that of the other surface.
                load.velocity[i], load.angular_velocity[i] = -sign * slip, -sign * turn
            place_other(load, geoms, other, body, body_positions, body_rotations)
            # The torque is about the point on the surface, not about the contact's position.
            for i in range(3):
                torque = 0.0
                for k in range(3):
                    torque += body_rotations[body, k, i] * wrench_world[c, 3 + k]
                j, k = (i + 1) % 3, (i + 2) % 3
                arm_j, arm_k = -half * load.normal[j] * sign, -half * load.normal[k] * sign
                load.torque[i] = sign * torque + arm_j * load.force[k] - arm_k * load.force[j]
            m += 1
    return m


@kernel(counted=False)
def place_other(load, geoms, other, body, body_positions, body_rotations):
    """Write the id, body and pose of the other geom into a load; the pose is in the load's body frame.

    Args:
        load: The load to write to, an entry of `loads.LOAD`.
        geoms: As in `resolve_loads`.
        other: Id of the other geom, or -1 for a flex, which has no pose.
        body: Id of the body on which the load acts.
        body_positions: As in `resolve_loads`.
        body_rotations: As in `resolve_loads`.
    """
    load.other, load.other_body = other, -1
    if other < 0:
        return
    geom = geoms[other]
    load.other_body = geom.body
    here, there = body_rotations[body], body_rotations[geom.body]
    for i in range(3):
        load.other_position[i] = 0.0
        for k in range(3):
            world = body_positions[geom.body, k] - body_positions[body, k]
            for j in range(3):
                world += there[k, j] * geom.position[j]
            load.other_position[i] += here[k, i] * world
        for j in range(3):
            load.other_rotation[i, j] = 0.0
            for k in range(3):
                turned = there[k, 0] * geom.rotation[0, j]
                turned += there[k, 1] * geom.rotation[1, j] + there[k, 2] * geom.rotation[2, j]
                load.other_rotation[i, j] += here[k, i] * turned
