"""Step MuJoCo with the robot's action rules, Bullet's drag and Coulomb's law of friction."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim import _core
from tactile_sim.common.errors import EngineError, SceneError
from tactile_sim.common.schema import as_array, described
from tactile_sim.engines.mujoco import first_bad
from tactile_sim.scenes.faults import ignore_instability
from tactile_sim.trifinger.checks import InvalidValueError
from tactile_sim.trifinger.finger_types_data import get_number_of_fingers, joint_names, tip_link_names
from tactile_sim.trifinger.scene import TIP_SENSOR

MAX_MOTOR_TORQUE = 0.396
"""Maximum torque of a motor [N m]."""
SAFETY_KD = (0.08, 0.08, 0.04)
"""Safety damping gains of a finger's joints [N m s/rad]."""
GAINS: Mapping[str, tuple[Sequence[float], Sequence[float]]] = {
    "pro": ((15.0, 15.0, 9.0), (0.5, 1.0, 0.5)),
    "": ((10.0, 10.0, 10.0), (0.1, 0.3, 0.001)),
}
"""Position gains [N m/rad] and velocity gains [N m s/rad] of a finger's joints.

The key ``pro`` is for finger types whose names end in ``pro``, and the empty key is for all others.
"""
PUSH_SENSORS = ("fingerpro", "trifingerpro")
"""Finger types whose push sensors react to contact, as in PyBullet. All others read `NO_CONTACT`."""
SATURATION = 5.0
"""Approximate saturation force of the real robot's push sensors [N]."""
NO_CONTACT = 0.05
"""Reading of a push sensor without contact."""
LINK_DAMPING, DAMPING = 0.5, 0.04
"""Damping d of the robot's links and of other bodies [1/s]; see `dampings`."""
MAX_SPEED = 10.0
"""Maximum speed of a joint [rad/s]."""
ITERATIONS = 3
"""Maximum number of repeated solutions of the contact problem in a step; see `apply_coulomb_friction`."""
WITHIN = 0.005
"""Change of the normal velocity at a contact below which a solution is not repeated [m/s]."""


class Rules:
    """Action rules, which compute the applied motor torques from the desired action.

    For each joint, the rules first compute::

        τ = torque + kp (q* - q) - kd q̇

    Here, q and q̇ are the position and velocity of the joint. The desired action contains the torque, the
    position q* and, optionally, the gains kp and kd. If q* is NaN, τ is only the desired torque. Then τ is
    clamped to the maximum motor torque, reduced by the safety gain times q̇, and clamped again.

    Attributes:
        n: Number of joints.
        gains: (4, n) array that may be modified. The rows are kp [N m/rad], kd [N m s/rad], the safety gain
            [N m s/rad] and the maximum torque [N m].
        desired: (4, n) array with the desired action. The rows are torque [N m], position [rad], kp and kd.
            Values that are not set are NaN.
        applied: (3, n) array with the torque [N m], kp and kd that were applied in the last step.
    """

    def __init__(self, finger_type: str):
        """Create rules with the default gains of a finger type."""
        fingers = get_number_of_fingers(finger_type)
        self.n = 3 * fingers
        kp, kd = GAINS["pro" if finger_type.endswith("pro") else ""]
        self.gains = np.array([np.tile(row, fingers) for row in (kp, kd, SAFETY_KD, (MAX_MOTOR_TORQUE,) * 3)])
        self.desired = np.full((4, self.n), np.nan)
        self.applied = np.zeros((3, self.n))
        self.rest()

    def rest(self) -> None:
        """Set the desired action to zero torque without position control."""
        self.desired[:] = np.nan
        self.desired[0] = 0.0

    def desire(self, torque: ArrayLike, position: ArrayLike, kp: ArrayLike, kd: ArrayLike) -> None:
        """Set the desired action: arrays (n,), of which all but the torque may contain NaN.

        Raises:
            InvalidValueError: An array has the wrong shape, or a torque is NaN. The action does not change.
        """
        desired = np.empty((4, self.n))
        names = ("torque", "position", "position_kp", "position_kd")
        for row, values in enumerate((torque, position, kp, kd)):
            if type(values) is not np.ndarray or values.dtype != float or values.shape != (self.n,):
                array = as_array(values)
                if array.shape != (self.n,):
                    raise InvalidValueError(
                        f"action.{names[row]}: must be {self.n} numbers, one for each joint, got"
                        f" {described(values)}"
                    )
                values = array
            desired[row] = values
        if np.isnan(desired[0]).any():
            joint = int(np.isnan(desired[0]).argmax())
            raise InvalidValueError(
                f"action.torque: must be a number, got NaN for joint {joint}; use 0 for no torque"
            )
        self.desired = desired

    def apply(self, positions: np.ndarray, velocities: np.ndarray) -> None:
        """Compute ``applied`` for the joint positions [rad] and velocities [rad/s], arrays (n,)."""
        _core.apply_rules(self.desired, self.gains, positions, velocities, self.applied)


