"""Run all stages of a signal chain in many environments, with their constants and memory in flat arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from tactile_sim.compilation import address, kernel
from tactile_sim.signal_chain.draws import stream
from tactile_sim.signal_chain.stage import COMPUTATION, Group, Now, Own, Stage, call_stage
from tactile_sim.signal_chain.tare import Tare
from tactile_sim.signal_chain.transmission import Delay

(_ADDRESS, _KEY, _BODIES, _RANGES, _INDEX, _INDEX_END, _VARIES, _PARAMETERS, _CONSTANTS, _CONSTANTS_END,
 _MEMORY, _MEMORY_END, _SWITCHES, _COLUMNS) = range(14)  # fmt: skip
"""Columns of `Program._rows`, which has one row per stage.

Ranges and indices are stored in one array, parameters and constants in one of two: fixed or varying."""
_GROWTH = 1.5
"""Factor by which the capacity of a delay grows."""


class Program:
    """Signal chains of n environments with the same stages, each with its own seed and memory."""

    def __init__(
        self,
        groups: dict[type[Stage], Group],
        seeds: Sequence[int],
        timestep: float,
        channels: int,
        episode: int = 0,
    ):
        """Draw all ranges and allocate memory for the stages.

        Args:
            groups: Group of pads for each stage, in the order of the stages.
            seeds: (n,) Seed of each environment.
            timestep: Time step of the simulation [s].
            channels: Number of channels of the readings.
            episode: Number of earlier resets.
        """
        self.groups = {
            stage: dataclasses.replace(group, channels=channels) for stage, group in groups.items()
        }
        self.channels, self._timestep = channels, timestep
        self.seeds = np.array(seeds, np.uint64)
        self.episodes = np.full(len(seeds), episode, np.uint64)
        """(n,) number of resets since the start."""
        self.kept = np.full(len(seeds), -1, np.int64)
        """(n,) step of the last stored reading; -1 if there is none."""
        self._stages = list(self.groups)
        self._varies = [any(stage.scattered for stage in group.stages) for group in self.groups.values()]
        self.random = [bool(group.random.any()) for group in self.groups.values()]
        """Whether a reset draws the parameters of each stage again."""
        self._make_constants()
        self.read_switches()
        self.memory = np.zeros((len(seeds), self._lay_out()))
        self._remembers = any(self.random) or any(
            stage.has_memory for stage in self._stages if stage is not Tare
        )

    @property
    def has_memory(self) -> bool:
        """True if readings of an environment depend on earlier ones."""
        return self._remembers or self.waits_for_tare

    @property
    def waits_for_tare(self) -> bool:
        """True if an automatic tare is still pending in some environment."""
        begin, bodies = self.columns(Tare).start + 1, len(self.groups[Tare].bodies)
        return bodies > 0 and not self.memory[:, begin : begin + bodies].all()

    @property
    def tared(self) -> np.ndarray:
        """(n,) whether each environment was tared."""
        return self.memory[:, self.columns(Tare).start] != 0.0

    def zero(self, env: int) -> np.ndarray:
        """Return the values (taxels, channels) that the tare subtracts in an environment."""
        own, size = self.columns(Tare), self.channels * len(self.groups[Tare].skin.positions)
        return np.ascontiguousarray(self.memory[env, own.stop - size : own.stop].reshape(self.channels, -1).T)

    def tare(self, envs: np.ndarray, zero: np.ndarray) -> None:
        """Subtract zero (k, taxels, channels) from all later readings of k environments."""
        group = self.groups[Tare]
        if not group.room:
            group.room = 1
            self.memory = np.pad(self.memory, ((0, 0), (0, self._lay_out() - self.memory.shape[1])))
        own, size = self.columns(Tare), self.channels * len(group.skin.positions)
        self.memory[envs, own.start] = 1.0
        self.memory[envs, own.stop - size : own.stop] = zero.swapaxes(1, 2).reshape(len(zero), -1)

    def columns(self, stage: type[Stage]) -> slice:
        """Return the columns of ``memory`` that belong to a stage."""
        row = self._rows[self._stages.index(stage)]
        return slice(int(row[_MEMORY]), int(row[_MEMORY_END]))

    def run(
        self,
        workspace: Workspace,
        envs: np.ndarray,
        steps: np.ndarray,
        truth: np.ndarray,
        output: np.ndarray,
        keep: bool,
        until: type[Stage] | None = None,
    ) -> None:
        """Compute the readings of some environments.

        Args:
            workspace: Arrays of this thread.
            envs: (k,) int64 indices of the environments.
            steps: (n,) int64 step of each environment since its last reset.
            truth: (n, taxels, channels) ideal readings.
            output: (n, taxels, channels) Array that is filled at ``envs``, or (0, taxels, channels) for no
                output.
            keep: Whether to store the readings in memory.
            until: Apply only the stages before this one; None applies all.
        """
        count = len(self._rows) if until is None else self._stages.index(until)
        _run(
            envs, steps, truth, output, keep, count, self.seeds, self.kept, self._timestep, self._rows,
            self._index, self._fixed, self._varying, self._bypassed, self.memory, *workspace.arrays,
        )  # fmt: skip

    def make_room(self, steps: np.ndarray) -> None:
        """Ensure that the delay can store another reading, before `run` stores it. Needed ones are kept.

        The reading replaces the oldest one if the next one has arrived on every pad.

        Args:
            steps: (n,) int64 step of each environment since its last reset.
        """
        if Delay not in self.groups:
            return
        own, group = self.columns(Delay), self.groups[Delay]
        room, count = group.room, self.memory[:, own.start + 1]
        full = np.flatnonzero((count >= room) & (self.kept != steps))
        second = (self.memory[full, own.start].astype(int) + 1) % room
        arrivals = own.start + 2 + second * ((own.stop - own.start - 2) // room)
        columns = arrivals[:, None] + np.arange(len(group.bodies))
        if (self.memory[full[:, None], columns] <= steps[full, None]).all():
            return
        before = self.memory
        group.room = max(room + 1, int(_GROWTH * room))
        old = before[:, own.start + 2 : own.stop].reshape(len(before), room, -1)
        self.memory = np.zeros((len(before), self._lay_out()))
        new = self.columns(Delay)
        self.memory[:, : own.start + 2] = before[:, : own.start + 2]
        self.memory[:, new.stop :] = before[:, own.stop :]
        slots = self.memory[:, new.start + 2 : new.stop].reshape(len(before), group.room, -1)
        for env, (oldest, count) in enumerate(before[:, own.start : own.start + 2].astype(int).tolist()):
            slots[env, :count] = old[env, (oldest + np.arange(count)) % room]
        self.memory[:, new.start] = 0.0

    def restart(self, envs: np.ndarray, seed: int | None = None) -> None:
        """Restart memory and random numbers of environments and draw ranges again. The tare is kept.

        Args:
            envs: int64 indices of the environments.
            seed: New seed; None continues with the next draws of the current seed.
        """
        self.kept[envs] = -1
        self.memory[envs, : self.columns(Tare).start] = 0.0
        if seed is None:
            self.episodes[envs] += np.uint64(1)
            self._draw(envs, self.random)
        else:
            self.seeds[envs], self.episodes[envs] = seed, 0
            self._draw(envs, self._varies)

    def read_switches(self) -> None:
        """Apply changes of `Stage.enabled` in the groups. Memory is kept."""
        bypassed = [group.bypassed for group in self.groups.values()]
        self._rows[:, _SWITCHES] = np.cumsum([0, *map(len, bypassed)])[:-1]
        self._bypassed = np.concatenate([np.empty(0, np.uint8), *bypassed])

    def _make_constants(self) -> None:
        """Lay out and draw the data that do not change between resets."""
        self._rows = np.zeros((len(self._stages), _COLUMNS), np.int64)
        index, fixed, sizes, place = [], [], [0, 0], 0
        for row, (stage, group), varies in zip(self._rows, self.groups.items(), self._varies, strict=True):
            own, listed = np.ascontiguousarray(group.ranges).ravel(), stage.integers(group)
            draw = group.draw(int(self.seeds[0]), 0)
            constants = stage.constants(group, draw)
            row[_ADDRESS], row[_KEY] = address(stage.compute, COMPUTATION), crc32(stage.key().encode())
            row[_BODIES], row[_RANGES] = len(group.bodies), place
            row[_INDEX], row[_INDEX_END] = place + len(own), place + len(own) + len(listed)
            place = row[_INDEX_END]
            index += [own, listed]
            row[_VARIES], row[_PARAMETERS] = varies, sizes[varies]
            row[_CONSTANTS] = row[_PARAMETERS] + draw.parameters.size
            row[_CONSTANTS_END] = sizes[varies] = row[_CONSTANTS] + len(constants)
            if not varies:
                fixed += [draw.parameters.ravel(), constants]
        self._index = np.concatenate([np.empty(0, np.int64), *index])
        self._fixed = np.concatenate([np.empty(0), *fixed])
        self._varying = np.empty((len(self.seeds), sizes[1]))
        self._draw(np.arange(len(self.seeds)), self._varies)

    def _draw(self, envs: np.ndarray, wanted: Sequence[bool]) -> None:
        """Draw the parameters of stages again and recompute their constants.

        Args:
            envs: int64 indices of the environments.
            wanted: Whether to draw each stage.
        """
        chosen = [
            (row[_PARAMETERS], row[_CONSTANTS], row[_CONSTANTS_END], stage, group)
            for row, (stage, group), draws in zip(self._rows, self.groups.items(), wanted, strict=True)
            if draws
        ]
        for env in envs.tolist() if chosen else []:
            seed, episode, out = int(self.seeds[env]), int(self.episodes[env]), self._varying[env]
            for begin, middle, end, stage, group in chosen:
                draw = group.draw(seed, episode)
                out[begin:middle] = draw.parameters.ravel()
                out[middle:end] = stage.constants(group, draw)

    def _lay_out(self) -> int:
        """Assign memory to all stages, with the tare last, and return the total size."""
        place = 0
        for k in sorted(range(len(self._stages)), key=lambda k: self._stages[k] is Tare):
            stage = self._stages[k]
            size = stage.words(self.groups[stage])
            self._rows[k, _MEMORY], self._rows[k, _MEMORY_END] = place, place + size
            place += size
        return place


class Workspace:
    """Scratch arrays for one thread."""

    def __init__(self, axes: np.ndarray, channels: int):
        """Allocate the arrays; see `Now` for ``axes`` (3, taxels)."""
        taxels = axes.shape[1]
        self.valid = np.ones(taxels, np.uint8)
        """(taxels,) 1 where the last reading is valid."""
        # The rows of ``work`` after those of `Now` store what a bypassed stage must not change.
        values, work = np.empty((channels, taxels)), np.empty((5 + 2 * channels, taxels))
        self.arrays = axes, values, self.valid, work


@kernel
def _store(values, valid, limits, stored):
    """Copy the readings and their validity between the first two limits to (1 + channels, taxels)."""
    for i in range(limits[0], limits[1]):
        stored[0, i] = valid[i]
        for c in range(len(values)):
            stored[1 + c, i] = values[c, i]


@kernel
def _restore(values, valid, limits, stored):
    """Undo the changes since `_store`."""
    for i in range(limits[0], limits[1]):
        valid[i] = np.uint8(stored[0, i])
        for c in range(len(values)):
            values[c, i] = stored[1 + c, i]


@kernel(nogil=True)
def _run(
    envs, steps, truth, output, keep, until, seeds, kept, timestep, program, index, fixed, varying, bypassed,
    memory, axes, values, valid, work,
):  # fmt: skip
    for env in envs:
        reading = truth[env]
        for c in range(len(values)):
            for t in range(len(valid)):
                values[c, t] = reading[t, c]
        valid[:] = 1
        step, first = steps[env], kept[env] < 0
        interval = 0.0 if first else (step - kept[env]) * timestep
        for s in range(until):
            row = program[s]
            numbers = varying[env] if row[_VARIES] else fixed
            bodies = row[_BODIES]
            ranges = index[row[_RANGES] : row[_RANGES] + 3 * bodies].reshape((bodies, 3))
            middle = row[_CONSTANTS]
            parameters = numbers[row[_PARAMETERS] : middle]
            columns = len(parameters) // max(bodies, 1)
            own = Own(
                ranges, parameters.reshape((bodies, columns)), numbers[middle : row[_CONSTANTS_END]],
                index[row[_INDEX] : row[_INDEX_END]],
            )  # fmt: skip
            key = stream(stream(seeds[env], np.uint64(row[_KEY])), np.uint64(step))
            again = step == kept[env]
            now = Now(step, interval, first, again, keep, key, timestep, axes, valid, work)
            switches = bypassed[row[_SWITCHES] : row[_SWITCHES] + bodies]
            stored = work[4 + len(values) :]
            for b in range(bodies):
                if switches[b]:
                    _store(values, valid, ranges[b], stored)
            call_stage(row[_ADDRESS], values, own, memory[env, row[_MEMORY] : row[_MEMORY_END]], now)
            for b in range(bodies):
                if switches[b]:
                    _restore(values, valid, ranges[b], stored)
        if keep:
            kept[env] = step
        if len(output):
            written = output[env]
            for c in range(len(values)):
                for t in range(len(valid)):
                    written[t, c] = values[c, t]
