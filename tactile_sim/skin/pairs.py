"""Combine the contacts of a patch with one other body into a pair of surfaces that press on each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.solids import MESH
from tactile_sim.geometry.vectors import along, cross, dot, plus

APART = 0.7
"""Contacts with the same body are in separate pairs if the cosine between their normals is below this."""


class Pair(NamedTuple):
    """Combined contacts of a patch with one other body.

    Vectors are tuples of three, in the frame of the body with the patch unless noted.
    """

    first: int
    """Index of the pair's first load."""
    origin: tuple
    """Mean of the contact points, weighted by normal force [m]."""
    axes: tuple
    """Two tangents and the mean normal into the body, which are the x, y and z axes of the pair's frame."""
    force: tuple
    """Components of the net force along ``axes`` [N]."""
    moment: tuple
    """Components of the net moment about ``origin`` along ``axes`` [N m]."""
    velocity: tuple
    """Velocity of the other surface relative to the patch, at ``origin``, along ``axes`` [m/s]."""
    turn: tuple
    """Angular velocity of the other surface relative to the patch, along ``axes`` [rad/s]."""
    friction: float
    """Coefficient of sliding friction: the mean over the contacts, weighted by normal force."""


@kernel(counted=False)
def group_loads(loads, group):
    """Assign each load to a pair of surfaces that press on each other; return the number of pairs.

    Args:
        loads: (m,) loads, as an array of `loads.LOAD`.
        group: (m,) output: number of each load's pair. It is -1 for a load that cannot be spread over an
            area, because it pulls or because it touches a flex.
    """
    count = 0
    for m in range(len(loads)):
        load = loads[m]
        group[m] = -1
        if load.other < 0 or not 0.0 < dot(load.force, load.normal) < np.inf:
            continue
        for k in range(m):
            same = group[k] >= 0 and loads[k].patch == load.patch and loads[k].other_body == load.other_body
            if same and dot(loads[k].normal, load.normal) > APART:
                group[m] = group[k]
                break
        if group[m] < 0:
            group[m] = count
            count += 1
    return count


@kernel(error_model="numpy", counted=False)
def net_load(loads, group, number):
    """Combine the loads between one pair of surfaces into a `Pair`.

    Args:
        loads: (m,) loads, as an array of `loads.LOAD`.
        group: (m,) number of each load's pair, as written by `group_loads`.
        number: Number of the pair.
    """
    first, total, friction = -1, 0.0, 0.0
    origin, velocity, normal = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for m in range(len(loads)):
        if group[m] == number:
            load = loads[m]
            first = m if first < 0 else first
            push = dot(load.force, load.normal)
            total, friction = total + push, friction + push * load.friction
            origin = plus(origin, push, load.point)
            velocity = plus(velocity, push, load.velocity)
            normal = plus(normal, push, load.normal)
    none = (0.0, 0.0, 0.0)
    origin, velocity = plus(none, 1.0 / total, origin), plus(none, 1.0 / total, velocity)
    normal = plus(none, 1.0 / np.sqrt(dot(normal, normal)), normal)
    # A tangent: the axis that is farthest from the normal, made orthogonal to it.
    a, b, c = abs(normal[0]), abs(normal[1]), abs(normal[2])
    x, y = a <= b and a <= c, b < a and b <= c
    axis = (1.0, 0.0, 0.0) if x else (0.0, 1.0, 0.0) if y else (0.0, 0.0, 1.0)
    tangent = plus(axis, -dot(axis, normal), normal)
    tangent = plus(none, 1.0 / np.sqrt(dot(tangent, tangent)), tangent)
    axes = (tangent, cross(normal, tangent), normal)
    force, moment = none, none
    for m in range(len(loads)):
        if group[m] == number:
            load = loads[m]
            arm = plus(load.point, -1.0, origin)
            force = plus(force, 1.0, load.force)
            moment = plus(plus(moment, 1.0, load.torque), 1.0, cross(arm, load.force))
    turn = loads[first].angular_velocity  # the same for all contacts of two bodies
    return Pair(
        first, origin, axes, along(axes, force), along(axes, moment), along(axes, velocity),
        along(axes, (turn[0], turn[1], turn[2])), friction / total,
    )  # fmt: skip


@kernel(counted=False)
def has_mesh(loads, group, number, table):
    """Return whether any load between a pair of surfaces comes from a mesh or height field.

    Args:
        loads: As in `net_load`.
        group: As in `net_load`.
        number: As in `net_load`.
        table: `Solids.table`.
    """
    for m in range(len(loads)):
        if group[m] == number and table[loads[m].other].kind == MESH:
            return True
    return False
