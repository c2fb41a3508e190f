"""Many environments of one scene in MotrixSim."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import EngineError
from tactile_sim.common.schema import LARGEST_STATE, require_controls, whole
from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.environments import Environments
from tactile_sim.engines.motrix import PartialSensors, unsupported_features, unsupported_in_batch
from tactile_sim.engines.motrix_model import (
    WIDTH,
    MotrixModel,
    MotrixState,
    engine_errors,
    has_net_force,
    motrixsim,
    pairs_that_may_touch,
    read_raw,
    sliding_friction,
)
from tactile_sim.engines.sensors import lengths
from tactile_sim.scenes.contact_sensors import REDUCTIONS, WIDTHS, MujocoLayout, contact_layout

_STATE = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "mocap_pos", "mocap_quat")
"""Names of the arrays that determine the result of the next step."""
_MIRRORED = ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat")
_UNUSED = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_SENSOR)
_SLOT = sum(WIDTHS.values())
_UNKNOWN, _GEOM = int(mujoco.mjtObj.mjOBJ_UNKNOWN), int(mujoco.mjtObj.mjOBJ_GEOM)
_BODY, _SITE = int(mujoco.mjtObj.mjOBJ_BODY), int(mujoco.mjtObj.mjOBJ_SITE)


def bytes_of_contacts(model: mujoco.MjModel) -> int:
    """Return an upper bound on the memory per environment for reading contacts from motrixsim [bytes]."""
    return 2 * 4 * WIDTH * len(pairs_that_may_touch(model))


def valid_rows(values: np.ndarray) -> np.ndarray:
    """Return a mask (n,) of the rows of ``values`` (n, k) that are finite and below `arguments.LARGEST`."""
    return (np.abs(values) < LARGEST_STATE).all(axis=1)


class MotrixEnvironments(PartialSensors, Environments):
    """Environments of one model that are stepped by motrixsim.

    motrixsim computes the contacts of a state only in the step that starts from it. Therefore, ``forward``
    already takes that step, and the next ``step`` accepts its result unless state or inputs have changed.
    Only ``<contact>`` sensors are supported. Poses and actuator forces are computed by MuJoCo's functions.
    Results are computed when they are read.
    """

    name = "motrix"

    def __init__(
        self,
        spec: mujoco.MjSpec,
        model: mujoco.MjModel,
        num_envs: int,
        threads: int = 0,
        bodies: Collection[int] | None = (),
    ):
        """Create the environments in the initial state.

        Args:
            spec: The scene.
            model: The compiled scene.
            num_envs: Number of environments.
            threads: Number of threads in the process, or 0 for one thread per processor. Motrixsim allows a
                process to set this number only once.
            bodies: Ids of bodies whose contacts are read in addition to the contacts that the sensors need.
                None selects all bodies.

        Raises:
            EngineError: Motrixsim is not installed or rejects the scene.
        """
        super().__init__(model, num_envs)
        self.threads = threads or len(os.sched_getaffinity(0))
        if threads:
            with engine_errors(f"cannot step with {threads} threads"):
                motrixsim().init_thread_pool(threads)
        self._unsupported_sensors = unsupported_in_batch(model)
        supported = [sensor for sensor in range(model.nsensor) if sensor not in self._unsupported_sensors]
        pairs = pairs_that_may_touch(model)
        signs = {sensor: matches(model, sensor, pairs) for sensor in supported}
        chosen = range(model.nbody) if bodies is None else bodies
        read = np.isin(model.geom_bodyid[pairs], list(chosen)).any(axis=1)
        wanted = np.any([read, *signs.values()], axis=0)
        self._signs = {sensor: sign[wanted] for sensor, sign in signs.items()}
        self._layouts = {sensor: contact_layout(model, sensor, "") for sensor in supported}
        self._at_address = {layout.address: sensor for sensor, layout in self._layouts.items()}
        nets = [
            sensor
            for sensor in self.sensor_ids.values()
            if self._layouts[sensor].reduce == "netforce" and has_net_force(model, sensor)
        ]
        self.pairs = pairs[wanted]
        """(p, 2) geom ids of the pairs whose contacts are read."""
        self._frictions = sliding_friction(model, self.pairs)
        self._motrix = MotrixModel(spec, model, self.pairs, nets)
        self.unsupported = [
            *self._motrix.unsupported, *unsupported_features(model), *self.unsupported_sensor_lines(),
            "an environment that is reset alone keeps the solver's warm start from earlier steps",
        ]  # fmt: skip
        start = mujoco.MjData(model)
        for name in _STATE:
            setattr(self, name, np.repeat(getattr(start, name)[None], num_envs, axis=0))
        self.time = np.zeros(num_envs)
        self._sent = self._copies()
        """State and inputs that were last passed to motrixsim, by name."""
        self._began = self._copies()
        """State and inputs at the beginning of the step to which the results belong, by name."""
        self._flipped = np.tile(self._motrix.flipped, num_envs)
        self._values = np.full((num_envs, model.nsensordata), np.nan)
        self._valid_forces = np.ones(num_envs, bool)
        """(num_envs,) False if applied forces were invalid since the last reset."""
        self._ahead = np.zeros(num_envs, bool)
        """(num_envs,) True where motrixsim is one step ahead of the arrays, as after ``forward``."""
        self._results: dict[Any, Any] = {}
        """Results that have been read since the last step of motrixsim."""
        self.reset()

    # -- stepping --------------------------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Advance every environment by n time steps; see `Environments.step`."""
        self.advance(whole("step: n", n, error=EngineError))

    def advance(self, n: int) -> None:
        """Advance every environment by n time steps."""
        if not n:
            return
        self._take_step(~self._ahead | self._changed())
        self._accept(1)
        # Activations change in each step, and results need the state before the last step.
        strides = [1] * (n - 1) if len(self._motrix.activations) else [n - 2, min(n - 1, 1)]
        for steps in filter(lambda steps: steps > 0, strides):
            self._began = self._copies()
            self._send_inputs()
            with engine_errors("failed"):
                self._state.step(steps)
            self._accept(steps)

    def record(self, steps: int = 0) -> None:
        """Compute all results for the current states, then advance."""
        self._take_step(~self._ahead | self._changed())
        self._complete_contacts()
        results = dict(self._results)
        self.advance(steps)
        self._results.update(results)  # those of the recorded state

    def faults(self) -> dict[int, str]:
        """Return why environments have become unstable since their last reset, by environment index."""
        names = ("position", "velocity", "applied force")
        valid = valid_rows(self.qpos), valid_rows(self.qvel), self._valid_forces
        found: dict[int, str] = {}
        for what, fine in zip(names, valid, strict=True):
            for env in np.flatnonzero(~fine).tolist():
                found.setdefault(env, f"bad {what}")
        return found

    def _reset(self, keyframe: int, envs: np.ndarray) -> None:
        start = mujoco.MjData(self.model)
        mujoco.mj_resetDataKeyframe(self.model, start, keyframe)
        for name in (*_STATE, "time"):
            getattr(self, name)[envs] = getattr(start, name)
        self._valid_forces[envs] = True
        if len(envs) == self.num_envs:
            # A new state has no forces from previous steps.
            self._state = MotrixState(self._motrix, (self.num_envs,))
            self._sent = self._copies()
        self._ahead[envs] = True  # their states are replaced in any case
        self._take_step(np.isin(np.arange(self.num_envs), envs))

    def _copies(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name).copy() for name in _STATE}

    def _changed(self, names: Sequence[str] = _STATE) -> np.ndarray:
        """Return a mask (n,) of environments whose inputs differ from those last passed to motrixsim."""
        changed = np.zeros(self.num_envs, bool)
        for name in names:
            differs = self._sent[name] != getattr(self, name)
            changed |= differs.reshape(self.num_envs, -1).any(axis=1)
        return changed

    def _take_step(self, envs: np.ndarray) -> None:
        """Step motrixsim once from the states of some environments (a mask), so that it is one step ahead."""
        if not envs.any():
            return
        placed = envs & (self._ahead | self._changed(("qpos", "qvel")))
        if placed.any():
            qpos, qvel = self.qpos[placed], self.qvel[placed]
            # Unstable environments stay in the initial pose, because motrixsim panics on invalid quaternions.
            unstable = ~(valid_rows(qpos) & valid_rows(qvel))
            qpos[unstable], qvel[unstable] = self.model.qpos0, 0.0
            for row in qpos:
                mujoco.mj_normalizeQuat(self.model, row)
            self._state.place(qpos, qvel, placed)
        for name in _STATE:
            self._began[name][envs] = self._sent[name][envs] = getattr(self, name)[envs]
        self._send_inputs()
        with engine_errors("failed"):
            self._state.step(1, None if envs.all() else envs)
        self._ahead |= envs
        self._results.clear()

    def _send_inputs(self) -> None:
        """Pass controls, forces and mocap poses to motrixsim, with zeros in place of invalid values."""
        require_controls(self.ctrl)
        valid = valid_rows(self.qfrc_applied)
        self._valid_forces &= valid
        self._last_ctrl = self.ctrl.copy()
        self._state.control(self._last_ctrl, self.act, np.where(valid[:, None], self.qfrc_applied, 0.0))
        self._state.place_mocaps(np.nan_to_num(self.mocap_pos), np.nan_to_num(self.mocap_quat))

    def _accept(self, n: int) -> None:
        """Copy motrixsim's states after n steps to the arrays, except in unstable environments."""
        stable = valid_rows(self.qpos) & valid_rows(self.qvel)
        qpos, qvel = self._state.read()
        self.qpos[stable], self.qvel[stable] = qpos[stable], qvel[stable]
        unstable = ~(valid_rows(qpos) & valid_rows(qvel))
        if unstable.any():  # motrixsim panics on some of these states
            count = int(unstable.sum())
            start = np.tile(self.model.qpos0, (count, 1)), np.zeros((count, self.model.nv))
            self._state.place(*start, unstable)
        self.act[:] = self._motrix.activations.next(self._last_ctrl, self.act)
        self.time += n * self.timestep
        self._ahead[:] = False
        self._sent = self._copies()
        self._results.clear()

    # -- results ---------------------------------------------------------------------------------------------

    @property
    def xfrc_applied(self) -> np.ndarray:  # type: ignore[override]
        """Raise EngineError, because motrixsim does not support forces on bodies."""
        raise EngineError(
            "engine 'motrix' does not support forces on bodies, got an access to xfrc_applied; write"
            " qfrc_applied, or use 'mujoco'"
        )

    @property
    def xpos(self) -> np.ndarray:  # type: ignore[override]
        """(num_envs, nbody, 3) positions of the body origins in the world [m]."""
        return self._poses["xpos"]

    @property
    def xmat(self) -> np.ndarray:  # type: ignore[override]
        """(num_envs, nbody, 9) rotations from body frames to the world."""
        return self._poses["xmat"]

    @property
    def qfrc_actuator(self) -> np.ndarray:  # type: ignore[override]
        """(num_envs, nv) generalized forces of the actuators [N, N m]."""
        return self._poses["qfrc_actuator"]

    @property
    def sensordata(self) -> np.ndarray:  # type: ignore[override]
        """(num_envs, nsensordata) values of the contact sensors; the values of other sensors are NaN."""
        for address in self._at_address:
            self._values_at(address)
        return self._values

    def contacts(self, env: int | None = None) -> Contacts:
        """Return the contacts in one environment, without copying them; see `Environments.contacts`."""
        self._complete_contacts()
        return super().contacts(env)

    def get_contact_force_magnitude(self, name: str) -> np.ndarray:
        """Return the magnitude (num_envs,) of the force between a contact sensor's two objects [N].

        See `Sensors.get_contact_force_magnitude`. motrixsim measures net forces directly.
        """
        sensor = self._sensor(name)
        if sensor in self._motrix.nets:
            return lengths(self._state.net_forces(sensor))
        return super().get_contact_force_magnitude(name)

    @cached_property
    def _mirror(self) -> tuple[Any, dict[str, np.ndarray]]:
        """Environments in MuJoCo that compute poses without constraints, and their arrays by name."""
        from mujoco.batch import Batch

        model = copy.copy(self.model)
        model.opt.disableflags |= _UNUSED
        mirror = Batch(model, self.num_envs)
        names = ("xpos", "xmat", "qfrc_actuator", "cvel", "subtree_com", "site_xpos", "site_xmat")
        return mirror, {name: mirror.bind(name) for name in names}

    @property
    def _poses(self) -> dict[str, np.ndarray]:
        """Copies of MuJoCo's arrays that depend on positions, velocities and controls, by name."""
        if "poses" not in self._results:
            mirror, arrays = self._mirror
            for name in _MIRRORED:
                values = self._began[name]
                setattr(mirror, name, np.where(np.isfinite(values), values, 0.0))
            mirror.forward()
            self._results["poses"] = {name: array.copy() for name, array in arrays.items()}
        return self._results["poses"]

    def _found(self) -> tuple[Contacts, np.ndarray, np.ndarray]:
        """Return the contacts of all environments, with the environment and the row in ``pairs`` of each."""
        if "contacts" not in self._results:
            raw = self._state.contacts().reshape(-1, WIDTH)
            self._motrix.warn_of_truncation(raw)
            contacts, pairs = read_raw(raw, self._flipped), max(1, len(self.pairs))
            index = contacts.index.astype(int)
            self._results["contacts"] = contacts, index // pairs, index % pairs
        return self._results["contacts"]

    def _complete_contacts(self) -> None:
        """Write the contacts, with velocities and friction, to the contact arrays."""
        if "complete" not in self._results:
            self._results["complete"] = True
            contacts, envs, pair = self._found()
            most = int(np.bincount(envs, minlength=1).max())
            if most > self.contact_ids.shape[1]:
                self._make_room(most)
            poses = self._poses
            _core.complete_contacts(
                self.model._address, contacts.values, self.pairs[pair], self._frictions[pair], envs,
                poses["cvel"], poses["subtree_com"], self.contact_values, self.contact_ids,
                self.contact_counts,
            )  # fmt: skip

    def _values_at(self, address: int) -> np.ndarray:
        if address not in self._results:
            self._results[address] = True
            sensor = self._at_address[address]
            layout, (contacts, envs, pair) = self._layouts[sensor], self._found()
            signs = self._signs[sensor][pair]
            if self.model.sensor_objtype[sensor] == _SITE:
                signs = signs * self._in_site(int(self.model.sensor_objid[sensor]), contacts.position, envs)
            slots = np.zeros((self.num_envs, layout.slots, _SLOT))
            _core.reduce_contacts(contacts.values, envs, signs, REDUCTIONS.index(layout.reduce), slots)
            requested = slots[:, :, _columns(layout)].reshape(self.num_envs, -1)
            self._values[:, address : address + requested.shape[1]] = requested
        return self._values

    def _in_site(self, site: int, points: np.ndarray, envs: np.ndarray) -> np.ndarray:
        """Return whether points (c, 3) in the world lie within a site of their environments (c,) [m]."""
        positions, rotations = self._poses["site_xpos"], self._poses["site_xmat"]
        offset = (points - positions[envs, site])[:, :, None]
        x, y, z = (rotations[envs, site].reshape(-1, 3, 3) * offset).sum(axis=1).T
        a, b, c = self.model.site_size[site]
        radius = x**2 + y**2
        match int(self.model.site_type[site]):
            case mujoco.mjtGeom.mjGEOM_SPHERE:
                return radius + z**2 <= a**2
            case mujoco.mjtGeom.mjGEOM_CAPSULE:
                return radius + np.maximum(np.abs(z) - b, 0.0) ** 2 <= a**2
            case mujoco.mjtGeom.mjGEOM_ELLIPSOID:
                return (x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2 <= 1.0
            case mujoco.mjtGeom.mjGEOM_CYLINDER:
                return (radius <= a**2) & (np.abs(z) <= b)
        return (np.abs(x) <= a) & (np.abs(y) <= b) & (np.abs(z) <= c)


def matches(model: mujoco.MjModel, sensor: int, pairs: np.ndarray) -> np.ndarray:
    """Return which pairs (p, 2) of geoms match the two objects of a contact sensor.

    Returns:
        (p,) 1 if a pair matches, -1 if it matches in the opposite order, and 0 if it does not match.
    """
    kinds = model.sensor_objtype[sensor], model.sensor_reftype[sensor]
    things = model.sensor_objid[sensor], model.sensor_refid[sensor]
    one, two = (_is_of(model, kind, thing, pairs) for kind, thing in zip(kinds, things, strict=True))
    regular, reverse = one[:, 0] & two[:, 1], one[:, 1] & two[:, 0]
    # If both orders match, or one side is unspecified, the order in ``pairs`` takes precedence.
    return np.where(regular, 1, np.where(reverse, -1, 0))


def _is_of(model: mujoco.MjModel, kind: int, thing: int, pairs: np.ndarray) -> np.ndarray:
    """Return a mask (p, 2) of the geoms in pairs that belong to an object, given its mjtObj and its id."""
    if kind in (_UNKNOWN, _SITE):
        return np.ones(pairs.shape, bool)
    if kind == _GEOM:
        return pairs == thing
    bodies = model.geom_bodyid[pairs]
    if kind == _BODY:
        return bodies == thing
    below = np.zeros(model.nbody, bool)
    below[thing] = True
    for body in range(thing + 1, model.nbody):
        below[body] = below[model.body_parentid[body]]
    return below[bodies]


def _columns(layout: MujocoLayout) -> list[int]:
    """Return the indices of the columns in a slot that contain the fields requested by a sensor."""
    starts = np.cumsum([0, *WIDTHS.values()])
    asked = [k for k in range(len(WIDTHS)) if layout.bits >> k & 1]
    return [column for k in asked for column in range(starts[k], starts[k + 1])]
