"""A scene in motrixsim, and states of it, in the terms of MuJoCo's model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from tactile_sim.engines.motrix_boundary import guarded, hushed, left_out, motrixsim
from tactile_sim.engines.motrix_contacts import WIDTH
from tactile_sim.engines.motrix_scene import (
    MOTOR,
    NET,
    PAIR,
    named,
    refuse_unknown,
    refuse_welds_to_the_world,
    write_mjcf,
)
from tactile_sim.errors import EngineError

_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
_XYZW = np.array([3, 0, 1, 2])
"""Where w, x, y, z of a quaternion lie in motrixsim's."""


class MotrixModel:
    """What motrixsim made of a scene, and where it keeps what MuJoCo calls qpos, qvel and ctrl."""

    def __init__(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, pairs: np.ndarray, nets: Sequence[int] = ()
    ) -> None:
        """pairs (p, 2): ids of the geoms whose contacts can be read; nets: ids of the contact sensors whose
        net forces can be, see ``net_force_is_told``.

        Raises EngineError where motrixsim is not installed, or does not take the scene.
        """
        self.package = motrixsim()
        spec = named(spec)
        names = spec.compile()
        refuse_welds_to_the_world(names)
        mjcf = write_mjcf(spec, names, pairs.tolist(), nets)
        with guarded("does not take the scene"), hushed() as lines:
            self.scene = self.package.load_mjcf_str(mjcf)
        self.pairs = pairs
        bases = {base.name: base for base in self.scene.floating_bases}
        joints = {joint.name: joint for joint in self.scene.joints}
        refuse_unknown(names, {*bases, *joints}, self.scene.actuator_names)
        self.positions = np.empty(model.nq, int)
        """(nq,) where motrixsim keeps each of ``qpos``"""
        self.velocities = np.empty(model.nv, int)
        """(nv,) and each of ``qvel``"""
        for joint in range(model.njnt):
            name, kind = names.joint(joint).name, model.jnt_type[joint]
            if kind == _FREE:
                start, speed = bases[name].dof_pos_start, bases[name].dof_vel_start
            else:
                index = joints[name].index
                start = self.scene.joint_dof_pos_indices[index]
                speed = self.scene.joint_dof_vel_indices[index]
            q, v = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
            where = {_FREE: np.array([0, 1, 2, *3 + _XYZW]), _BALL: _XYZW}.get(kind, np.zeros(1, int))
            self.positions[q : q + len(where)] = start + where
            width = {_FREE: 6, _BALL: 3}.get(kind, 1)
            self.velocities[v : v + width] = speed + np.arange(width)
        self.inputs = np.array([_input(name, names) for name in self.scene.actuator_names], int)
        """Of each of motrixsim's actuators, where its input lies in ``ctrl`` followed by ``qfrc_applied``."""
        sensors = {sensor.name: sensor for sensor in self.scene.low.low_contact_sensors}
        self._pair_names = [f"{PAIR}{a}/{b}" for a, b in pairs.tolist()]
        for name, pair in zip(self._pair_names, pairs.tolist(), strict=True):
            if name not in sensors:
                one, other = (names.geom(geom).name for geom in pair)
                raise EngineError(f"engine 'motrix' tells no contacts of the geoms {one!r} and {other!r}")
        orders = [sensors[name].collider_pairs[0] for name in self._pair_names]
        self.flipped = np.array([first > second for first, second in orders], bool)
        """(p,) whether a pair is named against motrixsim's order."""
        self.nets = [sensor for sensor in nets if f"{NET}{sensor}" in sensors]
        mocaps = [body for body in range(model.nbody) if model.body_mocapid[body] >= 0]
        self.mocaps = [
            (int(model.body_mocapid[body]), self.scene.get_body(names.body(body).name).mocap)
            for body in mocaps
        ]
        parts = left_out(lines)
        self.limits = [f"left out of the scene: {', '.join(parts)}"] if parts else []
        """What has no effect in this engine: a line each."""

    def state_query(self) -> Any:
        """Reads positions, then velocities."""
        query = self.package.query
        return self.scene.compile_query({"q": query.DofPosition(), "v": query.DofVelocity()})

    def contact_query(self) -> Any:
        """Reads the contact sensors of the pairs."""
        return self.scene.compile_query({"contacts": self.package.query.SensorValues(self._pair_names)})


def _input(actuator: str, names: mujoco.MjModel) -> int:
    if actuator.startswith(MOTOR):
        return names.nu + int(names.jnt_dofadr[int(actuator.removeprefix(MOTOR))])
    return int(names.actuator(actuator).id)


class MotrixState:
    """The state of one environment, or of several; all arrays in MuJoCo's order."""

    def __init__(self, model: MotrixModel, shape: Sequence[int] = ()):
        """shape: () for one environment, (n,) for n at once."""
        self._model = model
        self.data = model.package.SceneData(model.scene, batch=list(shape))
        self._shape = tuple(shape)
        self._query = model.state_query().allocate(self.data)
        self._contact_query = model.contact_query().allocate(self.data) if len(model.pairs) else None

    def place(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Sets positions (..., nq), with quaternions of length 1, and velocities (..., nv)."""
        model = self._model
        if not len(model.positions):
            return
        positions, velocities = np.empty(qpos.shape, np.float32), np.empty(qvel.shape, np.float32)
        positions[..., model.positions], velocities[..., model.velocities] = qpos, qvel
        self.data.set_dof_pos(positions, model.scene)
        self.data.set_dof_vel(velocities)

    def control(self, ctrl: np.ndarray, applied: np.ndarray) -> None:
        """Sets controls (..., nu) and forces applied to the joints (..., nv) for the coming steps."""
        if len(self._model.inputs):  # motrixsim panics at nothing to set
            inputs = np.concatenate([ctrl, applied], axis=-1)[..., self._model.inputs]
            # It reads the memory as it lies, whatever the strides say.
            self.data.actuator_ctrls = np.ascontiguousarray(inputs, np.float32)

    def place_mocaps(self, positions: np.ndarray, quaternions: np.ndarray) -> None:
        """Sets the poses of bodies moved from outside: (nmocap, 3), (nmocap, 4) wxyz."""
        for mocap, body in self._model.mocaps:
            pose = np.concatenate([positions[mocap], np.roll(quaternions[mocap], -1)])
            body.set_pose(self.data, np.broadcast_to(pose.astype(np.float32), (*self._shape, 7)))

    def step(self, n: int) -> None:
        """Goes n time steps on."""
        self._model.scene.step_n(self.data, n)

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions (..., nq) and velocities (..., nv)."""
        program = self._query.execute(self.data)
        model = self._model
        return (
            program["q"][..., model.positions].astype(np.float64),
            program["v"][..., model.velocities].astype(np.float64),
        )

    def contacts(self) -> np.ndarray:
        """(..., p, WIDTH) sensors of the pairs, of the state that the last step began with; a view."""
        if self._contact_query is None:
            return np.zeros((*self._shape, 0, WIDTH), np.float32)
        return self._contact_query.execute(self.data)["contacts"].reshape(*self._shape, -1, WIDTH)

    def net_forces(self, sensor: int) -> np.ndarray:
        """(..., 3) the net force of one of ``nets``, of the same state, in a frame of motrixsim's own."""
        return self._model.scene.get_sensor_value(f"{NET}{sensor}", self.data)
