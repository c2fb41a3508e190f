"""Commands to joints and actuators, checked and turned into controls and forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from tactile_sim.config import match
from tactile_sim.engines.mjdata_engine import LARGEST
from tactile_sim.errors import CommandError, suggest
from tactile_sim.names import Names

_SCALAR = [int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)]
_FIELDS = ("position", "velocity", "effort")


@dataclass(frozen=True)
class JointCommand:
    """What a JointState asks for: each array empty or as long as ``name``; NaN leaves a joint alone."""

    name: Sequence[str]
    position: np.ndarray
    """[rad] or [m]"""
    velocity: np.ndarray
    """[rad/s] or [m/s]"""
    effort: np.ndarray
    """[N m] or [N]"""


class Commander:
    """Holds the last command and lets it act.

    A position goes to the joint's position actuator, a velocity to its velocity actuator, an effort to its
    motor. What has no such actuator acts as a force: kp (position − q) + kd (velocity − q̇) + effort, through
    the motor where there is one (and within its limits), else applied to the joint.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        names: Names,
        gains: Mapping[str, Mapping[str, float]],
        where: str = "gains",
    ):
        """gains: ``kp`` and ``kd`` by joint name or shell pattern; where: how errors call that table.

        Raises ConfigError for an entry that speaks for no hinge or slide joint.
        """
        self._model = model
        self._joints = np.flatnonzero(np.isin(model.jnt_type, _SCALAR))
        self.joint_names = [names.joints[j] for j in self._joints]
        """The hinge and slide joints: those that joint states list and commands may name."""
        self.qpos = model.jnt_qposadr[self._joints]
        self.dofs = model.jnt_dofadr[self._joints]
        self._index = {name: k for k, name in enumerate(self.joint_names)}
        self._actuators = {field: np.full(len(self._joints), -1) for field in _FIELDS}
        self._find_actuators()
        chosen = match(gains, self.joint_names, where, "hinge or slide joint")
        entries = [gains.get(chosen.get(name, ""), {}) for name in self.joint_names]
        self._kp, self._kd = (np.array([entry.get(key, 0.0) for entry in entries]) for key in ("kp", "kd"))
        self.release()

    def release(self) -> None:
        """Forgets all commands."""
        self._targets = {field: np.full(len(self._joints), np.nan) for field in _FIELDS}
        self._choose()

    def check_controls(self, controls: Sequence[float]) -> np.ndarray:
        """The raw actuator vector (nu,), NaN where an actuator is left alone. Raises CommandError."""
        values = np.asarray(controls, float)
        if values.shape != (self._model.nu,):
            raise CommandError(f"ctrl has {values.size} values; the scene has {self._model.nu} actuators")
        huge = np.abs(values) >= LARGEST
        if huge.any():
            k = int(np.argmax(huge))
            raise CommandError(f"ctrl[{k}] is {values[k]:g}; it must be finite and below {LARGEST:g}")
        return values

    def check(self, command: JointCommand) -> dict[str, np.ndarray]:
        """Targets (joints,) of a command by field, NaN where it says nothing. Raises CommandError."""
        unknown = next((name for name in command.name if name not in self._index), None)
        if unknown is not None:
            raise CommandError(f"joint_commands: no joint {unknown!r}{suggest(unknown, self.joint_names)}")
        if len(set(command.name)) < len(command.name):
            twice = next(name for name in command.name if list(command.name).count(name) > 1)
            raise CommandError(f"joint_commands names joint {twice!r} twice")
        where = [self._index[name] for name in command.name]
        targets = {}
        for field in _FIELDS:
            values = np.asarray(getattr(command, field), float)
            if len(values) not in (0, len(where)):
                raise CommandError(
                    f"joint_commands: {field} has {len(values)} values for {len(where)} names; "
                    "it must be empty or as long"
                )
            huge = np.abs(values) >= LARGEST
            if huge.any():
                k = int(np.argmax(huge))
                raise CommandError(
                    f"joint_commands: {field} of joint {command.name[k]!r} is {values[k]:g}; "
                    f"it must be finite and below {LARGEST:g}"
                )
            targets[field] = np.full(len(self._joints), np.nan)
            if len(values):
                targets[field][where] = values
        for field, gain, key in (("position", self._kp, "kp"), ("velocity", self._kd, "kd")):
            # A velocity beside a position only helps the feedback; alone it needs a way to act.
            helpless = ~np.isnan(targets[field]) & (self._actuators[field] < 0) & (gain == 0.0)
            if field == "velocity":
                helpless &= np.isnan(targets["position"])
            if helpless.any():
                name = self.joint_names[int(np.argmax(helpless))]
                raise CommandError(
                    f"joint_commands: joint {name!r} has no {field} actuator and no gain; "
                    f"set gains: {{{name}: {{{key}: ...}}}}, or command its effort"
                )
        return targets

    def accept(self, targets: Mapping[str, np.ndarray], data: mujoco.MjData) -> None:
        """Takes over what ``check`` gave; joints that it leaves alone keep their last command."""
        for field in _FIELDS:
            spoken = ~np.isnan(targets[field])
            self._targets[field][spoken] = targets[field][spoken]
            if field != "effort":
                direct = np.flatnonzero(spoken & (self._actuators[field] >= 0))
                actuators = self._actuators[field][direct]
                # An actuator's length is its gear times the joint's coordinate.
                data.ctrl[actuators] = targets[field][direct] * self._model.actuator_gear[actuators, 0]
        self._choose()

    def yield_to(self, controls: np.ndarray, data: mujoco.MjData) -> None:
        """Forgets what was asked of the joints behind the raw controls of a mask (nu,)."""
        if not len(controls):
            return
        joints = np.any([(own >= 0) & controls[own] for own in self._actuators.values()], axis=0)
        for target in self._targets.values():
            target[joints] = np.nan
        data.qfrc_applied[self.dofs[joints]] = 0.0
        self._choose()

    def _choose(self) -> None:
        """Which joints are held or tracked by feedback, and on which a force acts."""
        servo = self._actuators["position"] >= 0
        self._holds = ~np.isnan(self._targets["position"]) & ~servo
        self._tracks = ~np.isnan(self._targets["velocity"]) & ~servo & (self._actuators["velocity"] < 0)
        self._forced = self._holds | self._tracks | ~np.isnan(self._targets["effort"])
        self.every_step = bool(self._forced.any())
        """Whether commands act through forces that must be renewed at each step."""

    def apply(self, data: mujoco.MjData) -> None:
        """Lets efforts and feedback act on the coming step."""
        if not self.every_step:
            return
        position, velocity, effort = (self._targets[field] for field in _FIELDS)
        force = np.nan_to_num(effort)
        speed = data.qvel[self.dofs]
        force += np.where(self._holds, self._kp * (position - data.qpos[self.qpos]), 0.0)
        wanted_speed = np.where(self._tracks, velocity, 0.0)
        force += np.where(self._holds | self._tracks, self._kd * (wanted_speed - speed), 0.0)
        motor = self._actuators["effort"]
        by_motor, applied = self._forced & (motor >= 0), self._forced & (motor < 0)
        chosen = motor[by_motor]
        strength = self._model.actuator_gear[chosen, 0] * self._model.actuator_gainprm[chosen, 0]
        data.ctrl[chosen] = force[by_motor] / strength
        data.qfrc_applied[self.dofs[applied]] = force[applied]

    def _find_actuators(self) -> None:
        """Which actuator of each joint takes which field, by MuJoCo's gain and bias."""
        model = self._model
        index = {int(joint): k for k, joint in enumerate(self._joints)}
        for a in range(model.nu):
            joint = index.get(int(model.actuator_trnid[a, 0]))
            if joint is None or model.actuator_trntype[a] != mujoco.mjtTrn.mjTRN_JOINT:
                continue
            if model.actuator_gaintype[a] != mujoco.mjtGain.mjGAIN_FIXED:
                continue
            if model.actuator_gainprm[a, 0] == 0 or model.actuator_gear[a, 0] == 0:
                continue
            if model.actuator_dyntype[a] == mujoco.mjtDyn.mjDYN_INTEGRATOR:
                continue  # its control is neither position nor velocity nor effort
            if model.actuator_biastype[a] == mujoco.mjtBias.mjBIAS_NONE:
                field = "effort"
            elif model.actuator_biasprm[a, 1] != 0:
                field = "position"
            elif model.actuator_biasprm[a, 2] != 0:
                field = "velocity"
            else:
                continue
            self._actuators[field][joint] = a
