"""One environment whose state lies in MuJoCo's data, whichever engine moves it."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.engines.contacts import Contacts, read_contacts
from tactile_sim.engines.mujoco_sensors import MujocoSensors
from tactile_sim.errors import EngineError, suggest

LARGEST = 1e10
"""A number from here on is a sign that the physics broke (MuJoCo's mjMAXVAL)."""


def keyframe_id(model: mujoco.MjModel, keyframe: str) -> int:
    """Id of a keyframe. Raises EngineError with the nearest name."""
    key = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, keyframe)
    if key < 0:
        names = [model.key(k).name for k in range(model.nkey)]
        raise EngineError(f"no keyframe {keyframe!r} in the scene{suggest(keyframe, names)}")
    return key


class State(MujocoSensors):
    """A MuJoCo model and its data, read and set in the terms of the engine interface."""

    name: str
    num_envs = 1
    limits: list[str] = []
    """What the engine leaves out of the scene, or cannot tell of it: a line each."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData | None = None):
        """data: where the state lies already, if so."""
        self.model = model
        self.data = mujoco.MjData(model) if data is None else data
        self._sensordata = self.data.sensordata.reshape(1, -1)
        self._rotations = self.data.xmat.reshape(-1, 3, 3)
        self.timestep = float(model.opt.timestep)
        """[s]"""
        self.free_bodies = model.jnt_bodyid[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
        """Ids of the bodies with a free joint."""

    @property
    def desired(self) -> np.ndarray:
        """Nothing acts beside the controls in ``data``."""
        return np.empty(0)

    @property
    def time(self) -> float:
        """Time since the last reset [s]."""
        return self.data.time

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
        return self._rotations

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

    def strike(self, body: int, impulse: np.ndarray) -> None:
        """Gives a body a blow at its centre of mass: an impulse (3,) in the world [N s].

        All speeds change at once by M⁻¹ Jᵀ p, with the mass matrix M, the Jacobian J of that place and the
        impulse p; what touches or bounds the body answers in the next step.
        """
        model, data = self.model, self.data
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_factorM(model, data)
        jacobian, change = np.empty((3, model.nv)), np.empty((1, model.nv))
        mujoco.mj_jacBodyCom(model, data, jacobian, None, body)
        mujoco.mj_solveM(model, data, change, impulse[None] @ jacobian)
        data.qvel[:] += change[0]
        data.qacc_warmstart[:] = 0.0

    @property
    def sensor_data(self) -> np.ndarray:
        """(nsensordata,) what all sensors of the scene measure, as MuJoCo lays it out."""
        return self._sensordata[0]

    def _to_start(self, keyframe: str | None) -> None:
        """Puts the data back to the initial state or to a keyframe; EngineError for an unknown one."""
        if keyframe:
            mujoco.mj_resetDataKeyframe(self.model, self.data, keyframe_id(self.model, keyframe))
        else:
            mujoco.mj_resetData(self.model, self.data)

    def _degree_of_freedom(self, addresses: np.ndarray, index: int) -> str:
        """The joint behind an index; addresses: where the joints begin, ``jnt_qposadr`` or ``jnt_dofadr``."""
        joint = int(np.searchsorted(addresses, index, side="right")) - 1
        name = self.model.joint(joint).name if joint >= 0 else ""
        return f"joint {name!r}" if name else f"degree of freedom {index}"