class FingerPhysics:
    """The physics of a robot and the scene around it.

    A step has two halves: `forward` computes poses, contacts and forces for the current
    state and the desired action, and `integrate` advances to the next state. Between the two calls, all
    values in ``data`` belong to the same state.

    Attributes:
        spec: The scene as an editable spec.
        model: The compiled scene.
        data: State of the scene.
        rules: Action rules, which also contain the desired action.
        torque: (n,) motor torques of the last step [N m].
        q: (n,) joint positions of the robot [rad], finger by finger; a view of ``data``.
        qd: (n,) joint velocities of the robot [rad/s]; a view of ``data``.
        tips: (n_fingers,) body ids of the tips.
        tip_normal_forces: (n_fingers,) sum of the normal forces on each tip in the last step [N]; a view of
            ``data``.
    """

    def __init__(
        self,
        spec: mujoco.MjSpec,
        finger_type: str,
        *,
        link_drag: bool = True,
        model: mujoco.MjModel | None = None,
    ):
        """Create the physics of a scene.

        Args:
            spec: Scene from `scene.load_spec`, possibly with added objects.
            finger_type: Finger type of the robot.
            link_drag: Whether to apply Bullet's drag to links and objects, and to limit joint speeds as in
                Bullet.
            model: The compiled scene. By default ``spec`` is compiled here.
        """
        self.spec = spec
        self.finger_type = finger_type
        self.rules = Rules(finger_type)
        self.torque = self.rules.applied[0]
        self._link_drag = link_drag
        model = model or spec.compile()
        self._use(model, mujoco.MjData(model))

    def edit(self, edit: Callable[[mujoco.MjSpec], object]) -> None:
        """Edit the scene. Everything that remains in the scene keeps its state.

        Edits replace ``spec``, ``model`` and ``data`` with new objects. Views of the old objects are not
        updated.

        Args:
            edit: Function that edits a copy of ``spec``.

        Raises:
            SceneError: The edited scene is invalid. Nothing changes.
        """
        spec = self.spec.copy()
        edit(spec)
        try:
            compiled = spec.recompile(self.model, self.data)
        except ValueError as error:
            raise SceneError(f"edited scene: {' '.join(str(error).split())}") from error
        self.spec = spec
        self._use(*compiled)

    def copied(self, data: mujoco.MjData) -> FingerPhysics:
        """Return a copy that uses ``data``, a copy of the data of this object."""
        new = copy.copy(self)
        new.rules = copy.deepcopy(self.rules)
        new.torque = new.rules.applied[0]
        new._view(self.model, data)
        return new

    def _use(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Use another model and data from now on."""
        self._view(model, data)
        self._motors[:] = self.torque
        mujoco.mj_forward(model, data)

    def _view(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Create the views of a model and its data."""
        ignore_instability()
        # MuJoCo would otherwise silently reset the state at a NaN.
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        self.model, self.data = model, data
        # The joints of a tree are contiguous.
        first, n = model.joint(joint_names(self.finger_type)[0]), self.rules.n
        dofs = slice(first.dofadr[0], first.dofadr[0] + n)
        self.q, self.qd = data.qpos[first.qposadr[0] :][:n], data.qvel[dofs]
        tips = tip_link_names(self.finger_type)
        self.tips = np.array([model.body(name).id for name in tips])
        sensor = model.sensor(tips[0] + TIP_SENSOR).adr[0]
        self.tip_normal_forces = data.sensordata[sensor : sensor + len(tips)]
        self._motors = data.qfrc_applied[dofs]
        self._warnings = data.warning.number
        self._dampings = dampings(model)

    def step(self) -> None:
        """Advance by one time step."""
        self.forward()
        self.integrate()

    def forward(self) -> None:
        """Compute poses, contacts and forces for the current state and the desired action."""
        model, data = self.model, self.data
        mujoco.mj_step1(model, data)
        self.rules.apply(self.q, self.qd)
        self._motors[:] = self.torque
        if self._link_drag:
            _core.add_drag(model._address, data._address, self._dampings)
        mujoco.mj_fwdActuation(model, data)
        mujoco.mj_fwdAcceleration(model, data)
        mujoco.mj_fwdConstraint(model, data)
        apply_coulomb_friction(model, data)
        mujoco.mj_sensorAcc(model, data)
        mujoco.mj_checkAcc(model, data)

    def integrate(self) -> None:
        """Advance from the state of the last `forward` to the next state."""
        mujoco.mj_Euler(self.model, self.data)
        if self._link_drag:
            _core.limit_speed(self.q, self.qd, self.model.opt.timestep, MAX_SPEED)

    def restart(self) -> None:
        """Clear data that depends on earlier steps, and compute poses and contacts.

        Call this after changing the state from outside. It clears the solver's warm start, the warnings that
        `check` reads, and the motor torques. As a result, identical states and actions cause bit-identical
        motion.
        """
        self.data.qacc_warmstart[:] = 0.0
        self._warnings[:] = 0
        self._motors[:] = 0.0
        mujoco.mj_forward(self.model, self.data)

    def check(self) -> None:
        """Check that the physics is stable.

        Raises:
            EngineError: The physics has become unstable since the last `restart`.
        """
        if first_bad(self._warnings.tolist()) is not None:
            raise EngineError(
                f"physics: unstable at {self.data.time:g} s, because gains, forces, speeds or the time step"
                " are too large; reset the robot, and the objects by set_state"
            )

    def push_sensors(self, forces: np.ndarray) -> np.ndarray:
        """Convert the sum of the normal forces on each tip (n_fingers,) [N] to readings, 0.05 to 1."""
        if self.finger_type not in PUSH_SENSORS:
            return np.full(len(forces), NO_CONTACT)
        return np.minimum(forces / SATURATION + NO_CONTACT, 1.0)


def dampings(model: mujoco.MjModel) -> np.ndarray:
    """Return the damping d (nbody,) of each body for Bullet's drag [1/s]; 0 for fixed bodies.

    On a body with mass m, inertia I, velocity v of the center of mass and angular velocity ω, the drag force
    and torque are (Bullet, ``btMultiBody``)::

        F = -d m v (1 + |v|)        T = -d I ω (1 + |ω|)

    d is 0.5/s for the robot's links, as in trifinger_simulation, and Bullet's default of 0.04/s for other
    bodies. Controllers that were tuned in PyBullet depend on this drag.
    """
    links = model.body_rootid == model.body_rootid[model.body("base_link").id]
    # Bodies that are welded to the world have the weld id 0.
    return np.where(model.body_weldid == 0, 0.0, np.where(links, LINK_DAMPING, DAMPING))


def apply_coulomb_friction(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Replace MuJoCo's friction, which lifts sliding bodies, by Coulomb's law, after ``mj_fwdConstraint``.

    MuJoCo solves a convex problem in which normal and tangential directions are coupled: a contact that
    slides at u [m/s] separates at μ|u| until it has a gap. A fingertip that lands obliquely on the table
    therefore bounces. If the reference acceleration of the normal direction is reduced by μ|s|, where s is
    the difference between tangential acceleration and reference, the solution of the same problem obeys
    Coulomb's law (De Saxcé and Feng, "The bipotential method", 1998): the normal direction behaves as without
    sliding, and a friction of μN opposes sliding. s depends on the solution, so it is iterated. Contacts that
    stick do not change.
    """
    if not data.ncon:
        return
    references, accelerations = data.efc_aref.copy(), np.empty(data.nefc)
    for _ in range(ITERATIONS):
        mujoco.mj_mulJacVec(model, data, accelerations, data.qacc)
        change = _core.shift_references(model._address, data._address, references, accelerations)
        if change * model.opt.timestep < WITHIN:
            return
        mujoco.mj_fwdConstraint(model, data)
