"""Parameters and constants of a signal chain's stages in many environments, in flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from tactile_sim.compilation import address
from tactile_sim.signal_chain.group import Group
from tactile_sim.signal_chain.run import (
    ADDRESS,
    COLUMNS,
    CONSTANTS,
    CONSTANTS_END,
    INTEGERS,
    INTEGERS_END,
    KEY,
    PADS,
    PADS_AT,
    PARAMETERS,
    PARAMETERS_END,
    RUNS,
    RUNS_AT,
    SWITCHES,
    VARIES,
)
from tactile_sim.signal_chain.stage import COMPUTATION, Stage


class Constants:
    """Parameters and constants of all stages, which are fixed until the next reset.

    For stages that depend on the seed, values are stored for each environment; for other stages, only once.
    """

    def __init__(self, groups: dict[type[Stage], Group], seeds: np.ndarray, episodes: np.ndarray):
        """Draw a value for each parameter that is a range.

        Args:
            groups: Group of pads for each stage, in the order of the stages.
            seeds: (n,) Seed of each environment.
            episodes: (n,) Number of earlier resets of each environment.
        """
        self._groups = groups
        self._varies = [any(stage.scattered for stage in group.stages) for group in groups.values()]
        self.random = [bool(group.random.any()) for group in groups.values()]
        """For each stage, whether a reset draws its parameters again."""
        self.rows = np.zeros((len(groups), COLUMNS), np.int64)
        """Table of the stages, see `tactile_sim.signal_chain.run.run`."""
        index: list[np.ndarray] = [np.empty(0, np.int64)]
        integers: list[np.ndarray] = [np.empty(0, np.int32)]
        parameters: list[np.ndarray] = [np.empty(0)]
        constants: list[np.ndarray] = [np.empty(0, np.float32)]
        sizes = np.zeros((2, 2), np.int64)  # of parameters and constants: fixed, varying
        place = 0
        for row, (stage, group), varies in zip(self.rows, groups.items(), self._varies, strict=True):
            draw = group.draw(int(seeds[0]), 0)
            drawn, own = draw.parameters[group.runs].ravel(), stage.constants(group, draw)
            row[ADDRESS], row[KEY] = address(stage.compute, COMPUTATION), crc32(stage.key().encode())
            row[PADS], row[RUNS], row[PADS_AT] = len(group.bodies), len(group.runs), place
            row[RUNS_AT] = place + group.pads.size
            place = row[RUNS_AT] + group.ranges.size
            index += [group.pads.ravel(), group.ranges.ravel()]
            row[INTEGERS] = sum(map(len, integers))
            integers.append(stage.integers(group))
            row[INTEGERS_END] = row[INTEGERS] + len(integers[-1])
            size = sizes[int(varies)]
            row[VARIES], row[PARAMETERS], row[CONSTANTS] = varies, size[0], size[1]
            size += len(drawn), len(own)
            row[PARAMETERS_END], row[CONSTANTS_END] = size
            if not varies:
                parameters.append(drawn)
                constants.append(own.astype(np.float32))
        self._index, self._integers = np.concatenate(index), np.concatenate(integers)
        self._fixed = np.concatenate(parameters), np.concatenate(constants)
        self._parameters = np.empty((len(seeds), sizes[1, 0]))
        self._constants = np.empty((len(seeds), sizes[1, 1]), np.float32)
        self.read_switches()
        self._draw(np.arange(len(seeds)), seeds, episodes, self._varies)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arguments of `tactile_sim.signal_chain.run.run` from ``stages`` to ``bypassed``, in order."""
        return (
            self.rows, self._index, self._integers, self._fixed[0], self._parameters, self._fixed[1],
            self._constants, self._bypassed,
        )  # fmt: skip

    @property
    def size(self) -> int:
        """Size of the parameters and constants that differ between environments [bytes]."""
        return self._parameters.nbytes + self._constants.nbytes

    def read_switches(self) -> None:
        """Apply changes of `Stage.enabled` in the groups."""
        bypassed = [group.bypassed for group in self._groups.values()]
        self.rows[:, SWITCHES] = np.cumsum([0, *map(len, bypassed)])[:-1]
        self._bypassed = np.concatenate([np.empty(0, np.uint8), *bypassed])

    def draw(self, envs: np.ndarray, seeds: np.ndarray, episodes: np.ndarray, new_seed: bool) -> None:
        """Draw parameters again and recompute the constants that depend on them.

        Args:
            envs: (k,) int64 indices of the environments.
            seeds: (n,) Seed of each environment.
            episodes: (n,) Number of resets of each environment.
            new_seed: Whether the seeds have changed; otherwise only ranges are drawn again.
        """
        self._draw(envs, seeds, episodes, self._varies if new_seed else self.random)

    def _draw(
        self, envs: np.ndarray, seeds: np.ndarray, episodes: np.ndarray, wanted: Sequence[bool]
    ) -> None:
        chosen = [
            (slice(row[PARAMETERS], row[PARAMETERS_END]), slice(row[CONSTANTS], row[CONSTANTS_END]), *own)
            for row, own, draws in zip(self.rows, self._groups.items(), wanted, strict=True)
            if draws
        ]
        for env in envs.tolist() if chosen else []:
            for parameters, constants, stage, group in chosen:
                draw = group.draw(int(seeds[env]), int(episodes[env]))
                self._parameters[env, parameters] = draw.parameters[group.runs].ravel()
                self._constants[env, constants] = stage.constants(group, draw)
