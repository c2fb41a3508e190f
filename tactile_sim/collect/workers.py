"""Create shards in several processes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from queue import SimpleQueue
from typing import Protocol

from tactile_sim.collect import ray_workers
from tactile_sim.errors import CommandError, TactileSimError


class Work(Protocol):
    """Work that is divided into shards, such as a dataset or a sweep."""

    def make(self, shard: int, threads: int = 0) -> int:
        """Create one shard and return the amount of work done, such as the number of episodes.

        Args:
            shard: Index of the shard.
            threads: Number of threads, or 0 for one thread per processor.
        """

    def absolute(self) -> Work:
        """Return a copy with absolute paths, for processes with a different working directory."""


def make_shards(work: Work, shards: Sequence[int], workers: int, ray: str | None = None) -> Iterator[int]:
    """Create shards in this process, in several others, or on a Ray cluster.

    Args:
        work: The dataset or sweep.
        shards: Indices of the shards.
        workers: Number of processes.
        ray: Address of a Ray cluster, see `ray_workers.make_shards`. None uses local processes without Ray.

    Yields:
        The result of `Work.make` for each shard, in order of completion.

    Raises:
        TactileSimError: A shard cannot be created, or a process was killed.
    """
    workers = min(workers, len(shards))
    if ray and shards:
        yield from ray_workers.make_shards(work, shards, workers, ray)
        return
    if workers <= 1:
        yield from map(work.make, shards)
        return
    threads = max(1, len(os.sched_getaffinity(0)) // workers)
    idle: SimpleQueue[_Worker] = SimpleQueue()

    def make(shard: int) -> int:
        worker = idle.get()
        try:
            return worker.make(work, shard, threads)
        finally:
            idle.put(worker)

    with ExitStack() as stack, ThreadPoolExecutor(workers) as pool:
        for _ in range(workers):
            worker = _Worker()
            stack.callback(worker.kill)
            idle.put(worker)
        futures = [pool.submit(make, shard) for shard in shards]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            stack.close()  # ends calls that wait for a reply


class _Worker:
    """A process that runs `tactile_sim.collect.worker` in its own session, so Ctrl-C does not reach it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tactile_sim.collect.worker", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def make(self, work: Work, shard: int, threads: int) -> int:
        """Send a request to create a shard and return the result; see `Work.make`."""
        process = self._process
        assert process.stdin and process.stdout
        try:
            pickle.dump((work, shard, threads), process.stdin)
            process.stdin.flush()
            reply = pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise CommandError(
                f"--workers: a process ended with exit code {process.wait()}, perhaps because memory ran out;"
                " repeat the command to continue"
            ) from None
        if isinstance(reply, TactileSimError):
            raise reply
        return int(reply)

    def kill(self) -> None:
        """Kill the process and wait for its end."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # a request that was not sent
                if pipe:
                    pipe.close()
