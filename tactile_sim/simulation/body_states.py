"""Where bodies are and how they move, for whoever asks in between."""

from __future__ import annotations

from collections.abc import Iterable

import mujoco
import numpy as np

from tactile_sim.engines import Engine


class BodyStates:
    """Reads bodies beside the simulation: nothing that the engine computes with is touched by it."""

    def __init__(self, engine: Engine):
        self._engine = engine
        self._own = mujoco.MjData(engine.model)

    def read(self, bodies: Iterable[int]) -> np.ndarray:
        """(n, 13) of bodies by their ids, in the world: position [m], quaternion wxyz, linear [m/s] and
        angular [rad/s] velocity of the body's origin."""
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
