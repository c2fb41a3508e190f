"""Run all stages of a signal chain in many environments."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np

from tactile_sim._core import ChainProgram, ChainStage, ChainWorkspace
from tactile_sim.common.errors import CommandError
from tactile_sim.signal_chain.driver import History, Tare
from tactile_sim.signal_chain.group import Group, normal_table
from tactile_sim.signal_chain.stage import Codes, Now, Stage
from tactile_sim.signal_chain.transmission import Delay


class Workspace:
    """Arrays in which one thread computes the readings of an environment."""

    def __init__(self, axes: np.ndarray, channels: int):
        """Allocate the arrays.

        Args:
            axes: (3, taxels) float32 normals, see `Now.normals`.
            channels: Number of channels of the readings.
        """
        self.axes = axes
        self._use(ChainWorkspace(axes, channels))

    def _use(self, native: ChainWorkspace) -> None:
        self.native, self.valid = native, native.valid
        """(taxels,) uint8, 1 where the last reading is valid."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Workspace:
        """Return a workspace with its own arrays."""
        new = copy.copy(self)
        new._use(self.native.copy())
        return new


class Program:
    """Signal chains of n environments with the same stages, each with its own seed and memory."""

    def __init__(
        self,
        groups: dict[type[Stage], Group],
        seeds: Sequence[int],
        timestep: float,
        channels: int,
        episode: int = 0,
        rate: float = 0.0,
    ):
        """Draw a value for each parameter that is a range, and allocate memory for the stages.

        Args:
            groups: Group of pads for each stage, in the order of the stages.
            seeds: (n,) Seed of each environment.
            timestep: Time step of the simulation [s].
            channels: Number of channels of the readings.
            episode: Number of earlier resets.
            rate: Expected rate of the readings [Hz], which sets the capacity of delays at the start.
        """
        self.groups = {stage: replace(group, channels=channels) for stage, group in groups.items()}
        self.seeds = np.array(seeds, np.uint64)
        self.episodes = np.full(len(seeds), episode, np.uint64)
        """(n,) number of resets since the start."""
        self.channels, taxels = channels, len(self.groups[Tare].skin.positions)
        self._staged = np.zeros(taxels, bool)
        for begin, end, _ in np.concatenate([group.pads for group in self.groups.values()]):
            self._staged[begin:end] = True
        self.native = ChainProgram(timestep, channels, self.seeds, self._staged, normal_table())
        self._varies = [any(stage.scattered for stage in group.stages) for group in self.groups.values()]
        self._random = [bool(group.random.any()) for group in self.groups.values()]
        self._drawn: dict[tuple[int, int], list[Stage]] = {}
        """Stages of your own with drawn parameters for all pads, by environment and index of the stage."""
        self._memory: dict[int, np.ndarray] = {}
        """(n, 2, rows, channels, taxels) memory of stages of your own by index, before and after the last
        stored reading."""
        self._numbers_size = 0
        for index, (stage, group) in enumerate(self.groups.items()):
            numbers = self._numbers(index, 0)
            codes = group.codes or Codes(0.0, 0)
            self.native.add(
                ChainStage(
                    key=stage.key(), hash=crc32(stage.key().encode()), pads=group.pads, runs=group.ranges,
                    integers=stage.integers(group), linked=group.linked, recalled=group.recalled,
                    rests=stage.rests, code_step=codes.step, least_code=codes.least,
                    room=stage.room(group, rate), varies=self._varies[index], **numbers,
                )
            )  # fmt: skip
            if stage.compute:
                shape = len(seeds), 2, stage.memory_rows, channels, group.number
                self._memory[index] = np.zeros(shape, np.float32)
            if self._varies[index]:
                self._numbers_size += sum(array.nbytes for array in numbers.values())
        self._draw(range(1, len(seeds)), self._varies)
        self.read_switches()
        self._remembers = any(self._random) or any(
            stage.has_memory for stage in self.groups if stage is not Tare
        )
        self._untared = bool(self.groups[Tare].bodies)

    def __deepcopy__(self, memo: dict[int, Any]) -> Program:
        """Return a copy with its own memory, seeds and constants."""
        new = copy.copy(self)
        new.native = self.native.copy()
        for name in ("groups", "seeds", "episodes", "_drawn", "_memory"):
            setattr(new, name, copy.deepcopy(getattr(self, name), memo))
        return new

    @property
    def has_own_stages(self) -> bool:
        """True if a stage runs in Python."""
        return bool(self._memory)

    @property
    def has_memory(self) -> bool:
        """True if readings of an environment depend on earlier ones."""
        return self._remembers or self.waits_for_tare

    @property
    def waits_for_tare(self) -> bool:
        """True if an automatic tare is still pending in some environment."""
        self._untared = self._untared and self.native.waits_for_tare  # a tare is never undone
        return self._untared

    @property
    def output_type(self) -> type[np.floating]:
        """Type that stores the output exactly: stages compute float32; taxels without stages stay float64."""
        return np.float32 if self._staged.all() else np.float64

    @property
    def bytes_per_environment(self) -> int:
        """Size of the constants and memory of each environment [bytes]."""
        own = sum(memory[0].nbytes for memory in self._memory.values())
        return sum(self.native.memory_bytes) + own + self._numbers_size

    def kept(self, env: int) -> int:
        """Return the step of the last stored reading of an environment; -1 if there is none."""
        return self.native.kept(env)

    def tared(self, env: int) -> bool:
        """Return whether an environment was tared."""
        return self.native.tared(env)

    def zero(self, env: int) -> np.ndarray:
        """Return the values (taxels, channels) that the tare subtracts in an environment."""
        return self.native.zero(env)

    def tare(self, envs: np.ndarray, zero: np.ndarray) -> None:
        """Tare some environments: set the readings to subtract from all their later readings.

        Args:
            envs: (k,) int64 indices of the environments.
            zero: (k, taxels, channels) Readings to subtract.
        """
        for env, readings in zip(envs.tolist(), zero, strict=True):
            self.native.tare(env, np.ascontiguousarray(readings, float))

    def clear_tare(self) -> None:
        """Return environment 0 to the state before any tare."""
        self.native.tare(0, None)

    def history(self, env: int) -> dict[str, np.ndarray]:
        """Return the last outputs of an environment, see `History.outputs`."""
        return History.outputs(self.groups[History], self.native.history(env))

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
            truth: (n, taxels, channels) ideal readings, float32 or float64.
            output: (n, taxels, channels) Array that is filled at ``envs``, or (0, taxels, channels) for no
                output, float32 or float64.
            keep: Whether to update the memory of the stages.
            until: Apply only the stages before this one; None applies all.

        Raises:
            CommandError: A stage of your own returned an array of the wrong shape.
        """
        compute = partial(self._compute, workspace)
        self.native.run(workspace.native, envs, steps, truth, output, keep, self._count(until), compute)

    def read(
        self, workspace: Workspace, step: int, truth: np.ndarray, keep: bool, until: type[Stage] | None = None
    ) -> np.ndarray:
        """Return the readings (taxels, channels) of the only environment, see `run`."""
        compute = partial(self._compute, workspace) if self._memory else None
        return self.native.read(workspace.native, step, truth, keep, self._count(until), compute)

    def _count(self, until: type[Stage] | None) -> int:
        """Return the number of stages before this one, or of all."""
        return len(self.groups) if until is None else list(self.groups).index(until)

    def make_room(self, steps: np.ndarray) -> None:
        """Ensure that delays can store another reading, before `run` stores it.

        Args:
            steps: (n,) int64 step of each environment since its last reset.
        """
        if Delay in self.groups:
            self.native.make_room(steps)

    def restart(self, envs: np.ndarray, seed: int | np.ndarray | None = None) -> None:
        """Reset the memory and random numbers of environments and draw from ranges again. The tare is kept.

        Args:
            envs: int64 indices of the environments.
            seed: New seed, or one for each environment. None keeps the seeds, and draws other values from
                ranges than before.
        """
        if seed is None:
            self.episodes[envs] += np.uint64(1)
        else:
            self.seeds[envs], self.episodes[envs] = seed, 0
        for env in envs.tolist():
            self.native.restart(env, int(self.seeds[env]))
        for memory in self._memory.values():
            memory[envs] = 0.0
        self._draw(envs.tolist(), self._varies if seed is not None else self._random)

    def read_switches(self) -> None:
        """Apply changes of `Stage.enabled` in the groups. Memory is kept."""
        for index, group in enumerate(self.groups.values()):
            self.native.set_bypassed(index, group.bypassed)

    def _draw(self, envs: Sequence[int], wanted: Sequence[bool]) -> None:
        """Draw the parameters of the wanted stages in some environments."""
        for env in envs if any(wanted) else ():
            for index, varies in enumerate(wanted):
                if varies:
                    self.native.set_numbers(index, env, **self._numbers(index, env))

    def _numbers(self, index: int, env: int) -> dict[str, np.ndarray]:
        """Return the parameters, constants and deviations of a stage in an environment."""
        stage, group = list(self.groups.items())[index]
        draw = group.draw(int(self.seeds[env]), int(self.episodes[env]))
        if stage.compute:
            self._drawn[index, env] = [
                replace(own, **dict(zip(own.numbers(), row, strict=True))) if own.random else own
                for own, row in zip(group.stages, draw.parameters.tolist(), strict=True)
            ]
        return {
            "parameters": draw.parameters[group.runs],
            "constants": stage.constants(group, draw).astype(np.float32),
            "deviations": stage.deviations(group, draw),
        }

    def _compute(
        self,
        workspace: Workspace,
        index: int,
        env: int,
        step: int,
        interval: float,
        first: bool,
        again: bool,
        keep: bool,
        key: int,
    ) -> None:
        """Compute a stage of your own, see `Now`; ``again``: replace the stored reading of this step."""
        group = list(self.groups.values())[index]
        stages = self._drawn[index, env if self._varies[index] else 0]
        before, after = self._memory[index][env]
        for stage, name, (begin, end, place) in zip(
            stages, group.names.tolist(), group.pads.tolist(), strict=True
        ):
            values, taxels = workspace.native.values[:, begin:end], slice(place, place + end - begin)
            valid = workspace.valid[begin:end]
            now = Now(step, interval, first, workspace.axes[:, begin:end], valid, (key, name))
            memory = (before if again else after)[..., taxels].copy()
            result = np.asarray(stage.compute(values.copy(), memory, now))
            if result.shape != values.shape:
                raise CommandError(
                    f"stage {stage.key()!r}: compute must return an array {values.shape}, got {result.shape}"
                )
            values[:] = result
            if keep:
                if not again:
                    before[..., taxels] = after[..., taxels]
                after[..., taxels] = memory


def compact(groups: dict[type[Stage], Group]) -> dict[type[Stage], Group]:
    """Return groups whose stages need less memory and give the same readings.

    No stage may be switched on or off afterwards.

    Args:
        groups: Group of pads for each stage, in the order of the stages.

    Returns:
        The groups, with `Group.linked`, `Group.recalled` and `Group.codes` set.
    """
    made: dict[type[Stage], Group] = {}
    recalled: set[str] = set()
    codes: dict[str, Codes | None] = {}
    for stage, group in groups.items():
        pads = [(pad.name, own) for pad, own in zip(group.bodies, group.stages, strict=True)]
        inputs = {codes.get(name) for name, _ in pads}
        made[stage] = replace(
            group,
            linked=stage.recalls and all(name in recalled for name, _ in pads),
            recalled=stage.recalls,
            codes=inputs.pop() if len(inputs) == 1 else None,
        )
        for name, own in pads:
            if own.enabled:
                codes[name] = own.output_codes(codes.get(name))
            if own.enabled and stage.recalls:
                recalled.add(name)
            else:
                recalled.discard(name)
    return made
