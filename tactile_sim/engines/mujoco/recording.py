"""Callback that MuJoCo's threads run on each environment of a batch.

It records contacts and other results for the current state, and then steps the environment.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import mujoco
import numpy as np

from tactile_sim.compilation import callback, floats_from_zero, ints_from_zero, kernel, longs_from_zero
from tactile_sim.engines.contact_reader import ELLIPTIC, read_arrays
from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.mujoco.layout import data_layout, field_offset
from tactile_sim.engines.mujoco.library import library, step_function

_INTEGRATORS = {
    "mjINT_EULER": "mj_Euler",
    "mjINT_IMPLICIT": "mj_implicit",
    "mjINT_IMPLICITFAST": "mj_implicit",
    # This integrator has no public function. mj_step2 solves again from the same warm start, so the result
    # is bitwise identical.
    "mjINT_DISCRETE": "mj_step2",
}
_WIDTH, _NIDS = Contacts.WIDTH, Contacts.IDS
(STEPS, ROOM, VALUES, IDS, COUNTS, GEOM_BODY, BODY_ROOT, NGEOM, NBODY, CVEL, COM, IS_ELLIPTIC,
 NCOPIES, COPIES) = range(14)  # fmt: skip
"""Indices into the table that `new_job` creates.

From index COPIES on, the table contains three numbers for each array to copy: the offset of its pointer in
mjData [bytes], the address of the destination, and the number of values per environment.
"""


def new_job(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    counts: np.ndarray,
    constants: tuple[np.ndarray, np.ndarray],
    copies: list[tuple[int, int, int]],
) -> np.ndarray:
    """Create the int64 table of addresses and sizes for the callback.

    The caller sets the entries for steps and contact buffers, which are 0, and keeps the arrays alive.

    Args:
        model: MuJoCo model of one environment.
        data: Any data of this model; the memory layout is read from it.
        counts: (num_envs,) int32 array that the callback fills with the number of contacts.
        constants: ``geom_bodyid`` and ``body_rootid`` of the model.
        copies: Offset, destination address and size for each array to copy, see `COPIES`.
    """
    job = np.zeros(COPIES + 3 * len(copies), np.int64)
    job[COUNTS] = counts.ctypes.data
    job[GEOM_BODY], job[BODY_ROOT] = (array.ctypes.data for array in constants)
    job[NGEOM], job[NBODY] = model.ngeom, model.nbody
    job[CVEL], job[COM] = field_offset(data, "cvel"), field_offset(data, "subtree_com")
    job[IS_ELLIPTIC] = model.opt.cone == ELLIPTIC
    job[NCOPIES] = len(copies)
    job[COPIES:] = np.array(copies, np.int64).ravel()
    return job


@cache
def compiled_callback(integrator: int) -> Any:
    """Return the compiled function that MuJoCo's threads run on each environment.

    Args:
        integrator: Type of MuJoCo's integrator (mjtIntegrator).
    """
    where, lib = data_layout(), library()
    names = ("mj_checkPos", "mj_checkVel", "mj_forward", "mj_checkAcc", "mj_step")
    check_pos, check_vel, forward, check_acc, step = (step_function(lib, name) for name in names)
    integrate = step_function(lib, _INTEGRATORS.get(mujoco.mjtIntegrator(integrator).name, "mj_Euler"))
    integrate_in_stages = step_function(lib, "mj_RungeKutta", 1)
    runge_kutta = integrator == mujoco.mjtIntegrator.mjINT_RK4

    def run(model, data, env, job_address):
        check_pos(model, data)
        check_vel(model, data)
        forward(model, data)
        check_acc(model, data)
        memory = floats_from_zero(), ints_from_zero(), longs_from_zero()
        if not _record(memory, data, env, job_address, where):
            return
        steps = memory[2][(job_address >> 3) + STEPS]
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

    Args:
        memory: Three arrays (float64, int32 and int64) that view the memory of the process from address 0.
        data: Address of mjData.
        env: Index of the environment.
        job_address: Address of the table created by `new_job`.
        where: Memory layout of mjData and mjContact, see `DataLayout`.
    """
    floats, ints, longs = memory
    job = longs[job_address >> 3 :]
    counts = job[COUNTS] >> 2
    count = ints[(data + where.ncon) >> 2]
    room = job[ROOM]
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
    nbody = job[NBODY]
    force, cvel, com = (
        longs[(data + where.efc_force) >> 3] >> 3,
        longs[(data + job[CVEL]) >> 3] >> 3,
        longs[(data + job[COM]) >> 3] >> 3,
    )
    values, ids = (job[VALUES] >> 3) + env * room * _WIDTH, (job[IDS] >> 2) + env * room * _NIDS
    bodies, roots = job[GEOM_BODY] >> 2, job[BODY_ROOT] >> 2
    ints[counts + env] = read_arrays(
        pos, frame, dist, geom, dim, address, friction, floats[force : force + rows], job[IS_ELLIPTIC] != 0,
        ints[bodies : bodies + job[NGEOM]], ints[roots : roots + nbody],
        floats[cvel : cvel + 6 * nbody].reshape((nbody, 6)),
        floats[com : com + 3 * nbody].reshape((nbody, 3)),
        floats[values : values + room * _WIDTH].reshape((room, _WIDTH)),
        ints[ids : ids + room * _NIDS].reshape((room, _NIDS)),
    )  # fmt: skip
    for k in range(job[NCOPIES]):
        offset, out, size = job[COPIES + 3 * k], job[COPIES + 3 * k + 1], job[COPIES + 3 * k + 2]
        source, target = longs[(data + offset) >> 3] >> 3, (out >> 3) + env * size
        for i in range(size):
            floats[target + i] = floats[source + i]
    return True
