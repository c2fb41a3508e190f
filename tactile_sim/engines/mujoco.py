"""Engines that keep the state of one environment in MuJoCo's MjData, and the MuJoCo engine."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import CommandError, EngineError
from tactile_sim.common.schema import described, indices, known, numbers, orientation, require_controls, whole
from tactile_sim.engines.contacts import Contacts, FlexContacts, read_contacts
from tactile_sim.engines.sensors import Sensors
from tactile_sim.scenes.faults import ignore_instability, log_warnings

log_warnings()

STATES = frozenset("time qpos qvel act ctrl qfrc_applied xfrc_applied mocap_pos mocap_quat eq_active".split())
"""Names of the state and input arrays."""
_STATE = mujoco.mjtState.mjSTATE_INTEGRATION
"""Components of MuJoCo's state that together determine all later states."""


STABILITY_WARNINGS = {
    int(mujoco.mjtWarning.mjWARN_BADQPOS): "position",
    int(mujoco.mjtWarning.mjWARN_BADQVEL): "velocity",
    int(mujoco.mjtWarning.mjWARN_BADQACC): "acceleration",
}


def keyframe_id(model: mujoco.MjModel, keyframe: str | None) -> int:
    """Return the id of a keyframe, or -1 for the initial state (None or an empty name).

    Raises:
        EngineError: The keyframe does not exist; the message suggests the nearest name.
    """
    if keyframe is None or (isinstance(keyframe, str) and not keyframe):
        return -1
    names = [model.key(k).name for k in range(model.nkey)]
    return names.index(known("reset: no keyframe", keyframe, names, EngineError))


class StateArrays:
    """Mixin that makes ``x.ctrl = values`` write to the existing array.

    The state and input arrays are views of the engine's memory. If an attribute were replaced with a new
    array, the engine would ignore that array.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        """Write ``value`` to the array if ``name`` is a state or input array; else set the attribute.

        Raises:
            CommandError: The values are not numbers or cannot be broadcast, or a control is not finite or too
                large; the array is then unchanged.
        """
        array = getattr(self, name, None) if name in STATES else None
        if not isinstance(array, np.ndarray):
            super().__setattr__(name, value)
        elif array is not value:
            try:
                given = np.asarray(value)
                kinds = "biuf" if array.dtype == bool else "iuf"
                if given.dtype.kind not in kinds or np.ma.isMaskedArray(value):
                    raise TypeError
                if name == "ctrl":
                    require_controls(given.astype(float))
                array[...] = given
            except (TypeError, ValueError, RuntimeError):  # RuntimeError: a tensor that requires gradients
                shape = array.shape
                raise CommandError(
                    f"{name}: must be numbers of shape {shape}, got {described(value)}"
                ) from None


class MjDataEngine(StateArrays, Sensors):
    """Base class that implements `Engine`, except for stepping, on MuJoCo's MjModel and MjData."""

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
        """Create an engine for a model, with new data or with existing data."""
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
        """Write the state and the inputs to ``out`` (state_size,); see `Engine.get_state`."""
        try:
            mujoco.mj_getState(self.model, self.data, out, _STATE)
        except TypeError:
            raise self._state_error("get_state: out", out) from None

    def set_state(self, values: np.ndarray) -> None:
        """Restore what `get_state` wrote; call `forward` to update everything else."""
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
        """Return poses and velocities (n, 13) of bodies; see `Engine.body_states`."""
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
        """Return the mean effective mass of a body at a point of its frame [kg]; see `Engine`."""
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
        """Set the pose and velocity of a body with a free joint; see `Engine.set_free_body`."""
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
        """Apply an impulse [N s] at a body's center of mass; see `Engine.strike`."""
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
        return self._values_at(0)[0]

    def _values_at(self, address: int) -> np.ndarray:
        return self._sensordata

    def _reset_data(self, keyframe: str | None) -> None:
        """Reset the data to the initial state or to a keyframe; see ``Engine.reset``."""
        mujoco.mj_resetDataKeyframe(self.model, self.data, keyframe_id(self.model, keyframe))

    def _degree_of_freedom(self, addresses: np.ndarray, index: int) -> str:
        """Describe the degree of freedom at an index, given the first index of each joint."""
        joint = int(np.searchsorted(addresses, index, side="right")) - 1
        name = self.model.joint(joint).name if joint >= 0 else ""
        return f"joint {name!r}" if name else f"degree of freedom {index}"


