"""Run all stages of a signal chain in many environments, with their constants and memory in flat arrays."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from tactile_sim.signal_chain.constants import Constants
from tactile_sim.signal_chain.delay import Delay, is_full, move_slots
from tactile_sim.signal_chain.draws import normal_table
from tactile_sim.signal_chain.group import Group
from tactile_sim.signal_chain.loops import REST
from tactile_sim.signal_chain.run import MEMORY, MEMORY_END, Workspace, pack_program, run
from tactile_sim.signal_chain.stage import Stage
from tactile_sim.signal_chain.tare import Tare

_GROWTH = 1.5
"""Factor by which the number of readings that a delay can store grows when it is full."""
_ALIGNED = 16
"""Alignment of the memory of each stage in float32 values: one cache line."""


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
        """Draw a value for each parameter that is a range, and allocate memory for the stages.

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
        self._constants = Constants(self.groups, self.seeds, self.episodes)
        self._rows = dict(zip(self.groups, self._constants.rows, strict=True))
        self.memory = np.zeros((len(seeds), self._lay_out()), np.float32)
        """(n, words) float32 memory of all stages."""
        self._staged = np.zeros(len(self.groups[Tare].skin.positions), np.bool_)
        for begin, end, _ in np.concatenate([group.pads for group in self.groups.values()]):
            self._staged[begin:end] = True
        self._remembers = any(self._constants.random) or any(
            stage.has_memory for stage in self.groups if stage is not Tare
        )
        self._untared = bool(self.groups[Tare].bodies)
        self._pack()

    def __deepcopy__(self, memo: dict[int, Any]) -> Program:
        """Return a copy with its own memory, seeds and constants."""
        new = copy.copy(self)
        for name in ("groups", "_constants", "seeds", "episodes", "kept", "memory"):
            setattr(new, name, copy.deepcopy(getattr(self, name), memo))
        new._rows = dict(zip(new.groups, new._constants.rows, strict=True))
        new._pack()
        return new

    @property
    def has_memory(self) -> bool:
        """True if readings of an environment depend on earlier ones."""
        return self._remembers or self.waits_for_tare

    @property
    def waits_for_tare(self) -> bool:
        """True if an automatic tare is still pending in some environment."""
        if self._untared:  # a tare is never undone
            begin = self.columns(Tare).start + 1
            self._untared = not self.memory[:, begin : begin + len(self.groups[Tare].runs)].all()
        return self._untared

    @property
    def tared(self) -> np.ndarray:
        """(n,) whether each environment was tared."""
        return self.memory[:, self.columns(Tare).start] != 0.0

    @property
    def output_type(self) -> type[np.floating]:
        """Type that stores the output exactly: stages compute float32; taxels without stages stay float64."""
        return np.float32 if self._staged.all() else np.float64

    def zero(self, env: int) -> np.ndarray:
        """Return the values (taxels, channels) that the tare subtracts in an environment."""
        own, size = self.columns(Tare), self.channels * len(self.groups[Tare].skin.positions)
        return np.ascontiguousarray(self.memory[env, own.stop - size : own.stop].reshape(self.channels, -1).T)

    def tare(self, envs: np.ndarray, zero: np.ndarray) -> None:
        """Tare some environments: set the readings to subtract from all their later readings.

        If no pad has the stage `Tare`, the first call enlarges ``memory``.

        Args:
            envs: (k,) int64 indices of the environments.
            zero: (k, taxels, channels) Readings to subtract.
        """
        group = self.groups[Tare]
        if not group.room:
            group.room = 1
            self.memory = np.pad(self.memory, ((0, 0), (0, self._lay_out() - self.memory.shape[1])))
            self._pack()
        own, size = self.columns(Tare), self.channels * len(group.skin.positions)
        self.memory[envs, own.start] = 1.0
        self.memory[envs, own.stop - size : own.stop] = zero.swapaxes(1, 2).reshape(len(zero), -1)

    def columns(self, stage: type[Stage]) -> slice:
        """Return the columns of ``memory`` (n, words) that belong to a stage."""
        row = self._rows[stage]
        return slice(int(row[MEMORY]), int(row[MEMORY_END]))

    @property
    def bytes_per_environment(self) -> int:
        """Size of the constants and memory of each environment [bytes]."""
        return (self._constants.size + self.memory.nbytes) // len(self.memory)

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

        Afterwards, ``Workspace.valid`` contains the validity of the last environment's readings.

        Args:
            workspace: Arrays of this thread.
            envs: (k,) int64 indices of the environments.
            steps: (n,) int64 step of each environment since its last reset.
            truth: (n, taxels, channels) ideal readings.
            output: (n, taxels, channels) Array that is filled at ``envs``, or (0, taxels, channels) for no
                output.
            keep: Whether to update ``memory`` and ``kept``.
            until: Apply only the stages before this one; None applies all.
        """
        count = len(self._rows) if until is None else list(self._rows).index(until)
        run(
            envs, steps, truth, output, keep, count, self._timestep, self._awake_words, self._tared_at,
            self._table, workspace.table,
        )  # fmt: skip

    def make_room(self, steps: np.ndarray) -> None:
        """Ensure that the delay has room for another reading, before `run` stores it.

        No room is needed if the new reading can replace the oldest one, that is, if the second oldest has
        arrived on every pad. Otherwise ``memory`` is enlarged; stored readings are kept.

        Args:
            steps: (n,) int64 step of each environment since its last reset.
        """
        own = self._slots
        if not own:
            return
        group = self.groups[Delay]
        room, before, runs = group.room, self.memory, len(group.runs)
        if not is_full(before, own.start, own.stop, room, runs, self.kept, steps):
            return
        group.room = max(room + 1, int(_GROWTH * room))
        self.memory = np.zeros((len(before), self._lay_out()), np.float32)
        new = self.columns(Delay)
        self.memory[:, : own.start] = before[:, : own.start]
        rest = before.shape[1] - own.stop - -own.stop % _ALIGNED  # the stages after the delay
        self.memory[:, self.memory.shape[1] - rest :] = before[:, before.shape[1] - rest :]
        move_slots(before[:, own], self.memory[:, new], room, group.room)
        self._pack()

    def restart(self, envs: np.ndarray, seed: int | np.ndarray | None = None) -> None:
        """Reset the memory and random numbers of environments and draw from ranges again. The tare is kept.

        Args:
            envs: int64 indices of the environments.
            seed: New seed, or one for each environment. None keeps the seeds, and draws other values from
                ranges than before.
        """
        self.kept[envs] = -1
        self.memory[envs, : self.columns(Tare).start] = 0.0
        if seed is None:
            self.episodes[envs] += np.uint64(1)
        else:
            self.seeds[envs], self.episodes[envs] = seed, 0
        self._constants.draw(envs, self.seeds, self.episodes, seed is not None)

    def read_switches(self) -> None:
        """Apply changes of `Stage.enabled` in the groups. Memory is kept."""
        self._constants.read_switches()
        self._pack()

    def _pack(self) -> None:
        """Update the table of the arrays, after an array was replaced."""
        self._arrays = (
            self.seeds, self.kept, self._staged, *self._constants.arrays, self.memory, normal_table()
        )  # fmt: skip
        self._table = pack_program(self._arrays)
        self._tared_at = self.columns(Tare).start
        self._slots = self.columns(Delay) if Delay in self.groups else None

    def _lay_out(self) -> int:
        """Assign memory to the flags of awake blocks and to all stages, the tare last; return the size."""
        blocks = -(-len(self.groups[Tare].skin.positions) // REST)
        place = self._awake_words = _aligned(-(-blocks // 4)) if any(s.rests for s in self.groups) else 0
        for stage in sorted(self._rows, key=lambda stage: stage is Tare):
            row, size = self._rows[stage], stage.words(self.groups[stage])
            row[MEMORY], row[MEMORY_END] = place, place + size
            place += _aligned(size)
        return place


def _aligned(words: int) -> int:
    return words + -words % _ALIGNED
