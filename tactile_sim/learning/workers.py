"""Create shards in this process, in several processes, or with Ray on this machine or a cluster."""

from __future__ import annotations

import ctypes
import logging
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from queue import SimpleQueue
from typing import Protocol

from tactile_sim.common.errors import CommandError, TactileSimError
from tactile_sim.common.processes import PR_SET_PDEATHSIG


class Work(Protocol):
    """Work that is divided into shards, such as a dataset or a sweep."""

    def make(self, shard: int, threads: int = 0) -> int:
        """Create one shard and return the amount of work done, such as the number of episodes."""

    def absolute(self) -> Work:
        """Return a copy with absolute paths, for processes with a different working directory."""


def make_shards(work: Work, shards: Sequence[int], workers: int, ray: str | None = None) -> Iterator[int]:
    """Create shards in this process, in several others, or on a Ray cluster.

    Args:
        work: The dataset or sweep.
        shards: Indices of the shards.
        workers: Number of processes.
        ray: Address of a Ray cluster, ``auto`` or ``local``. None uses local processes without Ray.

    Yields:
        The result of `Work.make` for each shard, in order of completion.
    """
    workers = min(workers, len(shards))
    if ray and shards:
        yield from _make_with_ray(work, shards, workers, ray)
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
    """A process that runs `serve` in its own session, so Ctrl-C does not reach it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve({os.getpid()})"],
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


def serve(parent: int) -> None:
    """Create the shards requested on standard input, and reply on standard output.

    Returns when standard input closes. If the parent process dies, the kernel kills this process.

    Args:
        parent: Process id of the parent.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before prctl
        return
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not mix with replies
    while True:
        try:
            work, shard, threads = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        reply: int | TactileSimError
        try:
            reply = work.make(shard, threads)
        except TactileSimError as error:
            reply = TactileSimError(str(error))  # other classes may need more arguments
        pickle.dump(reply, replies)
        replies.flush()


_RETRIES = 10
"""Largest number of times a shard is restarted after its worker or machine was lost."""


def require_ray() -> None:
    """Check that Ray is installed."""
    if find_spec("ray") is None:
        raise CommandError("--ray: needs the package ray, which is not installed: python -m pip install ray")


def _make_with_ray(work: Work, shards: Sequence[int], workers: int, address: str) -> Iterator[int]:
    """Create shards as Ray tasks; Ray restarts the tasks of lost workers.

    Args:
        work: The dataset or sweep. Its files must have the same paths on all machines.
        shards: Indices of the shards.
        workers: Number of processes if the address is ``local``; a cluster uses all its processors.
        address: ``local`` to start Ray on this machine, ``auto`` to find a running cluster, or an address.

    Yields:
        The result of `Work.make` for each shard, in order of completion.
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
