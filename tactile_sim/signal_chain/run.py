"""Kernel that runs the stages of a signal chain one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from tactile_sim.compilation import kernel, packing
from tactile_sim.signal_chain.draws import stream
from tactile_sim.signal_chain.loops import AWAKE, LOADED, REST, ZERO
from tactile_sim.signal_chain.stage import Now, Own, call_stage

(ADDRESS, KEY, PADS, PADS_AT, RUNS, RUNS_AT, INTEGERS, INTEGERS_END, VARIES, PARAMETERS, PARAMETERS_END,
 CONSTANTS, CONSTANTS_END, SWITCHES, MEMORY, MEMORY_END, COLUMNS) = range(17)  # fmt: skip
"""Columns of the table ``stages`` of `run`, which has one row per stage; see `Constants` and `Program`."""


_PROGRAM = [
    (np.uint64, 1), (np.int64, 1), (np.bool_, 1), (np.int64, 2), (np.int64, 1), (np.int32, 1),
    (np.float64, 1), (np.float64, 2), (np.float32, 1), (np.float32, 2), (np.uint8, 1), (np.float32, 2),
    (np.float32, 1),
]  # fmt: skip
pack_program, _unpack_program = packing(_PROGRAM)
"""``pack_program(arrays)`` returns the table ``program`` of `run`."""
_pack_workspace, _unpack_workspace = packing(
    [(np.float32, 2), (np.float32, 2), (np.uint8, 1), (np.uint8, 1), (np.float32, 2), (np.float32, 2)]
)


class Workspace:
    """Arrays in which one thread computes the readings of an environment."""

    def __init__(self, axes: np.ndarray, channels: int):
        """Allocate the arrays.

        Args:
            axes: (3, taxels) float32 normals, see `Now`.
            channels: Number of channels of the readings.
        """
        taxels = axes.shape[1]
        self.valid = np.ones(taxels, np.uint8)
        """(taxels,) 1 where the last reading is valid."""
        # The rows of ``work`` after those of `Now` store what a bypassed stage must not change.
        sizes = (channels, taxels), (5 + 2 * channels, taxels)
        values, last, work = (np.empty(size, np.float32) for size in (sizes[0], *sizes))
        self._arrays = axes, values, self.valid, np.zeros(-(-taxels // REST), np.uint8), last, work
        self.table = _pack_workspace(self._arrays)
        """Addresses of the arrays, for `run`."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Workspace:
        """Return a workspace with its own arrays."""
        new = Workspace(self._arrays[0], len(self._arrays[1]))
        new.valid[:] = self.valid
        return new


@kernel(counted=False)
def _load(reading, values, awake):
    """Convert ideal readings to float32, and find the blocks in which a reading is not 0.

    Args:
        reading: (taxels * channels,) Ideal readings.
        values: (channels, taxels) float32 Output.
        awake: (blocks,) uint8 Output.
    """
    channels, taxels = values.shape
    for k in range(len(awake)):
        begin, end = k * REST, min(taxels, (k + 1) * REST)
        part, loads = reading[begin * channels : end * channels], 0
        for i in range(len(part)):
            loads |= part[i] != 0.0
        awake[k] = LOADED if loads else 0
        for c in range(channels):
            row = values[c, begin:end]
            for i in range(len(row)):
                row[i] = ZERO
            if loads:
                for i in range(len(row)):
                    row[i] += np.float32(part[i * channels + c])  # -0 becomes 0


@kernel(counted=False)
def _write(values, output):
    """Write readings (channels, taxels) to ``output`` (taxels * channels,)."""
    channels, taxels = values.shape
    if channels == 3:  # a constant distance in memory, so that the loop is vectorized
        x, y, z = values[0], values[1], values[2]
        for t in range(taxels):
            output[3 * t], output[3 * t + 1], output[3 * t + 2] = x[t], y[t], z[t]
        return
    for c in range(channels):
        row = values[c]
        for t in range(taxels):
            output[t * channels + c] = row[t]


@kernel(counted=False)
def _store(values, valid, limits, stored):
    """Save the readings of a pad and their validity before a stage that is bypassed for this pad.

    A stage always processes all of its pads. For bypassed pads, `_restore` then discards the stage's output.

    Args:
        values: (channels, taxels) Readings.
        valid: (taxels,) uint8 validity.
        limits: Range of the taxels of the pad, as in `Own.ranges`.
        stored: (1 + channels, taxels) Output: validity, then readings.
    """
    for i in range(limits[0], limits[1]):
        stored[0, i] = valid[i]
        for c in range(len(values)):
            stored[1 + c, i] = values[c, i]


