"""Create shards with Ray, on this machine or on a cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tactile_sim.errors import CommandError

if TYPE_CHECKING:
    from tactile_sim.collect.workers import Work

_RETRIES = 10
"""Largest number of times a shard is restarted after its worker or machine was lost."""


def require_ray() -> None:
    """Check that Ray is installed.

    Raises:
        CommandError: It is not.
    """
    if find_spec("ray") is None:
        raise CommandError("--ray: needs the package ray, which is not installed: python -m pip install ray")


def make_shards(work: Work, shards: Sequence[int], workers: int, address: str) -> Iterator[int]:
    """Create shards as Ray tasks; Ray restarts the tasks of lost workers.

    Args:
        work: The dataset or sweep. Its files must have the same paths on all machines.
        shards: Indices of the shards.
        workers: Number of processes if the address is ``local``; a cluster uses all its processors.
        address: ``local`` to start Ray on this machine, ``auto`` to find a running cluster, or an address.

    Yields:
        The result of `Work.make` for each shard, in order of completion.

    Raises:
        TactileSimError: The cluster is not found, or a shard cannot be created.
    """
    import ray

    options = {"num_cpus": workers, "include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise CommandError(f"--ray: cannot connect to {address!r}: {reason}") from None
    make = ray.remote(num_cpus=1, max_retries=_RETRIES)(_make)
    work = work.absolute()
    try:
        pending = [make.remote(work, shard) for shard in shards]
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


def _make(work: Work, shard: int) -> int:
    return work.make(shard, threads=1)
