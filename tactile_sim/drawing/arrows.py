"""Compute arrows for the normal and tangential contact forces and for the net force on each body."""

from __future__ import annotations

import numpy as np

from tactile_sim.engines import Contacts

MIN_LENGTH = 1e-4
"""Length below which arrows are not drawn [m]."""
NORMAL, TANGENT1, TANGENT2, NET, FRICTION = range(5)
"""Kinds of arrows. FRICTION is the sum of both tangential forces."""


def force_arrows(
    contacts: np.ndarray,
    origins: np.ndarray,
    rotations: np.ndarray,
    bodies: np.ndarray,
    wrenches: np.ndarray,
    scale: float,
    tangents: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the force arrows of contacts and bodies.

    Args:
        contacts: Quantities of c contacts, as in ``Contacts.values`` (c, Contacts.WIDTH). The forces are
            those on the second body of each contact.
        origins: Positions of all bodies (nbody, 3), world frame [m].
        rotations: Rotations of all bodies to the world frame (nbody, 3, 3).
        bodies: Ids of the bodies with net arrows (b,).
        wrenches: Net wrenches on these bodies (b, 6), body frames [N, N m].
        scale: Arrow length per unit of force [m/N].
        tangents: Whether to draw the friction along each tangent separately.

    Returns:
        points: Start and end point of each arrow (n, 2, 3), world frame [m].
        kinds: Kind of each arrow (n,): `NORMAL`, `TANGENT1`, `TANGENT2`, `NET` or `FRICTION`.
        sources: What each arrow belongs to (n,): an index into ``bodies`` for a net force, and into
            ``contacts`` for all other kinds.

        Arrows that are not longer than `MIN_LENGTH` are left out.
    """
    axes = contacts[:, Contacts.FRAME : Contacts.FRAME + 9].reshape(-1, 3, 3)
    forces = contacts[:, Contacts.WRENCH : Contacts.WRENCH + 3, None] * axes
    parts = [NORMAL, TANGENT1, TANGENT2]
    if not tangents:
        forces, parts = np.stack([forces[:, 0], forces[:, 1] + forces[:, 2]], axis=1), [NORMAL, FRICTION]
    net = np.einsum("bij,bj->bi", rotations[bodies], wrenches[:, :3])
    vectors = scale * np.concatenate([forces.reshape(-1, 3), net])
    positions = np.repeat(contacts[:, Contacts.POSITION : Contacts.POSITION + 3], len(parts), axis=0)
    starts = np.concatenate([positions, origins[bodies]])
    points = np.stack([starts, starts + vectors], axis=1)
    kinds = np.concatenate([np.tile(parts, len(contacts)), np.full(len(bodies), NET)])
    sources = np.concatenate([np.repeat(np.arange(len(contacts)), len(parts)), np.arange(len(bodies))])
    drawn = np.linalg.norm(vectors, axis=1) > MIN_LENGTH
    return points[drawn], kinds[drawn], sources[drawn]
