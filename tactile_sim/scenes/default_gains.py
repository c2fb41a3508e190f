"""Default gains of servos, computed from the inertia and weight that they move."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.scenes.drives import followed_equalities

FREQUENCY = 5.0
"""Least natural frequency of a servo [Hz]."""
SAG = 0.004
"""Largest angle by which gravity displaces a hinge [rad], if its effort suffices."""
SLIDE_SAG = 0.0005
"""Largest distance by which gravity displaces a slide [m], if its effort suffices."""


class DefaultGains:
    """Gains for the joints of a model in its initial pose.

    A servo is critically damped. Its stiffness gives at least the natural `FREQUENCY` with the inertia about
    the joint, and holds the weight of the moved bodies within `SAG` in any orientation. The moved bodies may
    support a robot with a free base, so its whole weight counts. Joints that follow another one add to it.
    """

    def __init__(self, model: mujoco.MjModel):
        """Compute inertias of the initial pose."""
        self._model, self._data = model, mujoco.MjData(model)
        mujoco.mj_fwdPosition(model, self._data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, self._data, full)
        self._inertias = full.diagonal()

    def __call__(self, joint: int, limit: float) -> tuple[float, float]:
        """Return kp [N m/rad or N/m] and kd [N m s/rad or N s/m] of a position servo.

        Args:
            joint: Id of a hinge or slide joint.
            limit: Its largest effort [N m or N], possibly infinite.
        """
        model = self._model
        weight, inertia = self._load(joint)
        for equality, leader in followed_equalities(model).items():
            if leader == joint:  # it moves this joint, too
                ratio = abs(float(model.eq_data[equality, 1]))
                more = self._load(int(model.eq_obj1id[equality]))
                weight, inertia = weight + ratio * more[0], inertia + ratio**2 * more[1]
        slides = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
        kp = max(
            inertia * (2.0 * np.pi * FREQUENCY) ** 2, min(weight, limit) / (SLIDE_SAG if slides else SAG)
        )
        return kp, 2.0 * float(np.sqrt(kp * inertia))

    def _load(self, joint: int) -> tuple[float, float]:
        """Return the largest effort of gravity on a joint [N m or N], and the inertia [kg m² or kg]."""
        model, data = self._model, self._data
        body = int(model.jnt_bodyid[joint])
        root = int(model.body_rootid[body])
        moved = np.flatnonzero(self._descendants(body))
        distances = np.linalg.norm(data.xipos[moved] - data.xanchor[joint], axis=1)
        masses = model.body_mass[moved]
        slides = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
        load = float(masses.sum() if slides else masses @ distances)
        inertia = float(self._inertias[model.jnt_dofadr[joint]])
        first = int(model.body_jntadr[root])
        if first >= 0 and model.jnt_type[first] == mujoco.mjtJoint.mjJNT_FREE:
            mass, reach = float(model.body_subtreemass[root]), float(distances.max())
            load = max(load, mass * (1.0 if slides else reach))
            inertia += mass * (1.0 if slides else reach**2)
        return float(np.linalg.norm(model.opt.gravity)) * load, inertia

    def _descendants(self, body: int) -> np.ndarray:
        """Return a mask (nbody,) of a body and all below it."""
        below = np.zeros(self._model.nbody, bool)
        below[body] = True
        for other in range(body + 1, self._model.nbody):  # parents come first
            below[other] |= below[self._model.body_parentid[other]]
        return below
