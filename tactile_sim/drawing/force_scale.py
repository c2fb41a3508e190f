"""Estimate the forces to expect in a scene, so that scales need not change at run time."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from tactile_sim.names import Names

TAXEL_FRACTION = 0.1
"""Force at the end of a taxel's colour scale, as a fraction of `full_scale` of the heaviest body's weight."""


def full_scale(force: float) -> float:
    """Return a round upper end for a scale that must show a force [N].

    The result is 1, 2 or 5 times a power of ten. It is at least 1.2 times the force, and at least 1 mN.
    """
    least = max(1.2 * force, 1e-3)
    decade = 10.0 ** math.floor(math.log10(least))
    return next(step * decade for step in (1.0, 2.0, 5.0, 10.0) if step * decade >= least * (1 - 1e-9))


def weights(model: mujoco.MjModel) -> tuple[dict[str, float], float]:
    """Return the weights of bodies, from which the expected contact forces follow.

    Returns:
        single: Weight of each free body without children [N], keyed by body name. At rest, a skin that covers
            such a body measures its weight.
        heaviest: Weight of the heaviest free body including its descendants, or of all moving bodies
            together if none is free [N].
    """
    gravity = float(np.linalg.norm(model.opt.gravity))
    free = model.jnt_bodyid[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
    names = Names(model)
    carried = model.body_subtreemass * gravity
    alone = {names.bodies[body]: float(carried[body]) for body in free if body not in model.body_parentid}
    moving = model.body_mass[model.body_weldid != 0].sum() * gravity
    return alone, float(max(carried[free], default=moving))


def taxel_scale(model: mujoco.MjModel) -> float:
    """Return the force at the end of a taxel's colour scale [N], computed from the weights of the bodies."""
    return TAXEL_FRACTION * full_scale(weights(model)[1])
