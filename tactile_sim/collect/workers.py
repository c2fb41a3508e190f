"""Processes that create shards."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from tactile_sim.errors import CommandError, TactileSimError

if TYPE_CHECKING:
    from tactile_sim.collect.collection import Collection


def make_shards(collection: Collection, shards: Sequence[int], workers: int) -> Iterator[int]:
    """Create shards in this process or in several others.

    Args:
        collection: The dataset.
        shards: Indices of the shards.
        workers: Number of processes.

    Yields:
        The number of episodes of each shard, in the order in which they are complete.

    Raises:
        TactileSimError: A shard cannot be made, or a process was killed.
    """
    if workers <= 1:
        yield from map(collection.make, shards)
        return
    threads = max(1, len(os.sched_getaffinity(0)) // workers)
    idle: SimpleQueue[_Worker] = SimpleQueue()

    def make(shard: int) -> int:
        worker = idle.get()
        try:
            return worker.make(collection, shard, threads)
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
    """A process of `tactile_sim.collect.worker`, in its own session so that Ctrl-C does not reach it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tactile_sim.collect.worker", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def make(self, collection: Collection, shard: int, threads: int) -> int:
        """Make a shard and return the number of its episodes."""
        process = self._process
        assert process.stdin and process.stdout
        try:
            pickle.dump((collection, shard, threads), process.stdin)
            process.stdin.flush()
            reply = pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise CommandError(
                f"collect: the worker of shard {shard} ended with exit code {process.wait()}, perhaps for"
                " lack of memory; the same command continues"
            ) from None
        if isinstance(reply, TactileSimError):
            raise reply
        return int(reply)

    def kill(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # a request that was not sent
                if pipe:
                    pipe.close()
