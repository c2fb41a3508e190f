"""Compute default servo gains from the inertia and weight that each joint moves."""

from __future__ import annotations

from collections.abc import Collection

import mujoco
import numpy as np

from tactile_sim.scenes.drives import followed_equalities

FREQUENCY = 5.0
"""Lowest natural frequency of a servo [Hz]."""
SAG = 0.004
"""Largest deflection of a hinge under gravity [rad], unless its effort limit is too low."""
SLIDE_SAG = 0.0005
"""Largest deflection of a slide joint under gravity [m], unless its effort limit is too low."""


class DefaultGains:
    """Default servo gains for the joints of a model in its initial pose.

    Each servo is critically damped. Its stiffness gives a natural frequency of at least `FREQUENCY` with the
    inertia about the joint, and limits the deflection under the weight of the moved bodies to `SAG` (or
    `SLIDE_SAG`) in any orientation. For a robot with a free base, the robot's total weight is used, because
    the joint may have to support it. A base on slide joints without actuators, like that of a planar robot,
    is also treated as free. The load on joints that follow another joint is added to the load on the leading
    joint.
    """

    def __init__(self, model: mujoco.MjModel, driven: Collection[int]):
        """Compute joint inertias in the initial pose.

        Args:
            model: The compiled scene.
            driven: Ids of the joints that have an actuator or will get one.
        """
        self._model, self._data, self._driven = model, mujoco.MjData(model), driven
        mujoco.mj_fwdPosition(model, self._data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, self._data, full)
        self._inertias = full.diagonal()

    def __call__(self, joint: int, limit: float) -> tuple[float, float]:
        """Return kp [N m/rad or N/m] and kd [N m s/rad or N s/m] for a position servo.

        Args:
            joint: Id of a hinge or slide joint.
            limit: Effort limit of the joint [N m or N]; may be infinite.
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
        """Return the largest effort of gravity on a joint [N m, N] and the moved inertia [kg m², kg]."""
        model, data = self._model, self._data
        body = int(model.jnt_bodyid[joint])
        root = int(model.body_rootid[body])
        moved = np.flatnonzero(self._descendants(body))
        distances = np.linalg.norm(data.xipos[moved] - data.xanchor[joint], axis=1)
        masses = model.body_mass[moved]
        slides = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
        load = float(masses.sum() if slides else masses @ distances)
        inertia = float(self._inertias[model.jnt_dofadr[joint]])
        if self._is_free(root):
            mass, reach = float(model.body_subtreemass[root]), float(distances.max())
            load = max(load, mass * (1.0 if slides else reach))
            inertia += mass * (1.0 if slides else reach**2)
        return float(np.linalg.norm(model.opt.gravity)) * load, inertia

    def _is_free(self, root: int) -> bool:
        """Return whether a root body has a free joint, or a slide joint without an actuator."""
        first = int(self._model.body_jntadr[root])
        joints = range(first, first + int(self._model.body_jntnum[root]))
        kinds = {int(self._model.jnt_type[joint]) for joint in joints if joint not in self._driven}
        return bool(kinds & {int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_SLIDE)})

    def _descendants(self, body: int) -> np.ndarray:
        """Return a mask (nbody,) that selects a body and all its descendants."""
        below = np.zeros(self._model.nbody, bool)
        below[body] = True
        for other in range(body + 1, self._model.nbody):  # parents come first
            below[other] |= below[self._model.body_parentid[other]]
        return below
