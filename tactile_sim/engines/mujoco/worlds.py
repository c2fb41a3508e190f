"""MuJoCo's batch in C, with the contacts of each environment, which `mujoco.batch` does not hand out."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from tactile_sim.compilation import callback, floats_from_zero, ints_from_zero, kernel, longs_from_zero
from tactile_sim.engines.contacts import ELLIPTIC, Contacts, read_arrays
from tactile_sim.engines.mjdata_engine import keyframe_id
from tactile_sim.engines.mujoco.engine import STABILITY_WARNINGS
from tactile_sim.engines.mujoco.layout import data_layout, field_offset
from tactile_sim.engines.mujoco.sensors import MujocoSensors
from tactile_sim.errors import EngineError

_STATE = {
    "time": mujoco.mjtState.mjSTATE_TIME,
    "qpos": mujoco.mjtState.mjSTATE_QPOS,
    "qvel": mujoco.mjtState.mjSTATE_QVEL,
    "act": mujoco.mjtState.mjSTATE_ACT,
    "ctrl": mujoco.mjtState.mjSTATE_CTRL,
    "qfrc_applied": mujoco.mjtState.mjSTATE_QFRC_APPLIED,
    "xfrc_applied": mujoco.mjtState.mjSTATE_XFRC_APPLIED,
    "mocap_pos": mujoco.mjtState.mjSTATE_MOCAP_POS,
    "mocap_quat": mujoco.mjtState.mjSTATE_MOCAP_QUAT,
    "qacc_warmstart": mujoco.mjtState.mjSTATE_WARMSTART,
}
_RECORDED = ("xpos", "xmat", "qfrc_actuator", "sensordata")
_WARNINGS = STABILITY_WARNINGS | {int(mujoco.mjtWarning.mjWARN_BADCTRL): "control"}
_CAPACITY = 32
_INTEGRATORS = {
    mujoco.mjtIntegrator.mjINT_EULER: "mj_Euler",
    mujoco.mjtIntegrator.mjINT_IMPLICIT: "mj_implicit",
    mujoco.mjtIntegrator.mjINT_IMPLICITFAST: "mj_implicit",
    # No function of its own is public. mj_step2 solves again from the same warm start, so the result has the
    # same bits.
    mujoco.mjtIntegrator.mjINT_DISCRETE: "mj_step2",
}


class _Config(ctypes.Structure):
    _fields_ = [("nthread", ctypes.c_int), ("persistent", ctypes.c_ubyte)]


class _Owner:
    """Deletes a batch when no array of it is left."""

    def __init__(self, batch: int):
        self._batch, self._delete = batch, _library().mjb_deleteBatch

    def __del__(self) -> None:
        self._delete(self._batch)

    def view(self, address: int, shape: tuple[int, ...], kind: Any) -> np.ndarray:
        """Return the array at an address of the batch."""
        memory = (kind * int(np.prod(shape))).from_address(address)
        memory.owner = self
        return np.frombuffer(memory, np.dtype(kind)).reshape(shape)


class Worlds(MujocoSensors):
    """Environments of one model, stepped by MuJoCo's thread pool with results of single environments.

    All arrays have a leading axis for the environments. States and inputs (``qpos``, ``qvel``, ``act``,
    ``ctrl``, ``qfrc_applied``, ``xfrc_applied``, ``mocap_pos``, ``mocap_quat``, ``time``) are read and set in
    place. The others are those of the last `record`.
    """

    name = "mujoco"
    time: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    act: np.ndarray
    ctrl: np.ndarray
    qfrc_applied: np.ndarray
    xfrc_applied: np.ndarray
    mocap_pos: np.ndarray
    mocap_quat: np.ndarray
    qacc_warmstart: np.ndarray
    xpos: np.ndarray
    """(num_envs, nbody, 3) origins of the bodies in the world [m]."""
    xmat: np.ndarray
    """(num_envs, nbody, 9) rotations from body frames to the world."""
    qfrc_actuator: np.ndarray
    """(num_envs, nv) forces of actuators [N, N m]."""
    sensordata: np.ndarray
    """(num_envs, nsensordata) values of all sensors."""
    contact_values: np.ndarray
    """(num_envs, k, Contacts.WIDTH) contacts that carry a force."""
    contact_ids: np.ndarray
    """(num_envs, k, Contacts.IDS) their ids."""

    def __init__(self, model: mujoco.MjModel, num_envs: int, threads: int = 0):
        """Make the environments in the initial state.

        Args:
            model: The model; it is copied.
            num_envs: Number of environments.
            threads: Number of threads; 0: number of processors.

        Raises:
            EngineError: MuJoCo rejects the model or lacks memory.
        """
        self.model, self.num_envs = model, num_envs
        self._lib = _library()
        error = ctypes.create_string_buffer(1000)
        for persistent in (0, 1):  # models with sleep need one mjData for each environment
            config = _Config(threads, persistent)
            self._batch = self._lib.mjb_makeBatch(
                model._address, num_envs, ctypes.byref(config), error, len(error)
            )
            if self._batch:
                break
        else:
            reason = " ".join(error.value.decode(errors="replace").split())
            raise EngineError(f"engine 'mujoco' cannot make {num_envs} environments: {reason}")
        self._owner = _Owner(self._batch)
        self.threads = int(self._lib.mjb_nthread(self._batch))
        width = self._lib.mjb_nstate(self._batch)
        self.state = self._owner.view(self._lib.mjb_state(self._batch), (num_envs, width), ctypes.c_double)
        """(num_envs, nstate) whole state of each environment."""
        first, size, data = self.state.ctypes.data, ctypes.c_int(), mujoco.MjData(model)
        for name, part in _STATE.items():
            address = self._lib.mjb_stateComponent(self._batch, int(part), ctypes.byref(size))
            start = (address - first) // 8 if size.value else 0
            columns = self.state[:, start : start + size.value]
            setattr(self, name, columns.reshape(num_envs, *np.shape(getattr(data, name))))
        self._warnings = self._owner.view(
            self._lib.mjb_warning(self._batch), (num_envs, int(mujoco.mjtWarning.mjNWARNING), 2), ctypes.c_int
        )
        self._errors: dict[int, str] = {}
        self._record_into(data)
        self.reset()

    def step(self, n: int = 1) -> None:
        """Advance every environment by n time steps; see `faults`."""
        self._note(self._lib.mjb_step(self._batch, None, 0, n, 0))

    def record(self, steps: int = 0) -> None:
        """Compute and record contacts, poses, forces and sensors of the present states, then advance.

        Args:
            steps: Number of time steps to take after the present state.
        """
        self._job[_STEPS] = steps
        ids: np.ndarray | None = None
        while True:
            self._note(
                self._lib.mjb_apply(
                    self._batch, None if ids is None else ids.ctypes.data, 0 if ids is None else len(ids),
                    self._callback.address, self._job.ctypes.data, int(steps > 0),
                )
            )  # fmt: skip
            ids = np.flatnonzero(self.contact_counts < 0).astype(np.int32)
            if not len(ids):
                return
            self._make_room(int(-self.contact_counts.min()))

    def reset(self, envs: np.ndarray | None = None, keyframe: str | None = None) -> None:
        """Reset environments to the initial state or to a keyframe.

        Args:
            envs: Ascending int32 indices; None: all.
            keyframe: Name of the keyframe.

        Raises:
            EngineError: The keyframe does not exist.
        """
        count = self.num_envs if envs is None else len(envs)
        keys = np.full(count, keyframe_id(self.model, keyframe) if keyframe else -1, np.int32)
        if count:
            ids = None if envs is None else envs.ctypes.data
            self._lib.mjb_reset(self._batch, ids, 0 if envs is None else count, keys.ctypes.data, 0)
        for env in range(self.num_envs) if envs is None else envs.tolist():
            self._errors.pop(env, None)

    def faults(self) -> dict[int, str]:
        """Return what made the physics of environments fail since their last reset, by environment.

        Environments in which MuJoCo raised an error keep the state and the readings from before.
        """
        counts = self._warnings[:, list(_WARNINGS), 1]
        names = list(_WARNINGS.values())
        rows = np.flatnonzero(counts.any(axis=1))
        return {env: f"bad {names[int(np.argmax(counts[env]))]}" for env in rows.tolist()} | self._errors

    def contacts(self, env: int) -> Contacts:
        """Return the recorded contacts of an environment, as views."""
        count = int(self.contact_counts[env])
        return Contacts(self.contact_values[env, :count], self.contact_ids[env, :count])

    @property
    def _sensordata(self) -> np.ndarray:  # type: ignore[override]
        return self.sensordata

    def _record_into(self, data: mujoco.MjData) -> None:
        """Make the arrays that `record` writes, and the table of their addresses."""
        model = self.model
        copies = []
        for name in _RECORDED:
            shape = np.shape(getattr(data, name))
            out = np.zeros((self.num_envs, *shape))
            setattr(self, name, out)
            if out.size:
                copies.append((field_offset(data, name), out.ctypes.data, out[0].size))
        self._constants = model.geom_bodyid.copy(), model.body_rootid.copy()
        self.contact_counts = np.zeros(self.num_envs, np.int32)
        """(num_envs,) number of contacts that carry a force."""
        self._job = np.zeros(_COPIES + 3 * len(copies), np.int64)
        self._job[_COUNTS] = self.contact_counts.ctypes.data
        self._job[_GEOM_BODY], self._job[_BODY_ROOT] = (array.ctypes.data for array in self._constants)
        self._job[_NGEOM], self._job[_NBODY] = model.ngeom, model.nbody
        self._job[_CVEL], self._job[_COM] = field_offset(data, "cvel"), field_offset(data, "subtree_com")
        self._job[_IS_ELLIPTIC] = model.opt.cone == ELLIPTIC
        self._job[_NCOPIES] = len(copies)
        self._job[_COPIES:] = np.array(copies, np.int64).ravel()
        self._make_room(_CAPACITY)
        self._callback = _callback(int(model.opt.integrator))

    def _make_room(self, contacts: int) -> None:
        """Make room for a number of contacts in each environment; recorded contacts are kept."""
        values = np.zeros((self.num_envs, contacts, Contacts.WIDTH))
        ids = np.zeros((self.num_envs, contacts, Contacts.IDS), np.int32)
        if self._job[_ROOM]:
            values[:, : self._job[_ROOM]], ids[:, : self._job[_ROOM]] = self.contact_values, self.contact_ids
        self.contact_values, self.contact_ids = values, ids
        self._job[_VALUES], self._job[_IDS] = values.ctypes.data, ids.ctypes.data
        self._job[_ROOM] = contacts

    def _note(self, failed: int) -> None:
        """Note the errors of environments in which MuJoCo raised some."""
        if failed:
            status = self._owner.view(self._lib.mjb_status(self._batch), (self.num_envs,), ctypes.c_int)
            for env in np.flatnonzero(status).tolist():
                text = self._lib.mjb_error(self._batch, env).decode(errors="replace")
                self._errors[env] = " ".join(text.split())
            self.contact_counts[list(self._errors)] = 0


_WIDTH, _NIDS = Contacts.WIDTH, Contacts.IDS
(_STEPS, _ROOM, _VALUES, _IDS, _COUNTS, _GEOM_BODY, _BODY_ROOT, _NGEOM, _NBODY, _CVEL, _COM, _IS_ELLIPTIC,
 _NCOPIES, _COPIES) = range(14)  # fmt: skip
"""Entries of the table that the callback gets; from _COPIES on: source offset, destination, size."""


@cache
def _callback(integrator: int) -> Any:
    """Return the compiled function that MuJoCo's threads run on each environment."""
    where, lib = data_layout(), _library()
    names = ("mj_checkPos", "mj_checkVel", "mj_forward", "mj_checkAcc", "mj_step")
    check_pos, check_vel, forward, check_acc, step = (_function(lib, name) for name in names)
    integrate = _function(lib, _INTEGRATORS.get(mujoco.mjtIntegrator(integrator), "mj_Euler"))
    integrate_in_stages = _function(lib, "mj_RungeKutta", 1)
    runge_kutta = integrator == mujoco.mjtIntegrator.mjINT_RK4

    def run(model, data, env, job_address):
        check_pos(model, data)
        check_vel(model, data)
        forward(model, data)
        check_acc(model, data)
        memory = floats_from_zero(), ints_from_zero(), longs_from_zero()
        if not _record(memory, data, env, job_address, where):
            return
        steps = memory[2][(job_address >> 3) + _STEPS]
        if steps > 0:
            if runge_kutta:
                integrate_in_stages(model, data, 4)
            else:
                integrate(model, data)
            for _ in range(steps - 1):
                step(model, data)

    return callback("void(int64, int64, int32, int64)", run)


