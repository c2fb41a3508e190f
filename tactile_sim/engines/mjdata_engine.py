"""Base of engines that keep the state of one environment in MuJoCo's MjData."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.engines.contacts import Contacts, read_contacts
from tactile_sim.engines.mujoco.sensors import MujocoSensors
from tactile_sim.errors import EngineError, suggest

LARGEST = 1e10
"""Values from here on indicate unstable physics (MuJoCo's mjMAXVAL)."""


def keyframe_id(model: mujoco.MjModel, keyframe: str) -> int:
    """Return the id of a keyframe.

    Args:
        model: The model.
        keyframe: Name of the keyframe.

    Raises:
        EngineError: The keyframe does not exist; the message suggests the nearest name.
    """
    key = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, keyframe)
    if key < 0:
        names = [model.key(k).name for k in range(model.nkey)]
        raise EngineError(f"no keyframe {keyframe!r} in the scene{suggest(keyframe, names)}")
    return key


class MjDataEngine(MujocoSensors):
    """A MuJoCo model and its data behind the engine interface; subclasses add the stepping."""

    name: str
    num_envs = 1
    unsupported: list[str] = []
    """Features of the scene that the engine ignores or cannot report, one line for each."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData | None = None):
        """Wrap a model.

        Args:
            model: The model.
            data: Existing data to use.
        """
        self.model = model
        self.data = mujoco.MjData(model) if data is None else data
        self._sensordata = self.data.sensordata.reshape(1, -1)
        self._rotations = self.data.xmat.reshape(-1, 3, 3)
        self.timestep = float(model.opt.timestep)
        """Time step [s]."""
        self.free_bodies = model.jnt_bodyid[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
        """Ids of the bodies with a free joint."""

    @property
    def desired(self) -> np.ndarray:
        """Inputs besides the controls in ``data``: none."""
        return np.empty(0)

    @property
    def time(self) -> float:
        """Time since the last reset [s]."""
        return self.data.time

    def contacts(self) -> Contacts:
        """Return the contacts of the last ``forward``."""
        return read_contacts(self.model, self.data)

    @property
    def body_positions(self) -> np.ndarray:
        """(nbody, 3) origins of the bodies in the world [m]."""
        return self.data.xpos

    @property
    def body_rotations(self) -> np.ndarray:
        """(nbody, 3, 3) rotations from body frames to the world."""
        return self._rotations

    @property
    def body_quaternions(self) -> np.ndarray:
        """(nbody, 4) orientations of the bodies in the world, wxyz."""
        return self.data.xquat

    def set_free_body(
        self, body: int, position: np.ndarray, quaternion: np.ndarray, linear: np.ndarray, angular: np.ndarray
    ) -> None:
        """Set pose and velocity of a body with a free joint.

        Args:
            body: Id of the body, one of ``free_bodies``.
            position: (3,) origin in the world [m].
            quaternion: (4,) orientation in the world, wxyz; it is normalized.
            linear: (3,) linear velocity in the world [m/s].
            angular: (3,) angular velocity in the world [rad/s].
        """
        joint = self.model.body_jntadr[body]
        quaternion = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
        q, v = self.model.jnt_qposadr[joint], self.model.jnt_dofadr[joint]
        self.data.qpos[q : q + 3] = position
        self.data.qpos[q + 3 : q + 7] = quaternion
        self.data.qvel[v : v + 3] = linear
        # MuJoCo stores the angular velocity of a free joint in the body's frame.
        inverse = np.empty(4)
        mujoco.mju_negQuat(inverse, quaternion)
        mujoco.mju_rotVecQuat(self.data.qvel[v + 3 : v + 6], np.asarray(angular, float), inverse)
        self.data.qacc_warmstart[v : v + 6] = 0.0

    def strike(self, body: int, impulse: np.ndarray) -> None:
        """Apply an impulse at a body's centre of mass.

        All velocities change at once by M⁻¹ Jᵀ p, with the mass matrix M, the Jacobian J of the centre of
        mass and the impulse p. Contacts and limits react in the next step.

        Args:
            body: Id of the body.
            impulse: (3,) impulse in the world [N s].
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
        """(nsensordata,) values of all sensors in MuJoCo's layout."""
        return self._sensordata[0]

    def _reset_data(self, keyframe: str | None) -> None:
        """Reset the data to the initial state or to a keyframe; see ``Engine.reset``."""
        if keyframe:
            mujoco.mj_resetDataKeyframe(self.model, self.data, keyframe_id(self.model, keyframe))
        else:
            mujoco.mj_resetData(self.model, self.data)

    def _degree_of_freedom(self, addresses: np.ndarray, index: int) -> str:
        """Return the name of the joint with a position or velocity index, for messages.

        Args:
            addresses: First indices of the joints: ``jnt_qposadr`` or ``jnt_dofadr``.
            index: Index into qpos or qvel.
        """
        joint = int(np.searchsorted(addresses, index, side="right")) - 1
        name = self.model.joint(joint).name if joint >= 0 else ""
        return f"joint {name!r}" if name else f"degree of freedom {index}"
