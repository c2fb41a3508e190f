"""Scenes loaded into motrixsim, and their simulation states as arrays in MuJoCo's order."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from tactile_sim.engines.motrix.activations import Activations
from tactile_sim.engines.motrix.boundary import captured_output, engine_errors, ignored_features, motrixsim
from tactile_sim.engines.motrix.contacts import WIDTH
from tactile_sim.engines.motrix.scene import (
    MOTOR,
    NET,
    PAIR,
    SLOTS,
    reject_dropped,
    reject_welds_to_world,
    with_names,
    write_mjcf,
)
from tactile_sim.errors import EngineError
from tactile_sim.mujoco_log import without_compiler_warnings

_LOG = logging.getLogger("tactile_sim.motrix")
_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
_XYZW = np.array([3, 0, 1, 2])
"""Indices of w, x, y and z in motrixsim's quaternions, which are in the order xyzw."""


class MotrixModel:
    """A scene loaded by motrixsim, with index maps from MuJoCo's qpos, qvel and ctrl."""

    def __init__(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, pairs: np.ndarray, nets: Sequence[int] = ()
    ) -> None:
        """Load a scene.

        Args:
            spec: The scene.
            model: The compiled scene.
            pairs: (p, 2) geom ids of the pairs whose contacts are to be read.
            nets: Ids of the contact sensors whose net forces are to be read, see ``has_net_force``.

        Raises:
            EngineError: Motrixsim is not installed or rejects the scene.
        """
        self.package = motrixsim()
        spec = with_names(spec)
        with without_compiler_warnings():
            names = spec.compile()
        reject_welds_to_world(names)
        mjcf = write_mjcf(spec, names, pairs.tolist(), nets)
        with engine_errors("cannot load the scene"), captured_output() as lines:
            self.scene = self.package.load_mjcf_str(mjcf)
        self.pairs = pairs
        self._geoms = [model.geom(k).name or f"geom {k}" for k in range(model.ngeom)]
        self._truncated: set[int] = set()
        bases = {base.name: base for base in self.scene.floating_bases}
        joints = {joint.name: joint for joint in self.scene.joints}
        reject_dropped(names, {*bases, *joints}, self.scene.actuator_names)
        self.positions = np.empty(model.nq, int)
        """(nq,) index of each element of ``qpos`` in motrixsim's positions."""
        self.velocities = np.empty(model.nv, int)
        """(nv,) index of each element of ``qvel`` in motrixsim's velocities."""
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
        """Index of each motrixsim actuator into the concatenation of ``ctrl`` and ``qfrc_applied``."""
        self.activations = Activations(model)
        sensors = {sensor.name: sensor for sensor in self.scene.low.low_contact_sensors}
        self._pair_names = [f"{PAIR}{a}/{b}" for a, b in pairs.tolist()]
        for name, pair in zip(self._pair_names, pairs.tolist(), strict=True):
            if name not in sensors:
                one, other = (names.geom(geom).name for geom in pair)
                raise EngineError(
                    f"engine 'motrix' does not report contacts of the geoms {one!r} and {other!r}"
                )
        orders = [sensors[name].collider_pairs[0] for name in self._pair_names]
        self.flipped = np.array([first > second for first, second in orders], bool)
        """(p,) bool, True if motrixsim lists the two geoms of a pair in the opposite order."""
        self.nets = [sensor for sensor in nets if f"{NET}{sensor}" in sensors]
        mocaps = [body for body in range(model.nbody) if model.body_mocapid[body] >= 0]
        self.mocaps = [
            (int(model.body_mocapid[body]), self.scene.get_body(names.body(body).name).mocap)
            for body in mocaps
        ]
        parts = ignored_features(lines)
        self.unsupported = [f"ignored in the scene: {', '.join(parts)}"] if parts else []
        """One line with the features that motrixsim reports as ignored; empty if there are none."""

    def state_query(self) -> Any:
        """Return a motrixsim query that reads positions and velocities, in motrixsim's order."""
        query = self.package.query
        return self.scene.compile_query({"q": query.DofPosition(), "v": query.DofVelocity()})

    def warn_of_truncation(self, raw: np.ndarray) -> None:
        """Log a warning for each pair of geoms with more contacts than can be read, once per pair.

        Args:
            raw: (n * p, WIDTH) values of the sensors on p pairs of geoms in n environments.
        """
        for row in np.flatnonzero(raw[:, 0] > SLOTS).tolist():
            pair = row % len(self.pairs)
            if pair not in self._truncated:
                self._truncated.add(pair)
                _LOG.warning(
                    "engine 'motrix': %s and %s have %d contacts, of which %d are reported",
                    *(self._geoms[geom] for geom in self.pairs[pair]), raw[row, 0], SLOTS,
                )  # fmt: skip

    def contact_query(self) -> Any:
        """Return a motrixsim query that reads the contact sensors of all geom pairs."""
        return self.scene.compile_query({"contacts": self.package.query.SensorValues(self._pair_names)})