@kernel
def _record(memory, data, env, job_address, where):
    """Record contacts and other arrays of an environment; return False if its contacts do not fit.

    memory: all memory from address 0 as float64, int32 and int64; data, job_address: addresses of mjData and
    of the table; where: `DataLayout`.
    """
    floats, ints, longs = memory
    job = longs[job_address >> 3 :]
    counts = job[_COUNTS] >> 2
    count = ints[(data + where.ncon) >> 2]
    room = job[_ROOM]
    if count > room:
        ints[counts + env] = -count
        return False
    pos, frame, dist = np.empty((count, 3)), np.empty((count, 9)), np.empty(count)
    friction, geom = np.empty((count, 5)), np.empty((count, 2), np.int32)
    dim, address = np.empty(count, np.int32), np.empty(count, np.int32)
    first, rows = longs[(data + where.contact) >> 3], 0
    for c in range(count):
        contact = first + c * where.stride
        for i in range(3):
            pos[c, i] = floats[((contact + where.pos) >> 3) + i]
        for i in range(9):
            frame[c, i] = floats[((contact + where.frame) >> 3) + i]
        for i in range(5):
            friction[c, i] = floats[((contact + where.friction) >> 3) + i]
        for i in range(2):
            geom[c, i] = ints[((contact + where.geom) >> 2) + i]
        dist[c] = floats[(contact + where.dist) >> 3]
        dim[c] = ints[(contact + where.dim) >> 2]
        address[c] = ints[(contact + where.efc_address) >> 2]
        rows = max(rows, address[c] + 2 * dim[c])
    nbody = job[_NBODY]
    force, cvel, com = (
        longs[(data + where.efc_force) >> 3] >> 3,
        longs[(data + job[_CVEL]) >> 3] >> 3,
        longs[(data + job[_COM]) >> 3] >> 3,
    )
    values, ids = (job[_VALUES] >> 3) + env * room * _WIDTH, (job[_IDS] >> 2) + env * room * _NIDS
    bodies, roots = job[_GEOM_BODY] >> 2, job[_BODY_ROOT] >> 2
    ints[counts + env] = read_arrays(
        pos, frame, dist, geom, dim, address, friction, floats[force : force + rows], job[_IS_ELLIPTIC] != 0,
        ints[bodies : bodies + job[_NGEOM]], ints[roots : roots + nbody],
        floats[cvel : cvel + 6 * nbody].reshape((nbody, 6)),
        floats[com : com + 3 * nbody].reshape((nbody, 3)),
        floats[values : values + room * _WIDTH].reshape((room, _WIDTH)),
        ints[ids : ids + room * _NIDS].reshape((room, _NIDS)),
    )  # fmt: skip
    for k in range(job[_NCOPIES]):
        offset, out, size = job[_COPIES + 3 * k], job[_COPIES + 3 * k + 1], job[_COPIES + 3 * k + 2]
        source, target = longs[(data + offset) >> 3] >> 3, (out >> 3) + env * size
        for i in range(size):
            floats[target + i] = floats[source + i]
    return True


