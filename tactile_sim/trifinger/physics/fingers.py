"""A finger robot that moves: MuJoCo with the robot's action rules and Bullet's drag in each step."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.compilation import kernel
from tactile_sim.engines.mujoco import first_bad
from tactile_sim.errors import EngineError, SceneError
from tactile_sim.trifinger.physics.drag import Drag, add_drag, limit_speed
from tactile_sim.trifinger.physics.rules import Rules, apply_rules
from tactile_sim.trifinger.robot.spec import TIP_SENSOR, joint_names, tip_link_names


class FingerPhysics:
    """One robot, and what else is in its spec.

    A step has two halves, as the package's engines have: `forward` computes poses, contacts and forces of the
    present state under what ``rules`` desire, `integrate` goes to the next. In between, all of ``data`` is of
    one instant.

    Attributes: ``spec``, ``model`` and ``data`` of MuJoCo; ``rules``; ``q`` and ``qd`` (n,), the robot's
    joint positions [rad] and velocities [rad/s], finger by finger, seen in ``data``.
    """

    def __init__(
        self,
        spec: mujoco.MjSpec,
        finger_type: str,
        *,
        link_drag: bool = True,
        model: mujoco.MjModel | None = None,
    ):
        """Args:
        spec: of `robot.spec.load_spec`, with whatever was added.
        finger_type: ``trifingerpro``, ...
        link_drag: whether Bullet's drag acts, and its limit of joint speeds.
        model: what the spec compiles to, where that is known.
        """
        self.spec = spec
        self.rules = Rules(finger_type)
        self.torque = self.rules.applied[0]
        """(n,) what the motors gave in the last step [N m]."""
        self._finger_type = finger_type
        self._link_drag = link_drag
        model = model or spec.compile()
        self._see(model, mujoco.MjData(model))

    def edit(self, edit: Callable[[mujoco.MjSpec], object]) -> None:
        """Changes the world while it is there: all that remains stays as it is.

        edit: called with a copy of ``spec``. ``spec``, ``model``, ``data`` and what is seen in them are other
        objects then. Raises SceneError for what cannot be; nothing has changed then.
        """
        spec = self.spec.copy()
        edit(spec)
        try:
            seen = spec.recompile(self.model, self.data)
        except ValueError as error:
            raise SceneError(f"the scene cannot be changed so: {' '.join(str(error).split())}") from error
        self.spec = spec
        self._see(*seen)

    def _see(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        # MuJoCo would start over by itself at a NaN, unnoticed.
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        self.model, self.data = model, data
        self.time_step = float(model.opt.timestep)
        """[s]"""
        # A tree's joints follow each other, whatever else is in the world.
        first, n = model.joint(joint_names(self._finger_type)[0]), self.rules.n
        self.positions = slice(first.qposadr[0], first.qposadr[0] + n)
        """Of the robot's joints in ``qpos``."""
        self.dofs = slice(first.dofadr[0], first.dofadr[0] + n)
        """The same in ``qvel``."""
        self.q, self.qd = data.qpos[self.positions], data.qvel[self.dofs]
        tips = tip_link_names(self._finger_type)
        self.tips = np.array([model.body(name).id for name in tips])
        """(fingers,) ids of the bodies of the tips."""
        sensor = model.sensor(tips[0] + TIP_SENSOR).adr[0]
        self.tip_normal_forces = data.sensordata[sensor : sensor + len(tips)]
        """(fingers,) sum of the normal forces on each tip in the last step [N]; seen in ``data``."""
        self._motors = data.qfrc_applied[self.dofs]
        self._passive = data.qfrc_passive
        self._warnings = data.warning.number
        self._drag = Drag(model, data) if self._link_drag else None
        self._motors[:] = self.torque
        mujoco.mj_forward(model, data)

    def step(self) -> None:
        """Goes one time step on."""
        self.forward()
        self.integrate()

    def forward(self) -> None:
        """Computes all that follows from the present state and from what is desired."""
        model, data, rules, drag = self.model, self.data, self.rules, self._drag
        mujoco.mj_step1(model, data)
        if drag is None:
            apply_rules(rules.desired, rules.gains, self.q, self.qd, rules.applied)
            self._motors[:] = self.torque
        else:
            _act(
                rules.desired, rules.gains, self.q, self.qd, rules.applied, self._motors,
                *drag.arrays, self._passive,
            )  # fmt: skip
        mujoco.mj_fwdActuation(model, data)
        mujoco.mj_fwdAcceleration(model, data)
        mujoco.mj_fwdConstraint(model, data)
        mujoco.mj_sensorAcc(model, data)
        mujoco.mj_checkAcc(model, data)

    def integrate(self) -> None:
        """Goes from the instant of the last `forward` to the next."""
        mujoco.mj_Euler(self.model, self.data)
        if self._drag is not None:
            limit_speed(self.q, self.qd, self.time_step)

    def set(self, positions: ArrayLike, velocities: ArrayLike) -> None:
        """Puts the joints somewhere at once: (n,) [rad], (n,) [rad/s]. The rest of the world stays."""
        self.q[:] = positions
        self.qd[:] = velocities
        self.restart()

    def restart(self) -> None:
        """Forgets what the solver remembers of earlier steps: to be called where a state was set by hand.

        From equal states on, equal actions then give the same motion bit for bit. Poses and contacts are
        those of the state, with the motors at rest.
        """
        self.data.qacc_warmstart[:] = 0.0
        self._warnings[:] = 0
        self._motors[:] = 0.0
        mujoco.mj_forward(self.model, self.data)

    def check(self) -> None:
        """Raises EngineError where the physics became unstable."""
        if first_bad(self._warnings.tolist()) is not None:
            raise EngineError(
                f"the physics became unstable at {self.data.time:g} s: gains, forces, speeds or the time step"
                " are too large; reset the robot, and put objects back by set_state"
            )


@kernel(
    "void(f8[:,::1], f8[:,::1], f8[::1], f8[::1], f8[:,::1], f8[::1],"
    "i8[:,::1], f8[::1], i4[::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1],"
    "f8[:,::1], f8[::1])",
)
def _act(
    desired, gains, positions, velocities, applied, motors,
    bodies, dampings, roots, masses, inertias, positions_of_mass, axes, moves, centres, joint_axes, wrenches,
    passive,
):  # fmt: skip
    """The rules and the drag in one call: these are short, and calls are not."""
    apply_rules(desired, gains, positions, velocities, applied)
    motors[:] = applied[0]
    add_drag(
        bodies, dampings, roots, masses, inertias, positions_of_mass, axes, moves, centres, joint_axes,
        wrenches, passive,
    )  # fmt: skip