def _input(actuator: str, names: mujoco.MjModel) -> int:
    """Return the index of a motrixsim actuator into the concatenation of ``ctrl`` and ``qfrc_applied``."""
    if actuator.startswith(MOTOR):
        return names.nu + int(actuator.removeprefix(MOTOR))
    return int(names.actuator(actuator).id)


class MotrixState:
    """The state of one or several environments; all arrays are in MuJoCo's order."""

    def __init__(self, model: MotrixModel, shape: Sequence[int] = ()):
        """Create the initial state.

        Args:
            model: The scene.
            shape: () for one environment, (n,) for n environments.
        """
        self._model = model
        self.data = model.package.SceneData(model.scene, batch=list(shape))
        self._shape = tuple(shape)
        self._query = model.state_query().allocate(self.data)
        self._contact_query = model.contact_query().allocate(self.data) if len(model.pairs) else None

    def place(self, qpos: np.ndarray, qvel: np.ndarray, envs: np.ndarray | None = None) -> None:
        """Set the positions and velocities of the selected environments.

        Args:
            qpos: (..., nq) positions with unit quaternions, one row for each selected environment.
            qvel: (..., nv) velocities, one row for each selected environment.
            envs: (n,) bool mask of the environments to set; None selects all.
        """
        model = self._model
        if not len(model.positions):
            return
        positions, velocities = np.empty(qpos.shape, np.float32), np.empty(qvel.shape, np.float32)
        positions[..., model.positions], velocities[..., model.velocities] = qpos, qvel
        data = self.data if envs is None else self.data[envs]
        data.set_dof_pos(positions, model.scene)
        data.set_dof_vel(velocities)

    def control(self, ctrl: np.ndarray, act: np.ndarray, applied: np.ndarray) -> None:
        """Set the inputs for the next steps.

        Args:
            ctrl: (..., nu) controls.
            act: (..., na) activations.
            applied: (..., nv) generalized forces in addition to those of the actuators [N m, N].
        """
        if len(self._model.inputs):  # motrixsim panics on an empty array
            ctrl = self._model.activations.inputs(ctrl, act)
            inputs = np.concatenate([ctrl, applied], axis=-1)[..., self._model.inputs]
            # motrixsim ignores strides.
            self.data.actuator_ctrls = np.ascontiguousarray(inputs, np.float32)

    def place_mocaps(self, positions: np.ndarray, quaternions: np.ndarray) -> None:
        """Set the poses of the mocap bodies.

        Args:
            positions: (..., nmocap, 3) positions in the world [m].
            quaternions: (..., nmocap, 4) orientations in the world, wxyz.
        """
        for mocap, body in self._model.mocaps:
            parts = positions[..., mocap, :], np.roll(quaternions[..., mocap, :], -1, axis=-1)
            body.set_pose(self.data, np.concatenate(parts, axis=-1).astype(np.float32))

    def step(self, n: int, envs: np.ndarray | None = None) -> None:
        """Advance n time steps in the environments selected by the mask ``envs``, or in all if it is None."""
        self._model.scene.step_n(self.data if envs is None else self.data[envs], n)

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the current positions (..., nq) and velocities (..., nv) in MuJoCo's order."""
        program = self._query.execute(self.data)
        model = self._model
        return (
            program["q"][..., model.positions].astype(np.float64),
            program["v"][..., model.velocities].astype(np.float64),
        )

    def contacts(self) -> np.ndarray:
        """Return a view of the contact sensor values (..., p, WIDTH) of the p geom pairs.

        They belong to the state before the last step.
        """
        if self._contact_query is None:
            return np.zeros((*self._shape, 0, WIDTH), np.float32)
        return self._contact_query.execute(self.data)["contacts"].reshape(*self._shape, -1, WIDTH)

    def net_forces(self, sensor: int) -> np.ndarray:
        """Return the net force (..., 3) of a sensor in ``nets`` [N], in an internal frame of motrixsim."""
        return self._model.scene.get_sensor_value(f"{NET}{sensor}", self.data)
