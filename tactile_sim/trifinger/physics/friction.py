"""Replace MuJoCo's friction, which lifts sliding bodies, by Coulomb's law.

MuJoCo solves a convex problem in which normal and tangential directions are coupled: a contact that slides at
u [m/s] separates at μ|u| until it has a gap. A fingertip that lands obliquely on the table therefore bounces.
If the reference acceleration of the normal direction is reduced by μ|s|, where s is the difference between
tangential acceleration and reference, the solution of the same problem obeys Coulomb's law (De Saxcé and
Feng, "The bipotential method", 1998): the normal direction behaves as without sliding, and a friction of μN
opposes sliding. s depends on the solution, so it is iterated. Contacts that stick do not change.
"""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim import _core

ITERATIONS = 3
"""Maximum number of repeated solutions in a step."""
WITHIN = 0.005
"""Change of the normal velocity at a contact below which a solution is not repeated [m/s]."""


def apply_coulomb_friction(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Correct the contact forces; call this after ``mj_fwdConstraint``.

    Args:
        model: Compiled scene.
        data: Its state, with the constraint forces of the step.
    """
    if not data.ncon:
        return
    references, accelerations = data.efc_aref.copy(), np.empty(data.nefc)
    for _ in range(ITERATIONS):
        mujoco.mj_mulJacVec(model, data, accelerations, data.qacc)
        change = _core.shift_references(model._address, data._address, references, accelerations)
        if change * model.opt.timestep < WITHIN:
            return
        mujoco.mj_fwdConstraint(model, data)
