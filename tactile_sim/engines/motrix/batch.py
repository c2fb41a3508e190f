"""Engine that steps several environments of one scene with motrixsim."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields

import mujoco
import numpy as np

from tactile_sim.arguments import require_controls, whole
from tactile_sim.engines.batch import Environments, environment_ids
from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.keyframes import keyframe_id
from tactile_sim.engines.motrix.batch_data import INPUTS, BatchData, valid_rows
from tactile_sim.engines.motrix.boundary import engine_errors, motrixsim
from tactile_sim.engines.motrix.contacts import WIDTH, read_raw
from tactile_sim.engines.motrix.limits import PartialSensors, unsupported_features, unsupported_in_batch
from tactile_sim.engines.motrix.model import MotrixModel, MotrixState
from tactile_sim.engines.motrix.reduce import SITE, find, matches, slot_columns
from tactile_sim.engines.motrix.scene import has_net_force, pairs_that_may_touch
from tactile_sim.engines.motrix.sites import Sites
from tactile_sim.engines.mujoco.sensors import lengths
from tactile_sim.errors import EngineError
from tactile_sim.scenes.contact_sensors import contact_layout


class MotrixBatch(PartialSensors, Environments):
    """Engine that steps several environments of one model with motrixsim.

    The attribute ``data`` contains the states and inputs of all environments. Only ``<contact>`` sensors are
    supported, and a sensor is computed when it is read. As in MuJoCo, readings after ``step`` belong to the
    state before the last time step.
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
        """Create the environments.

        Args:
            spec: The scene.
            model: The compiled scene.
            num_envs: Number of environments.
            threads: Number of threads in the process. 0 lets motrixsim decide.
            bodies: Ids of bodies whose contacts are read in addition to the contacts that the sensors need.
                None selects all bodies.

        Raises:
            EngineError: Motrixsim is not installed or rejects the scene.
        """
        self.model = model
        self.num_envs = num_envs
        self.timestep = float(model.opt.timestep)
        """Time step [s]."""
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
        nets = [
            sensor
            for name, sensor in self.sensor_ids.items()
            if self._layouts[sensor].reduce == "netforce" and has_net_force(model, sensor)
        ]
        self.pairs = pairs[wanted]
        """(p, 2) geom ids of the pairs whose contacts are read."""
        self._motrix = MotrixModel(spec, model, self.pairs, nets)
        self.unsupported = [
            *self._motrix.unsupported, *unsupported_features(model), *self.unsupported_sensor_lines(),
            "an environment that is reset alone keeps the solver's warm start from earlier steps",
        ]  # fmt: skip
        """Scene features that the engine ignores or cannot report, one line each."""
        start = mujoco.MjData(model)
        rows = (*(getattr(start, name) for name in INPUTS), np.zeros(1))
        self.data = BatchData(*(np.repeat(row[None], num_envs, axis=0) for row in rows))
        self._flipped = np.tile(self._motrix.flipped, num_envs)
        self._values = np.full((num_envs, model.nsensordata), np.nan)
        self._valid_forces = np.ones(num_envs, bool)
        """(num_envs, 2) False if controls (0) or applied forces (1) were invalid since the last reset."""
        self._at_address = {layout.address: sensor for sensor, layout in self._layouts.items()}
        self._sites = Sites(model, num_envs) if SITE in model.sensor_objtype[supported] else None
        self._start = self.data.qpos.copy()
        """``qpos`` of the states to which the contacts belong."""
        self._ahead = np.zeros(num_envs, bool)
        """(num_envs,) True where motrixsim is one step ahead of ``data``, as after ``forward``."""
        self.reset()

    @property
    def time(self) -> np.ndarray:
        """(num_envs,) time of each environment since its last reset [s]."""
        return self.data.time[:, 0]

    def step(self, n: int = 1) -> None:
        """Advance every environment by n time steps."""
        if not whole("step: n", n, error=EngineError):
            return
        self._advance(~self._ahead | self._changed())
        self._accept(1)
        for steps in self._strides(n - 1):
            self._start = self.data.qpos.copy()
            self._send_inputs()
            with engine_errors("failed"):
                self._state.step(steps)
            self._accept(steps)

    def _strides(self, n: int) -> list[int]:
        """Divide n steps into calls to motrixsim; return the number of steps in each.

        Activations must be updated at every step, and sites must be placed before the last step.
        """
        if len(self._motrix.activations):
            return [1] * n
        return [n - 1, 1] if self._sites and n > 1 else [n] * (n > 0)

    def forward(self) -> None:
        """Compute the sensors for the current positions, velocities and controls."""
        # motrixsim computes the contacts of a state in the step that starts from it.
        self._advance(~self._ahead | self._changed())

    def reset(self, keyframe: str | None = None, envs: Sequence[int] | np.ndarray | None = None) -> None:
        """Reset environments to the initial state or to a keyframe.

        Environments that are not selected do not change.

        Args:
            keyframe: Name of the keyframe; None for the initial state.
            envs: Indices of the environments, or a boolean mask (num_envs,); default: all.

        Raises:
            EngineError: The keyframe or an environment does not exist.
        """
        chosen = np.ones(self.num_envs, bool)
        if envs is not None:
            chosen[:] = False
            chosen[environment_ids(envs, self.num_envs)] = True
        start = mujoco.MjData(self.model)
        mujoco.mj_resetDataKeyframe(self.model, start, keyframe_id(self.model, keyframe))
        for field in fields(self.data):
            getattr(self.data, field.name)[chosen] = getattr(start, field.name)
        self._valid_forces[chosen] = True
        if envs is None:
            # A new state has no forces from previous steps.
            self._state = MotrixState(self._motrix, (self.num_envs,))
            self._inputs = self.data.copy()
        self._ahead[chosen] = True  # their states are replaced in any case
        self._advance(chosen)

    def fault(self) -> str | None:
        """Return the cause and the index of an unstable environment as text, or None if all are stable."""
        for env, fault in self.faults().items():
            return f"{fault} in environment {env}"
        return None

    def faults(self) -> dict[int, str]:
        """Return why environments have become unstable since their last reset, by environment index."""
        names = ("position", "velocity", "applied force")
        valid = valid_rows(self.data.qpos), valid_rows(self.data.qvel), self._valid_forces
        found: dict[int, str] = {}
        for what, fine in zip(names, valid, strict=True):
            for env in np.flatnonzero(~fine).tolist():
                found.setdefault(env, f"bad {what}")
        return found

    def get_contact_force_magnitude(self, name: str) -> np.ndarray:
        """Return the magnitude of the force between a contact sensor's two objects.

        See `MujocoSensors.get_contact_force_magnitude`. motrixsim measures net forces directly.

        Args:
            name: Name of the sensor.

        Returns:
            (num_envs,) magnitude [N], 0 without contacts.

        Raises:
            EngineError: The sensor does not exist or is not supported.
        """
        sensor = self._sensor(name)
        if sensor in self._motrix.nets:
            return lengths(self._state.net_forces(sensor))
        return super().get_contact_force_magnitude(name)

    def _changed(self, names: Sequence[str] = INPUTS) -> np.ndarray:
        """Return a mask (n,) of environments whose inputs differ from those last passed to motrixsim."""
        changed = np.zeros(self.num_envs, bool)
        for name in names:
            differs = getattr(self._inputs, name) != getattr(self.data, name)
            changed |= differs.reshape(self.num_envs, -1).any(axis=1)
        return changed

    def _advance(self, envs: np.ndarray) -> None:
        """Step motrixsim once from the state in ``data``.

        Afterwards, motrixsim is one step ahead of ``data``.

        Args:
            envs: (n,) mask of the environments to step.
        """
        if not envs.any():
            return
        data = self.data
        placed = envs & (self._ahead | self._changed(("qpos", "qvel")))
        if placed.any():
            qpos, qvel = data.qpos[placed], data.qvel[placed]
            # Unstable environments stay in the initial pose, because motrixsim panics on invalid quaternions.
            unstable = ~(valid_rows(qpos) & valid_rows(qvel))
            qpos[unstable], qvel[unstable] = self.model.qpos0, 0.0
            for row in qpos:
                mujoco.mj_normalizeQuat(self.model, row)
            self._state.place(qpos, qvel, placed)
        self._start[envs] = data.qpos[envs]
        self._send_inputs()
        with engine_errors("failed"):
            self._state.step(1, None if envs.all() else envs)
        for field in fields(data):
            getattr(self._inputs, field.name)[envs] = getattr(data, field.name)[envs]
        self._ahead |= envs
        self._stale = True

    def _send_inputs(self) -> None:
        """Pass controls, forces and mocap poses to motrixsim, with zeros in place of invalid values.

        Raises:
            CommandError: A control is not finite, or too large.
        """
        data = self.data
        require_controls(data.ctrl)
        valid = valid_rows(data.qfrc_applied)
        self._valid_forces &= valid
        self._ctrl = data.ctrl.copy()
        self._state.control(self._ctrl, data.act, np.where(valid[:, None], data.qfrc_applied, 0.0))
        self._state.place_mocaps(np.nan_to_num(data.mocap_pos), np.nan_to_num(data.mocap_quat))

    def _accept(self, n: int) -> None:
        """Copy motrixsim's states after n steps to ``data``, except in unstable environments."""
        data = self.data
        stable = valid_rows(data.qpos) & valid_rows(data.qvel)
        qpos, qvel = self._state.read()
        data.qpos[stable], data.qvel[stable] = qpos[stable], qvel[stable]
        unstable = ~(valid_rows(qpos) & valid_rows(qvel))
        if unstable.any():  # motrixsim panics on some of these states
            count = int(unstable.sum())
            start = np.tile(self.model.qpos0, (count, 1)), np.zeros((count, self.model.nv))
            self._state.place(*start, unstable)
        data.act[:] = self._motrix.activations.next(self._ctrl, data.act)
        data.time += n * self.timestep
        self._ahead[:] = False
        self._inputs = self.data.copy()
        self._stale = True

    @property
    def _sensordata(self) -> np.ndarray:  # type: ignore[override]
        """(num_envs, nsensordata) values of the contact sensors; the values of other sensors are NaN."""
        for address in self._at_address:
            self._values_at(address)
        return self._values

    def _values_at(self, address: int) -> np.ndarray:
        contacts = self.read_contacts()
        if address not in self._computed:
            self._computed.add(address)
            self._compute(self._at_address[address], contacts)
        return self._values

    def read_contacts(self) -> Contacts:
        """Return the contacts of all environments, ordered by environment.

        With p pairs of geoms, the result's field ``index`` is p times the environment index plus the row of
        the geom pair in `MotrixBatch.pairs`.
        """
        if self._stale:
            self._stale = False
            self._computed: set[int] = set()
            raw = self._state.contacts().reshape(-1, WIDTH)
            self._motrix.warn_of_truncation(raw)
            self._contacts_found = read_raw(raw, self._flipped)
            if self._sites:
                self._sites.place(self._start)
        return self._contacts_found

    def _compute(self, sensor: int, contacts: Contacts) -> None:
        """Compute and store the values of a sensor in all environments."""
        layout = self._layouts[sensor]
        pairs = max(1, len(self.pairs))
        envs, pair = contacts.index.astype(int) // pairs, contacts.index % pairs
        signs = self._signs[sensor][pair]
        if self._sites and self.model.sensor_objtype[sensor] == SITE:
            site = int(self.model.sensor_objid[sensor])
            signs = signs * self._sites.contain(site, contacts.position, envs)
        slots = find(contacts, envs, signs, layout.reduce, self.num_envs, layout.slots)
        requested = slots[:, :, slot_columns(layout)].reshape(self.num_envs, -1)
        self._values[:, layout.address : layout.address + requested.shape[1]] = requested
