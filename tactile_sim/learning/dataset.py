"""Collect a dataset by creating its missing shards."""

from __future__ import annotations

import dataclasses
import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import tactile_sim
from tactile_sim.bag.export import require_pyarrow
from tactile_sim.common.errors import CommandError
from tactile_sim.common.schema import MOST
from tactile_sim.learning import folder, lerobot
from tactile_sim.learning.episodes import Episodes, Recipe, check_size
from tactile_sim.learning.workers import make_shards, require_ray

MOST_SHARDS = 1_000_000
"""Largest number of shards in a dataset. Each is a file."""


@dataclass(frozen=True)
class Collection:
    """A dataset to collect.

    The bytes of the dataset depend only on these fields, on the files that they name and on package versions.
    """

    recipe: Recipe
    episodes: int
    out: Path
    envs: int = 32
    """Number of episodes per shard, which run simultaneously."""
    seed: int = 0
    format: str = "parquet"
    """``parquet``, or ``lerobot`` to also write the metadata of LeRobot v3.0."""

    def absolute(self) -> Collection:
        """Return a copy with absolute paths, for processes with a different working directory."""
        return dataclasses.replace(self, recipe=self.recipe.absolute(), out=self.out.absolute())

    @property
    def shards(self) -> int:
        """Number of shards."""
        return -(-self.episodes // self.envs)

    def count(self, shard: int) -> int:
        """Return the number of episodes in a shard."""
        return min(self.envs, self.episodes - shard * self.envs)

    def seed_of(self, shard: int) -> int:
        """Return the seed (< 2^30) for the `Episodes` in a shard."""
        return int(np.random.SeedSequence([self.seed, shard]).generate_state(1)[0] >> 2)

    def make(self, shard: int, threads: int = 0) -> int:
        """Run the episodes of one shard, write them to the shard's file, and return their number."""
        seed, count = self.seed_of(shard), self.count(shard)
        episodes = Episodes(self.recipe, count, seed, threads)
        units = {name: field.unit for name, field in episodes.fields.items() if field.unit}
        about = {"shard": str(shard), "seed": str(seed), "version": tactile_sim.__version__}
        numbered = (
            self._indices(shard * self.envs + k, len(columns["timestamp"])) | columns
            for k, columns in enumerate(episodes.record())
        )
        folder.write_shard(folder.shard_path(self.out, shard), numbered, units, about)
        return count

    def _indices(self, episode: int, length: int) -> dict[str, np.ndarray]:
        """Return the index columns for an episode, such as its frame and episode numbers."""
        frames = np.arange(length)
        indices = {"episode_index": np.full(length, episode), "frame_index": frames}
        if self.format == "lerobot":  # `lerobot.finish` corrects the index after episodes that ended early
            indices |= {"index": episode * self.recipe.steps + frames, "task_index": np.zeros(length, int)}
        return indices


def collect(
    collection: Collection,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
    ray: str | None = None,
) -> int:
    """Create all missing shards of a dataset.

    Args:
        collection: The dataset to collect.
        workers: Number of processes.
        progress: Called with the number of complete episodes and the total number of episodes.
        ray: Address of a Ray cluster, ``auto`` or ``local``. None uses local processes without Ray.

    Returns:
        The number of episodes collected by this call, not counting those that already existed.

    Raises:
        TactileSimError: The configuration is invalid, the folder contains another dataset or is not writable,
            or a worker was killed. Completed shards are kept.
    """
    require_pyarrow()
    if ray:
        require_ray()
    probe = make_probe(collection, workers)
    collection = dataclasses.replace(collection, recipe=probe.recipe)
    if collection.format == "lerobot":
        lerobot.check_rate(probe.rate)
    with folder.locked(collection.out):
        info = describe(collection, probe)
        folder.begin(collection.out, info)
        shards = folder.missing(
            collection.out,
            collection.shards,
            lambda shard: folder.holds_shard(folder.shard_path(collection.out, shard), shard),
        )
        todo = sum(map(collection.count, shards))
        done = collection.episodes - todo
        for count in make_shards(collection, shards, workers, ray):
            done += count
            if progress:
                progress(done, collection.episodes)
        if collection.format == "lerobot" and (todo or not lerobot.is_finished(collection.out)):
            lerobot.finish(collection.out, info)
    return todo


def make_probe(collection: Collection, workers: int, option: str = "--envs") -> Episodes:
    """Check the settings of a dataset and the memory needed to collect it; return a batch of one episode.

    ``option`` is the option that sets the number of episodes per shard, for error messages.
    """
    for name, value, least in (
        ("episodes", collection.episodes, 1),
        ("envs", collection.envs, 1),
        ("steps", collection.recipe.steps, 1),
        ("substeps", collection.recipe.substeps, 0),
        ("seed", collection.seed, 0),
        ("workers", workers, 1),
    ):
        if value < least:
            raise CommandError(f"--{name}: must be >= {least}, got {value}")
        if value > MOST and name != "seed":
            raise CommandError(f"--{name}: must be <= {MOST}, got {value}")
    if collection.shards > MOST_SHARDS:
        raise CommandError(
            f"{option}: must be at least {-(-collection.episodes // MOST_SHARDS)} for {collection.episodes}"
            f" episodes, because a dataset has at most {MOST_SHARDS} shards; got {collection.envs}"
        )
    probe = Episodes(collection.recipe, 1, collection.seed_of(0))
    if probe.are_equal and collection.episodes > 1:
        warnings.warn(
            f"all episodes will be equal: {collection.recipe.config} has no signal chain; give ranges, noise"
            " or --task",
            stacklevel=3,
        )
    check_size(probe, min(collection.envs, collection.episodes), workers, option)
    return probe


def describe(collection: Collection, probe: Episodes) -> dict[str, Any]:
    """Return the description of a dataset: its columns and everything on which its bytes depend."""
    recipe, simulation = probe.recipe, probe.batch.simulation
    settings = dataclasses.asdict(simulation.settings)
    del settings["base"], settings["source"]
    model = simulation.engine.model
    compiled = np.zeros(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, compiled)
    indices = {name: {"shape": [1], "dtype": "int64"} for name in collection._indices(0, 0)}
    fields = {name: _plain(field) for name, field in probe.fields.items()}
    policy = hashlib.sha256(recipe.policy.read_bytes()).hexdigest() if recipe.policy else None
    return {
        "version": tactile_sim.__version__,
        "mujoco": mujoco.__version__,
        "config": Path(recipe.config).name,
        "settings": _jsonable(settings),
        "scene_sha256": hashlib.sha256(compiled.tobytes()).hexdigest(),
        "task": recipe.task or None,
        "policy_sha256": policy,
        "touch": recipe.touch if policy else None,
        "format": collection.format,
        "seed": collection.seed,
        "episodes": collection.episodes,
        "steps": recipe.steps,
        "substeps": recipe.substeps,
        "rate": probe.rate,
        "envs": collection.envs,
        "shards": collection.shards,
        "data_path": folder.DATA_PATH,
        "fields": indices | fields,
    }


def _plain(field: Any) -> dict[str, Any]:
    return {key: value for key, value in dataclasses.asdict(field).items() if value}


def _jsonable(value: Any) -> Any:
    """Convert settings to types that JSON supports."""
    if isinstance(value, dict):
        return {str(key): _jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_jsonable(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