@kernel(counted=False)
def _restore(values, valid, limits, stored):
    """Restore the readings and validity that `_store` saved, with the same arguments."""
    for i in range(limits[0], limits[1]):
        valid[i] = np.uint8(stored[0, i])
        for c in range(len(values)):
            values[c, i] = stored[1 + c, i]


@kernel(nogil=True, counted=False)
def run(envs, steps, truth, output, keep, until, timestep, awake_words, tared_at, program, workspace):
    """Compute the readings of some environments, see `Program.run`.

    The tables ``program`` and ``workspace`` contain the addresses of arrays, see `packing`. Those of the
    program are:

    - seeds: (n,) uint64 Seed of each environment.
    - kept: (n,) Step of the last stored reading; -1 if there is none.
    - staged: (taxels,) Whether each taxel has stages.
    - stages: (stages, COLUMNS) Table of the stages.
    - index: For each stage in turn, the taxel ranges of its pads and runs, as a flat array.
    - integers: Integers of all stages.
    - fixed_parameters: Parameters that are the same in all environments.
    - parameters: (n, p) Parameters that depend on the environment.
    - fixed_constants: Constants that are the same in all environments.
    - constants: (n, q) float32 Constants that depend on the environment.
    - bypassed: For each pad of each stage, 1 if the stage must not change the readings of the pad.
    - memory: (n, words) float32 Memory of all stages.
    - normals: Table of normally distributed numbers, see `Now`.

    Args:
        envs: (k,) Indices of the environments.
        steps: (n,) Step of each environment since its last reset.
        truth: (n, taxels, channels) Ideal readings.
        output: (n, taxels, channels) Output, or (0, taxels, channels) for none.
        keep: Whether to update ``memory`` and ``kept``.
        until: Number of stages to apply.
        timestep: Time step of the simulation [s].
        awake_words: Number of columns at the start of ``memory`` that store which blocks are awake.
        tared_at: Column of ``memory`` that is not 0 if the environment was tared.
        program: Table of the program's arrays.
        workspace: Table of the arrays of a `Workspace`: ``axes``, ``values``, ``valid``, ``awake``, ``last``,
            ``work``.
    """
    (
        seeds, kept, staged, stages, index, integers, fixed_parameters, parameters, fixed_constants,
        constants, bypassed, memory, normals,
    ) = _unpack_program(program)  # fmt: skip
    axes, values, valid, awake, last, work = _unpack_workspace(workspace)
    for env in envs:
        reading = truth[env].reshape(-1)
        _load(reading, values, awake)
        stored_awake = memory[env, :awake_words].view(np.uint8)
        if awake_words:
            for k in range(len(awake)):
                awake[k] = max(awake[k], stored_awake[k])
        for t in range(len(valid)):
            valid[t] = 1
        step, first = steps[env], kept[env] < 0
        interval = 0.0 if first else (step - kept[env]) * timestep
        for s in range(until):
            row = stages[s]
            pads, runs = row[PADS], row[RUNS]
            some_parameters = parameters[env] if row[VARIES] else fixed_parameters
            some_constants = constants[env] if row[VARIES] else fixed_constants
            columns = (row[PARAMETERS_END] - row[PARAMETERS]) // max(runs, 1)
            own = Own(
                index[row[RUNS_AT] : row[RUNS_AT] + 3 * runs].reshape((runs, 3)),
                some_parameters[row[PARAMETERS] : row[PARAMETERS_END]].reshape((runs, columns)),
                some_constants[row[CONSTANTS] : row[CONSTANTS_END]],
                integers[row[INTEGERS] : row[INTEGERS_END]],
            )  # fmt: skip
            key = stream(stream(seeds[env], np.uint64(row[KEY])), np.uint64(step))
            now = Now(
                step, interval, first, step == kept[env], keep, key, timestep, axes, valid, awake, normals,
                last, work,
            )  # fmt: skip
            switches = bypassed[row[SWITCHES] : row[SWITCHES] + pads]
            ranges = index[row[PADS_AT] : row[PADS_AT] + 3 * pads].reshape((pads, 3))
            stored = work[4 + len(values) :]
            for b in range(pads):
                if switches[b]:
                    _store(values, valid, ranges[b], stored)
            call_stage(row[ADDRESS], values, own, memory[env, row[MEMORY] : row[MEMORY_END]], now)
            for b in range(pads):
                if switches[b]:
                    _restore(values, valid, ranges[b], stored)
        if keep:
            kept[env] = step
            if awake_words:
                for k in range(len(awake)):
                    stored_awake[k] = min(awake[k], AWAKE)
        if len(output):
            written, tared = output[env].reshape(-1), memory[env, tared_at] != ZERO
            _write(values, written)
            if not tared:
                for t in range(len(valid)):
                    if not staged[t]:
                        for i in range(t * len(values), (t + 1) * len(values)):
                            written[i] = reading[i]
