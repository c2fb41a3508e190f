"""Environments of one model, stepped by MuJoCo Warp."""

import copy
import dataclasses
import os
from collections.abc import Callable
from typing import Any

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp

from tactile_sim.batch.warp.contacts import WarpContacts
from tactile_sim.common.errors import EngineError
from tactile_sim.common.schema import LARGEST_STATE, whole
from tactile_sim.engines import Contacts, Environments
from tactile_sim.engines.contacts import FORCE_FLOOR

CONTACTS, CONSTRAINTS = 48, 64
"""Initial capacity for contacts and constraints per environment."""
_IRRELEVANT = int(mujoco.mjtDisableBit.mjDSBL_AUTORESET | mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
"""Flags in ``disableflags`` that MuJoCo Warp rejects. They are cleared: `guard` resets unstable
environments in any case, and the midphase only affects speed."""


def bytes_of_data(model: mujoco.MjModel) -> int:
    """Return the memory that MuJoCo Warp and the recorded contacts need per environment [bytes]."""
    with wp.ScopedDevice("cpu"):
        one, two = (
            _bytes(mjw.make_data(model, count, nconmax=CONTACTS, njmax=CONSTRAINTS)) for count in (1, 2)
        )
    return two - one + CONTACTS * 4 * (Contacts.WIDTH + Contacts.IDS)


def _bytes(data: Any) -> int:
    parts = [getattr(data, field.name) for field in dataclasses.fields(data)]
    total = sum(part.capacity for part in parts if isinstance(part, wp.array))
    return total + sum(_bytes(part) for part in parts if dataclasses.is_dataclass(part))


def put_model(model: mujoco.MjModel) -> Any:
    """Copy a model to the current device as a MuJoCo Warp model."""
    for what, present in (
        ("flexes", model.nflex),
        ("delays of actuators and sensors", model.nhistory),
        ("plastic joints and tendons", model.nplastic),
        ("sleep", model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP),
    ):
        if present:
            raise EngineError(f"backend: 'warp' does not support {what}; use backend='mujoco'")
    model = copy.copy(model)
    model.opt.disableflags &= ~_IRRELEVANT
    # Without this flag, contacts of boxes are computed by the algorithm for convex shapes, less precisely.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_NATIVECCD
    try:
        warp_model = mjw.put_model(model)
    except (NotImplementedError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise EngineError(f"backend: 'warp' does not support this scene: {reason}; use 'mujoco'") from None
    warp_model.opt.warn_overflow = 0
    warp_model.opt.deterministic = int(mjw.DeterminismType.ALL)
    return warp_model


def device_named(name: str | None) -> Any:
    """Return a Warp device.

    Args:
        name: ``cpu``, ``cuda`` or ``cuda:N``; None selects the first GPU, or the CPU if there is no GPU.
    """
    if wp.config.log_level == wp.LOG_INFO:  # the default prints a line for each module that is loaded
        wp.config.log_level = wp.LOG_WARNING
    wp.init()
    known = ["cpu", *(str(device) for device in wp.get_cuda_devices())]
    try:
        return wp.get_device(name or known[-1 if len(known) == 1 else 1])
    except (ValueError, RuntimeError):
        raise EngineError(
            f"device: backend 'warp' has {', '.join(known)} on this machine, got {name!r}"
            + ("; it found no NVIDIA GPU" if len(known) == 1 else "")
        ) from None


class Mirror:
    """Device array with a NumPy copy of its values; on the CPU, both share the same memory."""

    def __init__(self, array: Any):
        """Create the NumPy array ``host`` (n, ...), which stores vectors and matrices along trailing axes."""
        self.array = array
        self._copy = None
        if array.device.is_cuda:
            self._copy = wp.empty(array.shape, dtype=array.dtype, device="cpu", pinned=True)
        self.host: np.ndarray = (array if self._copy is None else self._copy).numpy()

    def upload(self) -> None:
        """Copy the NumPy array to the device."""
        if self._copy is not None:
            wp.copy(self.array, self._copy)

    def download(self) -> None:
        """Copy the device array to the NumPy array; the values are valid once the device is synchronized."""
        if self._copy is not None:
            wp.copy(self._copy, self.array)


class Graphs:
    """Runner of kernel sequences. On a GPU, each sequence is captured as a CUDA graph on its second run."""

    def __init__(self, device: Any):
        """Initialize without any captured graphs."""
        self._device = device
        self._captured: dict[str, Any] = {}

    def run(self, name: str, work: Callable[[], None]) -> None:
        """Run a sequence of kernel launches.

        Args:
            name: Name of the sequence; runs with the same name reuse its graph.
            work: Function that launches the kernels.
        """
        with wp.ScopedDevice(self._device):
            if not self._device.is_cuda:
                work()
            elif name not in self._captured:  # the first run compiles and loads the kernels
                self._captured[name] = None
                work()
            else:
                if self._captured[name] is None:
                    with wp.ScopedCapture() as capture:
                        work()
                    self._captured[name] = capture.graph
                wp.capture_launch(self._captured[name])

    def clear(self) -> None:
        """Discard all captured graphs. Call this after arrays are replaced."""
        self._captured.clear()


FAULTS = ("", "bad position", "bad velocity", "bad control", "bad applied force")
"""Description of each fault that `guard` detects, indexed by fault code; 0 means no fault."""
_LARGEST = wp.constant(LARGEST_STATE)


@wp.func
def is_bad(x: float):
    """Return whether a value is NaN or too large for the physics."""
    return not wp.abs(x) <= _LARGEST


@wp.kernel(enable_backward=False)
def guard(
    initial: wp.array2d[float],
    qpos: wp.array2d[float],
    qvel: wp.array2d[float],
    act: wp.array2d[float],
    ctrl: wp.array2d[float],
    qfrc_applied: wp.array2d[float],
    xfrc_applied: wp.array2d[wp.spatial_vector],
    qacc_warmstart: wp.array2d[float],
    fault: wp.array[int],
):
    """Reset environments with invalid values, and write their fault codes. One thread per environment.

    Set the positions to ``initial`` (1, nq), and all other states and inputs to zero. Write the code, an
    index into FAULTS, to ``fault`` (num_envs,), unless a code is already set.
    """
    env = wp.tid()
    code = int(0)
    for i in range(qfrc_applied.shape[1]):
        if is_bad(qfrc_applied[env, i]):
            code = 4
    for i in range(xfrc_applied.shape[1]):
        for j in range(6):
            if is_bad(xfrc_applied[env, i][j]):
                code = 4
    for i in range(ctrl.shape[1]):
        if is_bad(ctrl[env, i]):
            code = 3
    for i in range(act.shape[1]):
        if is_bad(act[env, i]):
            code = 3
    for i in range(qvel.shape[1]):
        if is_bad(qvel[env, i]):
            code = 2
    for i in range(qpos.shape[1]):
        if is_bad(qpos[env, i]):
            code = 1
    if code == 0:
        return
    if fault[env] == 0:
        fault[env] = code
    for i in range(qpos.shape[1]):
        qpos[env, i] = initial[0, i]
    for i in range(qvel.shape[1]):
        qvel[env, i] = 0.0
        qfrc_applied[env, i] = 0.0
        qacc_warmstart[env, i] = 0.0
    for i in range(act.shape[1]):
        act[env, i] = 0.0
    for i in range(ctrl.shape[1]):
        ctrl[env, i] = 0.0
    for i in range(xfrc_applied.shape[1]):
        xfrc_applied[env, i] = wp.spatial_vector()


@wp.kernel(enable_backward=False)
def restart(
    chosen: wp.array[int],
    start: float,
    time: wp.array[float],
    qacc_warmstart: wp.array2d[float],
    fault: wp.array[int],
):
    """Reset the state that exists only on the device. One thread per chosen environment.

    ``chosen`` contains the indices of the environments, and ``start`` is their new time [s]. Their fault
    codes and warm starts are set to zero.
    """
    env = chosen[wp.tid()]
    time[env] = start
    fault[env] = 0
    for i in range(qacc_warmstart.shape[1]):
        qacc_warmstart[env, i] = 0.0


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


class WarpEnvironments(Environments):
    """Environments of one model on a Warp device, in float32.

    On the CPU, NumPy and Warp arrays share memory. With a GPU, states and inputs are copied to
    the device before steps and back afterwards.
    """

    name = "warp"

    def __init__(self, model: mujoco.MjModel, num_envs: int, device: Any):
        """Create the environments in the initial state."""
        super().__init__(model, num_envs)
        self.device = device
        self.threads = len(os.sched_getaffinity(0))
        self._initial = mujoco.MjData(model)
        with wp.ScopedDevice(device):
            self._warp_model = put_model(model)
            self._data = mjw.make_data(model, num_envs, nconmax=CONTACTS, njmax=CONSTRAINTS)
            self._room = CONTACTS, CONSTRAINTS
            self._mirrors = {name: Mirror(getattr(self._data, name)) for name in _STATE}
            self._before = {name: wp.clone(getattr(self._data, name)) for name in _STATE + _OWN_STATE}
            self._fault = wp.zeros(num_envs, dtype=int)
        for name, mirror in self._mirrors.items():
            setattr(self, name, mirror.host)
        self.time = np.zeros(num_envs)
        self._graphs = Graphs(device)
        self.device_contacts = WarpContacts(model, num_envs, device)
        """Contacts of the last `record`."""
        self._make_copies()
        self.reset()

    def advance(self, n: int) -> None:
        """Advance every environment by n time steps."""
        if not n:
            return
        self._upload()
        for name, array in self._before.items():
            wp.copy(array, getattr(self._data, name))
        while True:
            self._step_all(n)
            if not self._overflows():
                break
            self._enlarge()
            for name, array in self._before.items():
                wp.copy(getattr(self._data, name), array)
        self._download()
        self.time += n * self.model.opt.timestep

    def record(self, steps: int = 0) -> None:
        """Compute all results for the current states, then advance."""
        self._upload()
        while True:
            self._data.overflow.zero_()
            self._graphs.run("forward", self._forward)
            if self._overflows():
                self._enlarge()
            elif self.device_contacts.fit():
                break
            else:
                self._graphs.clear()
        for name, array in self.recorded.items():
            wp.copy(array, getattr(self._data, name))
        self.advance(steps)

    def _reset(self, keyframe: int, envs: np.ndarray) -> None:
        data = self._initial
        mujoco.mj_resetDataKeyframe(self.model, data, keyframe)
        chosen = envs.astype(np.int32)
        for name, mirror in self._mirrors.items():
            mirror.host[chosen] = getattr(data, name)
        self.time[chosen] = data.time
        if len(chosen):
            with wp.ScopedDevice(self.device):
                wp.launch(
                    restart, len(chosen),
                    [wp.array(chosen, dtype=int), data.time, self._data.time, self._data.qacc_warmstart,
                     self._fault],
                )  # fmt: skip

    def faults(self) -> dict[int, str]:
        """Return why environments became unstable since their last reset, by environment index."""
        codes = self._fault.numpy()
        return {env: FAULTS[codes[env]] for env in np.flatnonzero(codes).tolist()}

    def contacts(self, env: int | None = None) -> Contacts:
        """Return the contacts in one environment; see `Environments.contacts`."""
        own, env = self.device_contacts, whole("contacts: env", env, 0, self.num_envs - 1)
        count = int(own.counts.numpy()[env])
        values = own.values.numpy()[env, :count].astype(float)
        force = np.abs(values[:, Contacts.WRENCH : Contacts.WRENCH + 3]).max(axis=1, initial=0.0)
        felt = force >= FORCE_FLOOR
        return Contacts(values[felt], own.ids.numpy()[env, :count][felt])

    @property
    def device_arrays(self) -> dict[str, Any]:
        """Device arrays of states and recorded quantities, keyed by name."""
        return {name: getattr(self._data, name) for name in _STATE} | self.recorded

    @property
    def xpos(self) -> np.ndarray:  # type: ignore[override]
        """(num_envs, nbody, 3) positions of the body origins in the world [m]."""
        return self.recorded["xpos"].numpy()

    @property
    def xmat(self) -> np.ndarray:  # type: ignore[override]
        """(num_envs, nbody, 9) rotation matrices from body frames to the world, row by row."""
        return self.recorded["xmat"].numpy().reshape(self.num_envs, -1, 9)

    @property
    def qfrc_actuator(self) -> np.ndarray:  # type: ignore[override]
        """(num_envs, nv) generalized forces of the actuators [N, N m]."""
        return self.recorded["qfrc_actuator"].numpy()

    @property
    def sensordata(self) -> np.ndarray:  # type: ignore[override]
        """(num_envs, nsensordata) values of all sensors in the scene, in MuJoCo's layout."""
        return self.recorded["sensordata"].numpy()

    def _values_at(self, address: int) -> np.ndarray:
        return self.sensordata.astype(float)

    def _forward(self) -> None:
        self._guard()
        mjw.forward(self._warp_model, self._data)
        self.device_contacts.read(self._warp_model, self._data)

    def _step_once(self) -> None:
        self._guard()
        mjw.step(self._warp_model, self._data)

    def _overflows(self) -> bool:
        """Return whether contacts or constraints have been dropped since ``overflow`` was last cleared."""
        data = self._data
        if (data.overflow.numpy() & int(_OVERFLOW)).any():
            return True
        contacts = max(int(data.nacon.numpy()[0]), int(data.ncollision.numpy()[0]))
        return contacts > data.naconmax or int(data.nefc.numpy().max()) > data.njmax

    def _step_all(self, n: int) -> None:
        self._data.overflow.zero_()
        for _ in range(n):
            self._graphs.run("step", self._step_once)
        self._guard()

    def _guard(self) -> None:
        data = self._data
        wp.launch(
            guard, self.num_envs,
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
            self.recorded = {name: wp.clone(getattr(self._data, name)) for name in _RECORDED}
            """Device arrays of the recorded states, keyed by name."""
        self._graphs.clear()

    def _enlarge(self) -> None:
        """Double MuJoCo Warp's capacity for contacts and constraints; states are kept."""
        old = self._data
        self._room = 2 * self._room[0], 2 * self._room[1]
        with wp.ScopedDevice(self.device):
            self._data = mjw.make_data(self.model, self.num_envs, nconmax=self._room[0], njmax=self._room[1])
        for name in _STATE + _OWN_STATE:
            setattr(self._data, name, getattr(old, name))
        self._make_copies()
