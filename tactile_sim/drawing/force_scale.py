"""How large the forces of a scene may be expected to be, for scales that stay as they are."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from tactile_sim.names import Names

SHARE = 0.1
"""Of the force on a whole body, what one taxel shows at the end of its scale."""


def full_scale(force: float) -> float:
    """A round force [N], 1, 2 or 5 times a power of ten, above the given one by a fifth or more."""
    wanted = max(1.2 * force, 1e-3)
    decade = 10.0 ** math.floor(math.log10(wanted))
    return next(step * decade for step in (1.0, 2.0, 5.0, 10.0) if step * decade >= wanted * (1 - 1e-9))


def weights(model: mujoco.MjModel) -> tuple[dict[str, float], float]:
    """Weights [N] to measure forces by.

    Returns:
        Those of free bodies that carry no other, by name: at rest on something, a skin all over such a body
        feels it. And that of the heaviest free body with all it carries; if none is free, of what moves.
    """
    gravity = float(np.linalg.norm(model.opt.gravity))
    free = model.jnt_bodyid[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
    names = Names(model)
    carried = model.body_subtreemass * gravity
    alone = {names.bodies[body]: float(carried[body]) for body in free if body not in model.body_parentid}
    moving = model.body_mass[model.body_weldid != 0].sum() * gravity
    return alone, float(max(carried[free], default=moving))


def taxel_scale(model: mujoco.MjModel) -> float:
    """The force [N] at the end of the colour scale of a taxel, by what the scene's bodies weigh."""
    return SHARE * full_scale(weights(model)[1])