def _function(lib: ctypes.CDLL, name: str, integers: int = 0) -> Any:
    """Return a function of MuJoCo on a model, data and integers, for the callback."""
    kinds = [ctypes.c_int64, ctypes.c_int64, *[ctypes.c_int] * integers]
    return ctypes.CFUNCTYPE(None, *kinds)((name, lib))


@cache
def _library() -> ctypes.CDLL:
    """Return MuJoCo's library with the types of its functions."""
    folder = Path(mujoco.__file__).parent
    found = [path for pattern in ("libmujoco.*", "mujoco.dll") for path in folder.glob(pattern)]
    if not found:
        raise EngineError(f"engine 'mujoco': no MuJoCo library in {folder}; install mujoco again with pip")
    lib = ctypes.CDLL(str(found[0]))
    number, place = ctypes.c_int, ctypes.c_void_p
    for name, result, arguments in (
        ("mjb_makeBatch", place, (place, number, place, place, number)),
        ("mjb_deleteBatch", None, (place,)),
        ("mjb_nthread", number, (place,)),
        ("mjb_nstate", number, (place,)),
        ("mjb_state", place, (place,)),
        ("mjb_stateComponent", place, (place, number, place)),
        ("mjb_warning", place, (place,)),
        ("mjb_status", place, (place,)),
        ("mjb_error", ctypes.c_char_p, (place, number)),
        ("mjb_step", number, (place, place, number, number, number)),
        ("mjb_reset", number, (place, place, number, place, number)),
        ("mjb_apply", number, (place, place, number, place, place, number)),
    ):
        function = getattr(lib, name, None)
        if function is None:
            raise EngineError(
                f"engine 'mujoco': several environments with skin need mujoco 4.0, got {mujoco.__version__};"
                " python -m pip install 'mujoco>=4.0'"
            )
        function.restype, function.argtypes = result, arguments
    return lib
