"""Search for contacts within the volumes of sites, in many environments."""

from __future__ import annotations

import copy

import mujoco
import numpy as np
from mujoco.batch import Batch

from tactile_sim.compilation import kernel

_SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER = (
    int(mujoco.mjtGeom.mjGEOM_SPHERE),
    int(mujoco.mjtGeom.mjGEOM_CAPSULE),
    int(mujoco.mjtGeom.mjGEOM_ELLIPSOID),
    int(mujoco.mjtGeom.mjGEOM_CYLINDER),
)


class Sites:
    """Poses of the sites in all environments, computed with MuJoCo's kinematics."""

    def __init__(self, model: mujoco.MjModel, num_envs: int):
        """Allocate memory for the poses of the sites in ``num_envs`` environments."""
        model = copy.copy(model)
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self._model = model
        self._batch = Batch(model, num_envs)
        self._positions, self._rotations = self._batch.bind("site_xpos"), self._batch.bind("site_xmat")

    def place(self, qpos: np.ndarray) -> None:
        """Compute the poses of the sites for generalized positions ``qpos`` (num_envs, nq)."""
        self._batch.qpos = np.where(np.isfinite(qpos), qpos, self._model.qpos0)
        self._batch.forward(stage=mujoco.mjtStage.mjSTAGE_POS.value)

    def contain(self, site: int, points: np.ndarray, envs: np.ndarray) -> np.ndarray:
        """Return whether points lie within a site.

        Args:
            site: Id of the site.
            points: (c, 3) positions in the world frame [m].
            envs: (c,) environment index of each point.

        Returns:
            (c,) bool.
        """
        inside = np.zeros(len(points), bool)
        _contain(
            points, envs, self._positions, self._rotations, site, int(self._model.site_type[site]),
            self._model.site_size[site], inside,
        )  # fmt: skip
        return inside


@kernel
def _contain(points, envs, positions, rotations, site, kind, size, inside):
    p = np.empty(3)
    for c in range(len(points)):
        center, rotation = positions[envs[c], site], rotations[envs[c], site]
        for i in range(3):
            p[i] = 0.0
            for k in range(3):
                p[i] += rotation[3 * k + i] * (points[c, k] - center[k])
        radius = p[0] ** 2 + p[1] ** 2
        if kind == _SPHERE:
            inside[c] = radius + p[2] ** 2 <= size[0] ** 2
        elif kind == _CAPSULE:
            inside[c] = radius + max(abs(p[2]) - size[1], 0.0) ** 2 <= size[0] ** 2
        elif kind == _ELLIPSOID:
            inside[c] = (p[0] / size[0]) ** 2 + (p[1] / size[1]) ** 2 + (p[2] / size[2]) ** 2 <= 1.0
        elif kind == _CYLINDER:
            inside[c] = radius <= size[0] ** 2 and abs(p[2]) <= size[1]
        else:
            inside[c] = abs(p[0]) <= size[0] and abs(p[1]) <= size[1] and abs(p[2]) <= size[2]
