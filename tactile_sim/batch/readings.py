"""Readings of the skin in many environments: loads, sampling and signal chains."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

from tactile_sim.engines.mujoco.worlds import Worlds
from tactile_sim.signal_chain.sampling import Sampling
from tactile_sim.simulation import Simulation
from tactile_sim.simulation.split_chain import chain_of
from tactile_sim.skin import TOUCH_FUNCTIONS
from tactile_sim.skin.many import ManyContacts, ManyReadings, feel_many

_LEAST = 8
"""Environments for which a thread of their own is worth it."""


class Readings:
    """Readings of each environment, as `Simulation` and its snapshots compute them."""

    def __init__(self, simulation: Simulation, worlds: Worlds, seed: int):
        """Make the chains; environment k has the seed ``seed + k``."""
        self._worlds, self._simulation, self._seed = worlds, simulation, seed
        settings = simulation.settings.skin
        self._functions = settings.touch_function, settings.response_function
        channels = TOUCH_FUNCTIONS[settings.touch_function].channels
        count = worlds.num_envs
        self._felt = ManyReadings.zeros(count, simulation.skin, channels)
        chain = chain_of(simulation, 0)
        self._chains = [] if chain.idle else [chain.copy(seed + k) for k in range(count)]
        self._chain = chain
        self._chains_have_memory = chain.has_memory
        sampling = simulation.sampling
        self._samplings = [Sampling(sampling.mode) for _ in range(count)] if sampling else []
        self._output = np.zeros_like(self._felt.taxels) if self._chains or self._samplings else None
        threads = min(worlds.threads, -(-count // _LEAST))
        self._skins = [simulation.skin.twin() for _ in range(threads)]
        self._pool = ThreadPoolExecutor(max(threads - 1, 1), "tactile_sim.batch")

    @property
    def sampled(self) -> bool:
        """True if readings of each step are combined."""
        return bool(self._samplings)

    @property
    def has_memory(self) -> bool:
        """True if readings depend on earlier states."""
        # Once the last automatic tare was taken, chains without other memory never have any again.
        self._chains_have_memory = self._chains_have_memory and any(
            chain.has_memory for chain in self._chains
        )
        return self.sampled or self._chains_have_memory

    @property
    def ideal(self) -> ManyReadings:
        """Readings of the recorded states, before sampling and signal chain."""
        return self._felt

    @property
    def sparse(self) -> bool:
        """True if only the touched taxels of ``ideal`` can read anything but zero."""
        return not self._chains and not self._samplings

    def feel(self) -> None:
        """Compute the ideal readings of the recorded states."""
        worlds = self._worlds
        contacts = ManyContacts(
            worlds.contact_counts, worlds.contact_values, worlds.contact_ids, worlds.xpos,
            worlds.xmat.reshape(worlds.num_envs, -1, 3, 3),
        )  # fmt: skip
        self.in_threads(
            lambda thread, first, last: feel_many(
                self._skins[thread], contacts, first, last, *self._functions, self._felt
            )
        )

    def keep(self, steps: np.ndarray, due: set[str], faulty: Collection[int]) -> None:
        """Update sampling and signal chains after `feel`.

        Args:
            steps: (n,) steps since the last reset.
            due: The tactile streams that are due.
            faulty: Environments to leave out, because they are reset next.
        """

        simulation = self._simulation
        pads = simulation.skin.pads
        ends = np.array([simulation.stream_of(pad.name) in due for pad in pads], bool)[
            simulation.skin.pad_index
        ]

        def update(thread: int, first: int, last: int) -> None:
            for env in range(first, last):
                if env in faulty:
                    continue
                if due and self._chains:
                    self._chains[env].read(int(steps[env]), self._truth(env))
                if self._samplings:
                    self._samplings[env].add(self._felt.taxels[env].copy(), ends)

        self.in_threads(update)

    def truth(self) -> np.ndarray:
        """Return the readings (n, taxels, channels) before the signal chain."""
        if not self._samplings:
            return self._felt.taxels
        return np.stack([self._truth(env) for env in range(self._worlds.num_envs)])

    def output(self, steps: np.ndarray) -> np.ndarray:
        """Return the readings (n, taxels, channels) after the signal chain."""
        if self._output is None:
            return self._felt.taxels
        output = self._output

        def peek(thread: int, first: int, last: int) -> None:
            for env in range(first, last):
                truth = self._truth(env)
                output[env] = self._chains[env].peek(int(steps[env]), truth) if self._chains else truth

        self.in_threads(peek)
        return output

    def restart(self, envs: np.ndarray) -> None:
        """Restart random numbers and memory of environments; the tare is kept."""
        for env in envs.tolist():
            if self._chains:
                self._chains[env].restart()
            if self._samplings:
                self._samplings[env].clear()

    def tare(self, envs: np.ndarray, steps: np.ndarray) -> None:
        """Subtract the present readings of environments from all later ones."""
        if not self._chains:
            self._chains = [self._chain.copy(self._seed + k) for k in range(self._worlds.num_envs)]
            self._output = np.zeros_like(self._felt.taxels)
        for env in envs.tolist():
            self._chains[env].tare(int(steps[env]), self._truth(env))

    def in_threads(self, work: Callable[[int, int, int], None]) -> None:
        """Call ``work(thread, first, last)`` with ranges of environments, one in each thread."""
        edges = np.linspace(0, self._worlds.num_envs, len(self._skins) + 1).astype(int).tolist()
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

    def _truth(self, env: int) -> np.ndarray:
        felt = self._felt.taxels[env]
        return self._samplings[env].value(felt) if self._samplings else felt
