"""Search for contacts within the volumes of sites, in many environments."""

from __future__ import annotations

import copy

import mujoco
import numpy as np
from mujoco.batch import Batch


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
        offset = (points - self._positions[envs, site])[:, :, None]
        rotation = self._rotations[envs, site].reshape(-1, 3, 3)
        x, y, z = (rotation * offset).sum(axis=1).T
        a, b, c = self._model.site_size[site]
        radius = x**2 + y**2
        match int(self._model.site_type[site]):
            case mujoco.mjtGeom.mjGEOM_SPHERE:
                return radius + z**2 <= a**2
            case mujoco.mjtGeom.mjGEOM_CAPSULE:
                return radius + np.maximum(np.abs(z) - b, 0.0) ** 2 <= a**2
            case mujoco.mjtGeom.mjGEOM_ELLIPSOID:
                return (x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2 <= 1.0
            case mujoco.mjtGeom.mjGEOM_CYLINDER:
                return (radius <= a**2) & (np.abs(z) <= b)
        return (np.abs(x) <= a) & (np.abs(y) <= b) & (np.abs(z) <= c)