def first_bad(counts: list[int]) -> int | None:
    """Return the type of the warning that first indicated unstable physics, or None if it is stable.

    ``counts`` are the numbers of occurrences of each type of warning, indexed by mujoco.mjtWarning.
    """
    # Called twice for each step, so the usual case comes first.
    if not any(counts) or not any(counts[warning] for warning in STABILITY_WARNINGS):
        return None
    # Invalid values propagate, so the most frequent warning is the one that occurred first.
    return max(STABILITY_WARNINGS, key=counts.__getitem__)


_INTEGRATE = {
    "mjINT_EULER": mujoco.mj_Euler,
    "mjINT_RK4": lambda model, data: mujoco.mj_RungeKutta(model, data, 4),
    "mjINT_IMPLICIT": mujoco.mj_implicit,
    "mjINT_IMPLICITFAST": mujoco.mj_implicit,
    # This integrator has no public function. mj_step2 solves again from the same warm start, so the result is
    # bitwise identical.
    "mjINT_DISCRETE": mujoco.mj_step2,
}
"""Functions that complete a step after `mj_forward`, by the name of the integrator."""


class MujocoEngine(MjDataEngine):
    """One environment stepped by MuJoCo.

    A step can be taken in one call (``step``) or in two: ``forward`` computes poses, contacts, forces and
    sensors for the current state, and ``integrate`` advances to the next one. Between these two calls,
    everything in ``data`` belongs to the same state. The result of the two calls is bitwise identical to that
    of ``step``. Neither repeats what the last ``forward`` computed, unless state, inputs or options have
    changed since; after a change of other parts of ``model``, call ``mujoco.mj_forward``.
    """

    name = "mujoco"

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData | None = None):
        # MuJoCo would silently reset itself at a NaN; here ``fault`` reports it.
        ignore_instability()
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        super().__init__(model, data)
        try:
            self.reset()
        except mujoco.FatalError as error:  # for example, contacts need more memory than the scene provides
            raise EngineError(f"engine 'mujoco' cannot start: {' '.join(str(error).split())}") from None

    def _use_data(self, data: mujoco.MjData) -> None:
        super()._use_data(data)
        integrate = _INTEGRATE[mujoco.mjtIntegrator(self.model.opt.integrator).name]
        self._stepping = _core.Physics(self.model, data, integrate, require_controls)
        """Takes the steps, without checking their number."""
        methods = "step", "forward", "integrate"
        own = any(getattr(type(self), name) is not getattr(MujocoEngine, name) for name in methods)
        self.native = None if own or self.contact_source is None else self._stepping
        """What native code needs to take steps; None if a subclass changes what a step computes."""

    @property
    def time(self) -> float:
        """Time since the last reset [s]."""
        return self._stepping.time

    def step(self, n: int = 1) -> None:
        """Advance n time steps."""
        self._stepping.step(whole("step: n", n, error=EngineError))

    def forward(self) -> bool:
        """Compute everything for the current state; return False if nothing has changed since then."""
        return self._stepping.forward()

    def integrate(self) -> None:
        """Advance one time step from the state of the last ``forward``."""
        self._stepping.integrate()

    def fault(self) -> str | None:
        """Return why the physics has become unstable since the last reset, or None if it is stable."""
        if not self._stepping.unstable():
            return None
        counts = self.data.warning.number.tolist()
        warning = first_bad(counts)
        assert warning is not None
        place = ""
        if counts[warning] == 1:
            bad_position = warning == mujoco.mjtWarning.mjWARN_BADQPOS
            addresses = self.model.jnt_qposadr if bad_position else self.model.jnt_dofadr
            place = f" of {self._degree_of_freedom(addresses, self.data.warning[warning].lastinfo)}"
        return f"bad {STABILITY_WARNINGS[warning]}{place}"

    def reset(self, keyframe: str | None = None) -> None:
        """Reset to the initial state or to a keyframe, and compute everything as in `forward`."""
        self._reset_data(keyframe)
        mujoco.mj_forward(self.model, self.data)
