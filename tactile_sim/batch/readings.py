"""Compute the readings of the skin in many environments, with sampling and signal chains."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from tactile_sim.engines import Environments
from tactile_sim.signal_chain.driver import Tare
from tactile_sim.signal_chain.program import Program
from tactile_sim.signal_chain.sampling import Sampling
from tactile_sim.signal_chain.stage import Stage
from tactile_sim.simulation import Simulation
from tactile_sim.skin import TOUCH_FUNCTIONS
from tactile_sim.skin.many import ManyContacts, ManyReadings, read_environments

_LEAST = 8
"""Minimum number of environments per thread; fewer are not worth the overhead."""


class Readings:
    """Readings of the skin in each environment, computed in the same way as by `Simulation`."""

    def __init__(self, simulation: Simulation, worlds: Environments, seed: int):
        """Create the signal chains. Environment k uses the seed ``seed + k``."""
        self._worlds, self._simulation, self._seed = worlds, simulation, seed
        settings = simulation.settings.skin
        self._functions = settings.touch_function, settings.response_function
        channels = TOUCH_FUNCTIONS[settings.touch_function].channels
        count = worlds.num_envs
        self._felt = self._make_readings(channels)
        self._chain = simulation.signal_chain.of_pad(0)
        self._chains: Program | None = None if self._chain.idle else self._make_chains()
        sampling = simulation.sampling
        self._samplings = [Sampling(sampling.mode) for _ in range(count)] if sampling else []
        self._output: np.ndarray | None = None
        threads = min(worlds.threads, -(-count // _LEAST))
        self._workspaces = [self._chain.workspace(channels) for _ in range(threads)]
        self._pool = self._make_pool()

    def _make_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(max(len(self._workspaces) - 1, 1), "tactile_sim.batch")

    def __deepcopy__(self, memo: dict[int, Any]) -> Readings:
        """Return the readings of a copied batch, whose simulation and environments are in ``memo``."""
        new = memo[id(self)] = copy.copy(self)
        copied = "_simulation", "_worlds", "_felt", "_chain", "_chains", "_samplings", "_workspaces"
        for name in copied:
            setattr(new, name, copy.deepcopy(getattr(self, name), memo))
        new._output, new._pool = None, self._make_pool()
        return new

    @property
    def sampled(self) -> bool:
        """True if each reading combines several steps, as configured by ``sampling``."""
        return bool(self._samplings)

    @property
    def has_memory(self) -> bool:
        """True if readings depend on earlier steps."""
        return self.sampled or (self._chains is not None and self._chains.has_memory)

    @property
    def ideal(self) -> ManyReadings:
        """Readings of all environments in the recorded states, before sampling and signal chain."""
        return self._felt

    @property
    def device_arrays(self) -> dict[str, Any]:
        """Arrays of readings on the device, keyed by name; empty because this class computes on the CPU."""
        return {}

    @property
    def exact(self) -> bool:
        """True if there is neither sampling nor a signal chain."""
        return self._chains is None and not self._samplings

    @property
    def sparse(self) -> bool:
        """True if only the touched taxels in ``ideal`` can have nonzero readings."""
        return self.exact

    def _make_readings(self, channels: int) -> ManyReadings:
        return ManyReadings.zeros(self._worlds.num_envs, self._simulation.skin, channels)

    def update(self) -> None:
        """Compute the readings of the recorded states and store them in ``ideal``."""
        worlds = self._worlds
        contacts = ManyContacts(
            worlds.contact_counts, worlds.contact_values, worlds.contact_ids, worlds.xpos,
            worlds.xmat.reshape(worlds.num_envs, -1, 3, 3),
        )  # fmt: skip
        skin = self._simulation.skin
        self.in_threads(
            lambda _, first, last: read_environments(
                skin, contacts, first, last, *self._functions, self._felt
            )
        )

    def keep(self, steps: np.ndarray, due: set[str], faulty: Collection[int]) -> None:
        """Update the state of sampling and signal chains after `update`, except in faulty environments.

        ``due`` are the tactile streams whose messages are due in this step.
        """

        if due and self._chains and self._chains.has_memory:
            envs = np.setdiff1d(np.arange(self._worlds.num_envs), list(faulty))
            self._chains.make_room(steps)
            none = np.empty((0, *self.ideal.taxels.shape[1:]), self._chains.output_type)
            self._run_chains(envs, steps, none, keep=True)
        if self._samplings:
            skin, stream = self._simulation.skin, self._simulation.schedule.pad_stream
            ends = np.array([stream(pad.name) in due for pad in skin.pads], bool)[skin.pad_index]
            for env, sampling in enumerate(self._samplings):
                if env not in faulty:
                    sampling.add(self.ideal.taxels[env].astype(float), ends)

    def truth(self) -> np.ndarray:
        """Return the readings (n, taxels, channels) before the signal chain."""
        if not self._samplings:
            return self.ideal.taxels
        values = zip(self._samplings, self.ideal.taxels, strict=True)
        return np.stack([sampling.value(felt) for sampling, felt in values])

    def output(self, steps: np.ndarray) -> np.ndarray:
        """Return the readings (n, taxels, channels) after the signal chain."""
        if not self._chains:
            return self.truth()
        if self._output is None:
            self._output = np.zeros(self.ideal.taxels.shape, self._chains.output_type)
        envs = np.arange(self._worlds.num_envs)
        self._run_chains(envs, steps, self._output, keep=False)
        return self._output

    def restart(self, envs: np.ndarray, seed: int | None = None) -> None:
        """Restart random numbers and clear the memory of sampling and signal chains; keep the tare.

        With a seed, environment k uses ``seed + k`` from now on.
        """
        if self._chains:
            self._chains.restart(envs, None if seed is None else np.uint64(seed) + envs.astype(np.uint64))
        if self._samplings:
            for env in envs.tolist():
                self._samplings[env].clear()

    def tare(self, envs: np.ndarray, steps: np.ndarray) -> None:
        """Subtract the current readings of environments from all later ones."""
        if not len(envs):
            return
        if not self._chains:
            self._chains = self._make_chains()
        zero = np.empty(self.ideal.taxels.shape, self._chains.output_type)
        self._run_chains(envs, steps, zero, keep=False, until=Tare)
        self._chains.tare(envs, zero[envs])

    def _make_chains(self) -> Program:
        seeds = range(self._seed, self._seed + self._worlds.num_envs)
        rate = self._simulation.settings.rates.tactile
        return self._chain.program(seeds, self.ideal.taxels.shape[2], rate)

    def _run_chains(
        self,
        envs: np.ndarray,
        steps: np.ndarray,
        output: np.ndarray,
        keep: bool,
        until: type[Stage] | None = None,
    ) -> None:
        chains, chosen = self._chains, np.zeros(self._worlds.num_envs, bool)
        assert chains is not None
        chosen[envs] = True
        truth = self.truth()

        def run(thread: int, first: int, last: int) -> None:
            own = first + np.flatnonzero(chosen[first:last])
            chains.run(self._workspaces[thread], own, steps, truth, output, keep, until)

        self.in_threads(run)

    def in_threads(self, work: Callable[[int, int, int], None]) -> None:
        """Call ``work(thread, first, last)`` in each thread, for its environments [first, last)."""
        edges = np.linspace(0, self._worlds.num_envs, len(self._workspaces) + 1).astype(int).tolist()
        others = [
            self._pool.submit(work, k, first, last)
            for k, (first, last) in enumerate(zip(edges[1:], edges[2:], strict=False), 1)
        ]
        try:
            work(0, edges[0], edges[1])
        finally:
            wait(others)
        for done in others:
            done.result()
