"""Expected forces of a scene, for constant scales."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from tactile_sim.names import Names

TAXEL_FRACTION = 0.1
"""End of a taxel's scale relative to the expected force on a body."""


def full_scale(force: float) -> float:
    """Return 1, 2 or 5 times a power of ten that exceeds a force by at least 20 % [N]."""
    least = max(1.2 * force, 1e-3)
    decade = 10.0 ** math.floor(math.log10(least))
    return next(step * decade for step in (1.0, 2.0, 5.0, 10.0) if step * decade >= least * (1 - 1e-9))


def weights(model: mujoco.MjModel) -> tuple[dict[str, float], float]:
    """Return reference weights for contact forces.

    Returns:
        Weights of free bodies without children by name [N]; at rest, a skin that covers such a body measures
        its weight. Weight of the heaviest free body with its children, or of all moving bodies if none is
        free [N].
    """
    gravity = float(np.linalg.norm(model.opt.gravity))
    free = model.jnt_bodyid[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
    names = Names(model)
    carried = model.body_subtreemass * gravity
    alone = {names.bodies[body]: float(carried[body]) for body in free if body not in model.body_parentid}
    moving = model.body_mass[model.body_weldid != 0].sum() * gravity
    return alone, float(max(carried[free], default=moving))


def taxel_scale(model: mujoco.MjModel) -> float:
    """Return the reading at the end of a taxel's colour scale, from the weights of the bodies [N]."""
    return TAXEL_FRACTION * full_scale(weights(model)[1])
