"""Compute poses and velocities of bodies without changing the state of the engine."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np

from tactile_sim.engines import Engine


class BodyStates:
    """Computes poses and velocities in a separate MjData, so that the engine's data do not change."""

    def __init__(self, engine: Engine):
        self._engine = engine
        self._own = mujoco.MjData(engine.model)

    def read(self, bodies: Iterable[int]) -> np.ndarray:
        """Return poses and velocities of bodies in the world frame.

        Args:
            bodies: Body ids.

        Returns:
            (n, 13) position [m], quaternion wxyz, linear [m/s] and angular [rad/s] velocity of each body's
            origin.
        """
        model, data, own = self._engine.model, self._engine.data, self._own
        for name in ("qpos", "qvel", "mocap_pos", "mocap_quat"):
            getattr(own, name)[:] = getattr(data, name)
        mujoco.mj_kinematics(model, own)
        mujoco.mj_comPos(model, own)
        mujoco.mj_comVel(model, own)
        ids = list(bodies)
        states = np.empty((len(ids), 13))
        turning_first = np.empty(6)
        for state, body in zip(states, ids, strict=True):
            mujoco.mj_objectVelocity(model, own, mujoco.mjtObj.mjOBJ_XBODY, body, turning_first, 0)
            state[:3], state[3:7] = own.xpos[body], own.xquat[body]
            state[7:10], state[10:] = turning_first[3:], turning_first[:3]
        return states
