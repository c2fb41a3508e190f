"""Base class of engines that keep the state of one environment in MuJoCo's MjData."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from tactile_sim.arguments import described, indices, numbers, orientation, whole
from tactile_sim.engines.contact_reader import read_contacts
from tactile_sim.engines.contacts import Contacts, FlexContacts
from tactile_sim.engines.keyframes import keyframe_id
from tactile_sim.engines.mujoco.sensors import MujocoSensors
from tactile_sim.engines.state_arrays import STATES, StateArrays
from tactile_sim.errors import CommandError, EngineError

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION
"""Components of MuJoCo's state that together determine all later states."""


class MjDataEngine(StateArrays, MujocoSensors):
    """Base class that implements the engine interface, except for stepping, on MuJoCo's MjModel and MjData.

    Users may access ``data``. Other packages of tactile_sim use only the members of the interface.
    """

    name: str
    num_envs = 1
    accepts_body_forces = True
    switches_equalities = True
    reports_flex_contacts = True
    unsupported: list[str] = []
    """Scene features that the engine ignores or cannot report, one line each."""
    contact_source: tuple[int, int] | None = None
    """Addresses of the mjModel and mjData from which `contacts` reads, or None if a subclass overrides it."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData | None = None):
        """Create an engine for a model.

        Args:
            model: MuJoCo model of the scene.
            data: Existing data to use; None creates new data.
        """
        self.model = model
        self._use_data(mujoco.MjData(model) if data is None else data)
        self.timestep = float(model.opt.timestep)
        """Time step [s]."""
        self.free_bodies = model.jnt_bodyid[model.jnt_type == mujoco.mjtJoint.mjJNT_FREE]
        """Ids of the bodies with a free joint."""

    def __deepcopy__(self, memo: dict[int, Any]) -> MjDataEngine:
        """Return an engine with a copy of the data and the same model."""
        new = memo[id(self)] = object.__new__(type(self))
        vars(new).update({name: own for name, own in vars(self).items() if name not in (*STATES, "_scratch")})
        new._use_data(copy.copy(self.data))
        return new

    def _use_data(self, data: mujoco.MjData) -> None:
        """Use this data for the state of the environment."""
        self.data = data
        if type(self).contacts is MjDataEngine.contacts:
            self.contact_source = self.model._address, data._address
        self._sensordata = self.data.sensordata.reshape(1, -1)
        self.qpos, self.qvel, self.ctrl = self.data.qpos, self.data.qvel, self.data.ctrl
        self.qfrc_applied, self.xfrc_applied = self.data.qfrc_applied, self.data.xfrc_applied
        self.mocap_pos, self.mocap_quat = self.data.mocap_pos, self.data.mocap_quat
        self.eq_active = self.data.eq_active
        self._rotations = self.data.xmat.reshape(-1, 3, 3)
        self._geom_rotations = self.data.geom_xmat.reshape(-1, 3, 3)

    @property
    def state_size(self) -> int:
        """Number of values that `get_state` writes."""
        return mujoco.mj_stateSize(self.model, _STATE)

    def get_state(self, out: np.ndarray) -> None:
        """Write the state and the inputs, which together determine all later states, to ``out``.

        Args:
            out: (state_size,) array to fill.

        Raises:
            EngineError: ``out`` has another size or type.
        """
        try:
            mujoco.mj_getState(self.model, self.data, out, _STATE)
        except TypeError:
            raise self._state_error("get_state: out", out) from None

    def set_state(self, values: np.ndarray) -> None:
        """Restore the state and inputs that `get_state` wrote; call `forward` to update everything else.

        Raises:
            EngineError: ``values`` has another size or type.
        """
        try:
            mujoco.mj_setState(self.model, self.data, values, _STATE)
        except TypeError:
            raise self._state_error("set_state: values", values) from None

    def _state_error(self, argument: str, value: object) -> EngineError:
        size = self.state_size
        return EngineError(f"{argument}: must be an array of floats ({size},), got {described(value)}")

    @property
    def time(self) -> float:
        """Time since the last reset [s]."""
        return self.data.time

    def contacts(self) -> Contacts:
        """Return the contacts of the last ``forward``."""
        return read_contacts(self.model, self.data)

    def _update_poses(self) -> None:
        """Compute poses and efforts if they are outdated.

        The base class does nothing, because MuJoCo computes them in each step.
        """

    @property
    def body_positions(self) -> np.ndarray:
        """(nbody, 3) positions of the body origins in the world [m]."""
        self._update_poses()
        return self.data.xpos

    @property
    def body_rotations(self) -> np.ndarray:
        """(nbody, 3, 3) rotations from body frames to the world."""
        self._update_poses()
        return self._rotations

    @property
    def body_quaternions(self) -> np.ndarray:
        """(nbody, 4) orientations of the bodies in the world, wxyz."""
        self._update_poses()
        return self.data.xquat

    @property
    def flex_vertices(self) -> np.ndarray:
        """(v, 3) vertices of all flexes in the world [m]."""
        return self.data.flexvert_xpos

    def flex_contacts(self) -> FlexContacts:
        """Return the ids of flexes, elements and vertices in the contacts of the last ``forward``."""
        contact = self.data.contact
        return FlexContacts(contact.flex, contact.elem, contact.vert)

    @property
    def geom_positions(self) -> np.ndarray:
        """(ngeom, 3) positions of the geoms in the world [m]."""
        self._update_poses()
        return self.data.geom_xpos

    @property
    def geom_rotations(self) -> np.ndarray:
        """(ngeom, 3, 3) rotations from geom frames to the world."""
        self._update_poses()
        return self._geom_rotations

    @property
    def joint_efforts(self) -> np.ndarray:
        """(nv,) generalized forces of the actuators and of ``qfrc_applied`` [N m, N]."""
        self._update_poses()
        return self.data.qfrc_actuator + self.qfrc_applied

    @cached_property
    def _scratch(self) -> mujoco.MjData:
        """Scratch data for `body_states`, which must leave ``data`` unchanged."""
        return mujoco.MjData(self.model)

    def body_states(self, bodies: Sequence[int]) -> np.ndarray:
        """Return the poses and velocities of bodies for the current ``qpos`` and ``qvel``.

        It is not necessary to call `forward` first.

        Args:
            bodies: Ids of n bodies.

        Returns:
            (n, 13) with one row for each body, in the world frame: position of the origin [m], orientation
            (quaternion wxyz), linear velocity [m/s] and angular velocity [rad/s].

        Raises:
            CommandError: A body does not exist.
        """
        model, own = self.model, self._scratch
        bodies = indices("body_states: bodies", bodies, model.nbody)
        for name in ("qpos", "qvel", "mocap_pos", "mocap_quat"):
            getattr(own, name)[:] = getattr(self.data, name)
        mujoco.mj_kinematics(model, own)
        mujoco.mj_comPos(model, own)
        mujoco.mj_comVel(model, own)
        states, angular_first = np.empty((len(bodies), 13)), np.empty(6)
        for state, body in zip(states, bodies, strict=True):
            mujoco.mj_objectVelocity(model, own, mujoco.mjtObj.mjOBJ_XBODY, body, angular_first, 0)
            state[:3], state[3:7] = own.xpos[body], own.xquat[body]
            state[7:10], state[10:] = angular_first[3:], angular_first[:3]
        return states

    def effective_mass(self, body: int, point: np.ndarray) -> float:
        """Return the effective mass of a body at a point [kg].

        The effective mass depends on the direction of the force. The result is its harmonic mean over all
        directions.

        Args:
            body: Id of the body.
            point: (3,) position of the point in the body's frame [m].

        Raises:
            CommandError: The body does not exist, or the point is invalid.
        """
        model, data = self.model, self.data
        body = whole("effective_mass: body", body, 0, model.nbody - 1)
        point = numbers("effective_mass: point", point, 3, unit="m")
        self._factor_mass_matrix()
        jacobian, solved = np.empty((3, model.nv)), np.empty((3, model.nv))
        world = data.xpos[body] + data.xmat[body].reshape(3, 3) @ point
        mujoco.mj_jac(model, data, jacobian, None, world, body)
        mujoco.mj_solveM(model, data, solved, jacobian)
        return 3.0 / max(float((jacobian * solved).sum()), 1e-9)

    def set_free_body(
        self, body: int, position: np.ndarray, quaternion: np.ndarray, linear: np.ndarray, angular: np.ndarray
    ) -> None:
        """Set the pose and velocity of a body with a free joint.

        Args:
            body: Id of the body, one of ``free_bodies``.
            position: (3,) position of the body's origin in the world [m].
            quaternion: (4,) orientation in the world, wxyz; it is normalized.
            linear: (3,) linear velocity in the world [m/s].
            angular: (3,) angular velocity in the world [rad/s].

        Raises:
            CommandError: The body has no free joint, or a value is invalid; the state is then unchanged.
        """
        if whole("set_free_body: body", body, 0, self.model.nbody - 1) not in self.free_bodies:
            raise CommandError(
                f"set_free_body: body: must be one of {self.free_bodies.tolist()}, the bodies with a free"
                f" joint, got {body}"
            )
        position = numbers("set_free_body: position", position, 3, unit="m")
        quaternion = orientation("set_free_body: quaternion", quaternion)
        linear = numbers("set_free_body: linear", linear, 3, unit="m/s")
        angular = numbers("set_free_body: angular", angular, 3, unit="rad/s")
        joint = self.model.body_jntadr[body]
        quaternion /= np.linalg.norm(quaternion)
        q, v = self.model.jnt_qposadr[joint], self.model.jnt_dofadr[joint]
        self.data.qpos[q : q + 3] = position
        self.data.qpos[q + 3 : q + 7] = quaternion
        self.data.qvel[v : v + 3] = linear
        # MuJoCo stores the angular velocity of a free joint in the body's frame.
        inverse = np.empty(4)
        mujoco.mju_negQuat(inverse, quaternion)
        mujoco.mju_rotVecQuat(self.data.qvel[v + 3 : v + 6], angular, inverse)
        self.data.qacc_warmstart[v : v + 6] = 0.0

    def strike(self, body: int, impulse: np.ndarray) -> None:
        """Apply an impulse at a body's centre of mass.

        The generalized velocities change immediately by M⁻¹ Jᵀ p, where M is the mass matrix, J the Jacobian
        of the centre of mass and p the impulse. Contacts and limits react in the next step.

        Args:
            body: Id of the body.
            impulse: (3,) impulse in the world [N s].

        Raises:
            CommandError: The body does not exist, or the impulse is invalid; the state is then unchanged.
        """
        model, data = self.model, self.data
        body = whole("strike: body", body, 0, model.nbody - 1)
        impulse = numbers("strike: impulse", impulse, 3, unit="N s")
        self._factor_mass_matrix()
        jacobian, change = np.empty((3, model.nv)), np.empty((1, model.nv))
        mujoco.mj_jacBodyCom(model, data, jacobian, None, body)
        mujoco.mj_solveM(model, data, change, impulse[None] @ jacobian)
        data.qvel[:] += change[0]
        data.qacc_warmstart[:] = 0.0

    def _factor_mass_matrix(self) -> None:
        """Compute poses and factorize the mass matrix at the current positions."""
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_makeM(self.model, self.data)
        mujoco.mj_factorM(self.model, self.data)

    @property
    def sensor_data(self) -> np.ndarray:
        """(nsensordata,) values of all sensors in MuJoCo's layout."""
        return self._sensordata[0]

    def _reset_data(self, keyframe: str | None) -> None:
        """Reset the data to the initial state or to a keyframe; see ``Engine.reset``."""
        mujoco.mj_resetDataKeyframe(self.model, self.data, keyframe_id(self.model, keyframe))

    def _degree_of_freedom(self, addresses: np.ndarray, index: int) -> str:
        """Describe the degree of freedom at a position or velocity index, for error messages.

        Args:
            addresses: First index of each joint, ``jnt_qposadr`` or ``jnt_dofadr``.
            index: Index into qpos or qvel.
        """
        joint = int(np.searchsorted(addresses, index, side="right")) - 1
        name = self.model.joint(joint).name if joint >= 0 else ""
        return f"joint {name!r}" if name else f"degree of freedom {index}"
