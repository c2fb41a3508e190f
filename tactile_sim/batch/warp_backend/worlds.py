"""Environments of one model, stepped by MuJoCo Warp."""

from __future__ import annotations

import os
from typing import Any

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp

from tactile_sim.batch.warp_backend import contact_kernels as kernels
from tactile_sim.batch.warp_backend.contacts import WarpContacts
from tactile_sim.batch.warp_backend.device import Graphs, Mirror
from tactile_sim.batch.warp_backend.model import CONSTRAINTS, CONTACTS, put_model
from tactile_sim.engines.contact_reader import FORCE_FLOOR
from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.keyframes import keyframe_id
from tactile_sim.engines.mujoco.sensors import MujocoSensors
from tactile_sim.engines.state_arrays import StateArrays

_STATE = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")
_OWN_STATE = ("time", "qacc_warmstart")
"""Names of the state arrays that exist only on the device."""
_RECORDED = ("xpos", "xmat", "qfrc_actuator", "sensordata")
_OVERFLOW = (
    mjw.OverflowType.NEFC
    | mjw.OverflowType.NJMAX_NNZ
    | mjw.OverflowType.BROADPHASE
    | mjw.OverflowType.NARROWPHASE
)


class WarpWorlds(StateArrays, MujocoSensors):
    """Environments of one model on a Warp device, in float32.

    The NumPy arrays have the same names as in `engines.mujoco.worlds.Worlds`. On the CPU they share memory
    with the Warp arrays. With a GPU, states and inputs are copied to the device before steps and back
    afterwards.
    """

    name = "warp"
    qpos: np.ndarray
    qvel: np.ndarray
    act: np.ndarray
    ctrl: np.ndarray
    qfrc_applied: np.ndarray
    xfrc_applied: np.ndarray
    mocap_pos: np.ndarray
    mocap_quat: np.ndarray

    def __init__(self, model: mujoco.MjModel, num_envs: int, device: Any):
        """Create the environments in the initial state.

        Args:
            model: MuJoCo model of one environment.
            num_envs: Number of environments.
            device: Warp device.

        Raises:
            EngineError: MuJoCo Warp does not support the model.
        """
        self.model, self.num_envs, self.device = model, num_envs, device
        self.threads = len(os.sched_getaffinity(0))
        self._initial = mujoco.MjData(model)
        with wp.ScopedDevice(device):
            self._warp_model = put_model(model)
            self.data = mjw.make_data(model, num_envs, nconmax=CONTACTS, njmax=CONSTRAINTS)
            self._room = CONTACTS, CONSTRAINTS
            self._mirrors = {name: Mirror(getattr(self.data, name)) for name in _STATE}
            self._before = {name: wp.clone(getattr(self.data, name)) for name in _STATE + _OWN_STATE}
            self._fault = wp.zeros(num_envs, dtype=int)
        for name, mirror in self._mirrors.items():
            setattr(self, name, mirror.host)
        self.time = np.zeros(num_envs)
        self._graphs = Graphs(device)
        self.device_contacts = WarpContacts(model, num_envs, device)
        """Contacts of the last `record`."""
        self._make_copies()
        self.reset()

    def step(self, n: int = 1) -> None:
        """Advance every environment by n time steps. `faults` lists those that became unstable."""
        if not n:
            return
        self._upload()
        for name, array in self._before.items():
            wp.copy(array, getattr(self.data, name))
        while True:
            self._advance(n)
            if not self._overflows():
                break
            self._make_room()
            for name, array in self._before.items():
                wp.copy(getattr(self.data, name), array)
        self._download()
        self.time += n * self.model.opt.timestep

    def record(self, steps: int = 0) -> None:
        """Compute and record contacts, poses, forces and sensors of the current states, then advance.

        Args:
            steps: Number of time steps to advance afterwards.
        """
        self._upload()
        while True:
            self.data.overflow.zero_()
            self._graphs.run("forward", self._forward)
            if self._overflows():
                self._make_room()
            elif self.device_contacts.fit():
                break
            else:
                self._graphs.clear()
        for name, array in self.recorded.items():
            wp.copy(array, getattr(self.data, name))
        self.step(steps)

    def reset(self, envs: np.ndarray | None = None, keyframe: str | None = None) -> None:
        """Reset environments to the initial state or to a keyframe.

        Args:
            envs: Indices of the environments, ascending int32; None resets all.
            keyframe: Name of the keyframe; None uses the initial state.

        Raises:
            EngineError: The keyframe does not exist.
        """
        data = self._initial
        mujoco.mj_resetDataKeyframe(self.model, data, keyframe_id(self.model, keyframe))
        chosen = np.arange(self.num_envs, dtype=np.int32) if envs is None else envs
        for name, mirror in self._mirrors.items():
            mirror.host[chosen] = getattr(data, name)
        self.time[chosen] = data.time
        if len(chosen):
            with wp.ScopedDevice(self.device):
                wp.launch(
                    kernels.restart, len(chosen),
                    [wp.array(chosen, dtype=int), data.time, self.data.time, self.data.qacc_warmstart,
                     self._fault],
                )  # fmt: skip

    def faults(self) -> dict[int, str]:
        """Return why environments became unstable since their last reset, by environment index."""
        codes = self._fault.numpy()
        return {env: kernels.FAULTS[codes[env]] for env in np.flatnonzero(codes).tolist()}

    def contacts(self, env: int) -> Contacts:
        """Return the recorded contacts with a nonzero force in one environment."""
        own = self.device_contacts
        count = int(own.counts.numpy()[env])
        values = own.values.numpy()[env, :count].astype(float)
        force = np.abs(values[:, Contacts.WRENCH : Contacts.WRENCH + 3]).max(axis=1, initial=0.0)
        felt = force >= FORCE_FLOOR
        return Contacts(values[felt], own.ids.numpy()[env, :count][felt])

    @property
    def device_arrays(self) -> dict[str, Any]:
        """Device arrays of states and recorded quantities, keyed by name."""
        return {name: getattr(self.data, name) for name in _STATE} | self.recorded

    @property
    def xpos(self) -> np.ndarray:
        """(num_envs, nbody, 3) positions of the body origins in the world [m]."""
        return self.recorded["xpos"].numpy()

    @property
    def xmat(self) -> np.ndarray:
        """(num_envs, nbody, 9) rotation matrices from body frames to the world, row by row."""
        return self.recorded["xmat"].numpy().reshape(self.num_envs, -1, 9)

    @property
    def qfrc_actuator(self) -> np.ndarray:
        """(num_envs, nv) generalized forces of the actuators [N, N m]."""
        return self.recorded["qfrc_actuator"].numpy()

    @property
    def sensordata(self) -> np.ndarray:
        """(num_envs, nsensordata) values of all sensors in the scene, in MuJoCo's layout."""
        return self.recorded["sensordata"].numpy()

    @property
    def _sensordata(self) -> np.ndarray:  # type: ignore[override]
        return self.sensordata.astype(float)

    def _forward(self) -> None:
        self._guard()
        mjw.forward(self._warp_model, self.data)
        self.device_contacts.read(self._warp_model, self.data)

    def _step_once(self) -> None:
        self._guard()
        mjw.step(self._warp_model, self.data)

    def _overflows(self) -> bool:
        """Return whether contacts or constraints have been dropped since ``overflow`` was last cleared."""
        data = self.data
        if (data.overflow.numpy() & int(_OVERFLOW)).any():
            return True
        contacts = max(int(data.nacon.numpy()[0]), int(data.ncollision.numpy()[0]))
        return contacts > data.naconmax or int(data.nefc.numpy().max()) > data.njmax

    def _advance(self, n: int) -> None:
        self.data.overflow.zero_()
        for _ in range(n):
            self._graphs.run("step", self._step_once)
        self._guard()

    def _guard(self) -> None:
        data = self.data
        wp.launch(
            kernels.guard, self.num_envs,
            [self._warp_model.qpos0, data.qpos, data.qvel, data.act, data.ctrl, data.qfrc_applied,
             data.xfrc_applied, data.qacc_warmstart, self._fault], device=self.device,
        )  # fmt: skip

    def _upload(self) -> None:
        for mirror in self._mirrors.values():
            mirror.upload()

    def _download(self) -> None:
        for mirror in self._mirrors.values():
            mirror.download()
        if self.device.is_cuda:
            wp.synchronize_device(self.device)

    def _make_copies(self) -> None:
        """Allocate the arrays to which `record` copies its results."""
        with wp.ScopedDevice(self.device):
            self.recorded = {name: wp.clone(getattr(self.data, name)) for name in _RECORDED}
            """Device arrays of the recorded states, keyed by name."""
        self._graphs.clear()

    def _make_room(self) -> None:
        """Double MuJoCo Warp's capacity for contacts and constraints; states are kept."""
        old = self.data
        self._room = 2 * self._room[0], 2 * self._room[1]
        with wp.ScopedDevice(self.device):
            self.data = mjw.make_data(self.model, self.num_envs, nconmax=self._room[0], njmax=self._room[1])
        for name in _STATE + _OWN_STATE:
            setattr(self.data, name, getattr(old, name))
        self._make_copies()
