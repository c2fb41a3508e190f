"""MuJoCo behind the engine interface."""

from __future__ import annotations

import logging

import mujoco
import numpy as np

from tactile_sim.engines.contacts import Contacts, read_contacts
from tactile_sim.engines.mujoco_sensors import MujocoSensors
from tactile_sim.errors import EngineError, suggest

# MuJoCo would write its warnings into a file in the working directory.
mujoco.set_mju_user_warning(logging.getLogger("tactile_sim.mujoco").warning)

STABILITY_WARNINGS = {
    int(mujoco.mjtWarning.mjWARN_BADQPOS): "position",
    int(mujoco.mjtWarning.mjWARN_BADQVEL): "velocity",
    int(mujoco.mjtWarning.mjWARN_BADQACC): "acceleration",
}


def first_bad(counts: list[int]) -> int | None:
    """Of MuJoCo's warnings, how often each came, the one that tells what made the physics unstable."""
    if not any(counts[warning] for warning in STABILITY_WARNINGS):
        return None
    # A bad number spreads: what has been bad the longest was the first.
    return max(STABILITY_WARNINGS, key=counts.__getitem__)


def keyframe_id(model: mujoco.MjModel, keyframe: str) -> int:
    """Id of a keyframe. Raises EngineError with the nearest name."""
    key = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, keyframe)
    if key < 0:
        names = [model.key(k).name for k in range(model.nkey)]
        raise EngineError(f"no keyframe {keyframe!r} in the scene{suggest(keyframe, names)}")
    return key


class MujocoEngine(MujocoSensors):
    """One MuJoCo model and its state.

    A step can be taken whole (``step``) or in two halves: ``forward`` computes poses, contacts, forces and
    sensors of the present state, ``integrate`` then goes to the next one. Between the halves everything in
    ``data`` belongs to one instant, and both halves together give bit for bit what ``step`` gives.
    """

    name = "mujoco"
    num_envs = 1

    def __init__(self, model: mujoco.MjModel):
        # MuJoCo would start over by itself at a NaN, unnoticed; here the user hears of it.
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        self.model = model
        self.data = mujoco.MjData(model)
        self._warnings = self.data.warning.number
        self._sensordata = self.data.sensordata.reshape(1, -1)
        self.timestep = float(model.opt.timestep)
        """[s]"""
        self.free_bodies = model.jnt_bodyid[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
        """Ids of the bodies with a free joint."""
        self._integrate = {
            mujoco.mjtIntegrator.mjINT_EULER: mujoco.mj_Euler,
            mujoco.mjtIntegrator.mjINT_RK4: lambda m, d: mujoco.mj_RungeKutta(m, d, 4),
            mujoco.mjtIntegrator.mjINT_IMPLICIT: mujoco.mj_implicit,
            mujoco.mjtIntegrator.mjINT_IMPLICITFAST: mujoco.mj_implicit,
        }[mujoco.mjtIntegrator(model.opt.integrator)]
        self.reset()

    @property
    def time(self) -> float:
        """Time since the last reset [s]."""
        return self.data.time

    def step(self, n: int = 1) -> None:
        """Goes n time steps on."""
        mujoco.mj_step(self.model, self.data, n)

    def forward(self) -> None:
        """Computes all that follows from the present positions, velocities and controls."""
        mujoco.mj_checkPos(self.model, self.data)
        mujoco.mj_checkVel(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)
        mujoco.mj_checkAcc(self.model, self.data)

    def integrate(self) -> None:
        """Goes from the instant of the last ``forward`` to the next."""
        self._integrate(self.model, self.data)

    def fault(self) -> str | None:
        """What made the physics unstable since the last reset, or None."""
        counts = self._warnings.tolist()
        warning = first_bad(counts)
        if warning is None:
            return None
        last = self.data.warning[warning].lastinfo
        place = f" of {self._degree_of_freedom(warning, last)}" if counts[warning] == 1 else ""
        return f"bad {STABILITY_WARNINGS[warning]}{place}"

    def reset(self, keyframe: str | None = None) -> None:
        """Goes back to the initial state, or to that of a keyframe.

        Raises EngineError for an unknown keyframe.
        """
        if keyframe:
            mujoco.mj_resetDataKeyframe(self.model, self.data, keyframe_id(self.model, keyframe))
        else:
            mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)

    def contacts(self) -> Contacts:
        """The contacts of the last ``forward``."""
        return read_contacts(self.model, self.data)

    @property
    def body_positions(self) -> np.ndarray:
        """(nbody, 3) origins of the bodies, world [m]."""
        return self.data.xpos

    @property
    def body_rotations(self) -> np.ndarray:
        """(nbody, 3, 3) matrices that turn body vectors into world vectors."""
        return self.data.xmat.reshape(-1, 3, 3)

    @property
    def body_quaternions(self) -> np.ndarray:
        """(nbody, 4) orientations of the bodies in the world, wxyz."""
        return self.data.xquat

    def set_free_body(
        self, body: int, position: np.ndarray, quaternion: np.ndarray, linear: np.ndarray, angular: np.ndarray
    ) -> None:
        """Puts a body with a free joint somewhere.

        body: one of ``free_bodies``; position (3,) [m], quaternion (4,) wxyz, linear (3,) [m/s] and angular
        (3,) [rad/s] velocity, all in the world.
        """
        joint = self.model.body_jntadr[body]
        quaternion = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
        q, v = self.model.jnt_qposadr[joint], self.model.jnt_dofadr[joint]
        self.data.qpos[q : q + 3] = position
        self.data.qpos[q + 3 : q + 7] = quaternion
        self.data.qvel[v : v + 3] = linear
        # MuJoCo keeps a free body's angular velocity in the frame of the body.
        inverse = np.empty(4)
        mujoco.mju_negQuat(inverse, quaternion)
        mujoco.mju_rotVecQuat(self.data.qvel[v + 3 : v + 6], np.asarray(angular, float), inverse)
        self.data.qacc_warmstart[v : v + 6] = 0.0

    def _degree_of_freedom(self, warning: int, index: int) -> str:
        """The joint behind the index that MuJoCo leaves with a warning."""
        addresses = (
            self.model.jnt_qposadr if warning == mujoco.mjtWarning.mjWARN_BADQPOS else self.model.jnt_dofadr
        )
        joint = int(np.searchsorted(addresses, index, side="right")) - 1
        name = self.model.joint(joint).name if joint >= 0 else ""
        return f"joint {name!r}" if name else f"degree of freedom {index}"
