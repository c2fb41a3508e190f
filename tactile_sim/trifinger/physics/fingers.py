"""Step the physics of a robot: MuJoCo with the action rules and Bullet's drag in each step."""

from __future__ import annotations

import copy
from collections.abc import Callable

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim import _core
from tactile_sim.engines.mujoco import first_bad
from tactile_sim.errors import EngineError, SceneError
from tactile_sim.mujoco_log import ignore_instability
from tactile_sim.trifinger.physics.drag import MAX_SPEED, dampings
from tactile_sim.trifinger.physics.friction import apply_coulomb_friction
from tactile_sim.trifinger.physics.rules import Rules
from tactile_sim.trifinger.robot.spec import TIP_SENSOR, joint_names, tip_link_names


class FingerPhysics:
    """The physics of a robot and the scene around it.

    As in the engines, a step has two halves: `forward` computes poses, contacts and forces for the current
    state and the desired action, and `integrate` advances to the next state. Between the two calls, all
    values in ``data`` belong to the same state.

    Attributes:
        spec: The scene as an editable spec.
        model: The compiled scene.
        data: State of the scene.
        rules: Action rules, which also contain the desired action.
        q: (n,) joint positions of the robot [rad], finger by finger; a view of ``data``.
        qd: (n,) joint velocities of the robot [rad/s]; a view of ``data``.
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
            spec: Scene from `robot.spec.load_spec`, possibly with added objects.
            finger_type: Finger type of the robot.
            link_drag: Whether to apply Bullet's drag to links and objects, and to limit joint speeds as in
                Bullet.
            model: The compiled scene. By default ``spec`` is compiled here.
        """
        self.spec = spec
        self.rules = Rules(finger_type)
        self.torque = self.rules.applied[0]
        """(n,) motor torques of the last step [N m]."""
        self._finger_type = finger_type
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
        self.time_step = float(model.opt.timestep)
        """Time step [s]."""
        # The joints of a tree are contiguous.
        first, n = model.joint(joint_names(self._finger_type)[0]), self.rules.n
        self.positions = slice(first.qposadr[0], first.qposadr[0] + n)
        """Slice of the robot's joints in ``qpos``."""
        self.dofs = slice(first.dofadr[0], first.dofadr[0] + n)
        """Slice of the robot's joints in ``qvel``."""
        self.q, self.qd = data.qpos[self.positions], data.qvel[self.dofs]
        tips = tip_link_names(self._finger_type)
        self.tips = np.array([model.body(name).id for name in tips])
        """(n_fingers,) body ids of the tips."""
        sensor = model.sensor(tips[0] + TIP_SENSOR).adr[0]
        self.tip_normal_forces = data.sensordata[sensor : sensor + len(tips)]
        """(n_fingers,) sum of the normal forces on each tip in the last step [N]; a view of ``data``."""
        self._motors = data.qfrc_applied[self.dofs]
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
            _core.limit_speed(self.q, self.qd, self.time_step, MAX_SPEED)

    def set(self, positions: ArrayLike, velocities: ArrayLike) -> None:
        """Set the robot's joint positions and velocities, and call `restart`. Objects do not change.

        Args:
            positions: (n,) joint positions [rad].
            velocities: (n,) joint velocities [rad/s].
        """
        self.q[:] = positions
        self.qd[:] = velocities
        self.restart()

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
