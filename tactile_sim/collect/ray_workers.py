"""Create shards with Ray, on this machine or on a cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tactile_sim.errors import CommandError

if TYPE_CHECKING:
    from tactile_sim.collect.collection import Collection

_RETRIES = 10
"""How often a shard is started again when its worker or machine is lost."""


def make_shards(collection: Collection, shards: Sequence[int], workers: int, address: str) -> Iterator[int]:
    """Create shards as Ray tasks; Ray restarts the tasks of lost workers.

    Args:
        collection: The dataset. All machines must reach its folder by the same path.
        shards: Indices of the shards.
        workers: Number of processes with the address ``local``; a cluster uses all its processors.
        address: ``local`` starts Ray on this machine, ``auto`` finds a running cluster, else its address.

    Yields:
        The number of episodes of each shard, in the order in which they are complete.

    Raises:
        TactileSimError: Ray is not installed or not found, or a shard cannot be made.
    """
    try:
        import ray
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise CommandError(
            "--ray: needs the package ray, which is not installed: python -m pip install ray"
        ) from None
    options = {"num_cpus": workers, "include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise CommandError(f"--ray: cannot connect to {address!r}: {reason}") from None
    make = ray.remote(num_cpus=1, max_retries=_RETRIES)(_make)
    collection = _absolute(collection)
    try:
        pending = [make.remote(collection, shard) for shard in shards]
        while pending:
            done, pending = ray.wait(pending)
            yield ray.get(done[0])
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, Exception):
            raise error.cause from None
        raise
    except ray.exceptions.RayError as error:
        reason = " ".join(str(error).split())
        raise CommandError(f"--ray: a worker was lost: {reason}; the same command continues") from None
    finally:
        ray.shutdown()


def _make(collection: Collection, shard: int) -> int:
    return collection.make(shard, threads=1)


def _absolute(collection: Collection) -> Collection:
    """Return the same dataset with absolute paths, since workers have other working directories."""
    recipe = collection.recipe
    if (config := Path(recipe.config)).is_file():
        recipe = replace(recipe, config=str(config.absolute()))
    if recipe.policy:
        recipe = replace(recipe, policy=recipe.policy.absolute())
    return replace(collection, recipe=recipe, out=collection.out.absolute())
