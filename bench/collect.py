"""Measure the throughput of ``tactile_sim collect`` with one process on one core and with several processes.

Run as ``python bench/collect.py [--workers 2] [--scene hand]``. It takes a minute of processor time per
scene. Ray is measured if it is installed. Each variant collects a small and a large number of episodes. The
difference of the processor times yields the time per episode, and the remainder is the start-up time. From
these two times, the program calculates the throughput for many episodes on a quiet machine. If other programs
run at the same time, the error is about 15 %. The measured throughput is the rate that the command prints. It
includes the start-up of the workers, but not of the interpreter.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

WANTED = 1.7
"""Minimum ratio of the throughput of two workers to that of one process on one core."""
SCENES = {
    "gripper": (64, 3072, ["--steps", "200"]),
    "hand": (32, 192, ["--steps", "50", "--envs", "16"]),
}
"""For each configuration: a small and a large number of episodes, and additional options."""
MANY = 10_000
"""Number of episodes for which the throughput is calculated."""


class Run(NamedTuple):
    """Results of one call of the command."""

    processor: float
    """CPU time summed over all processes [s]."""
    rate: float
    """Rate printed by the command [episodes/s]."""
    size: float
    """Size of the dataset [bytes]."""


def main() -> None:
    """Measure all configurations and print a table."""
    cores = sorted(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--workers", type=int, default=len(cores))
    parser.add_argument("--scene", action="append", choices=SCENES)
    options = parser.parse_args()
    workers = options.workers
    ways: dict[str, tuple[list[str], int, Callable[[], None] | None]] = {
        "one core": ([], 1, lambda: os.sched_setaffinity(0, cores[:1])),
        f"--workers {workers}": (["--workers", str(workers)], workers, None),
    }
    if find_spec("ray"):
        ways[f"--ray local --workers {workers}"] = (
            ["--ray", "local", "--workers", str(workers)],
            workers,
            None,
        )
    table = Table(title=f"collect on {len(cores)} cores")
    columns = ("configuration", "run", "ms per episode", "start, s", "episodes/s, measured", "of one core",
               "on quiet cores", "kB per episode")  # fmt: skip
    for column in columns:
        table.add_column(column, justify="left" if column in ("configuration", "run") else "right")
    for scene in options.scene or SCENES:
        few, many, more = SCENES[scene]
        single: tuple[float, float] | None = None
        for way, (how, processes, prepare) in ways.items():
            short, long = (_collect(scene, count, [*more, *how], prepare) for count in (few, many))
            each = (long.processor - short.processor) / (many - few)
            start = short.processor - few * each
            single = single or (each, long.rate)
            # Workers start in parallel; the workers and the command each start an interpreter.
            wall = MANY * each / processes + start / (processes + 1)
            ratio = MANY * single[0] / wall if processes > 1 else 1.0
            table.add_row(
                scene, way, f"{1e3 * each:.1f}", f"{start:.1f}", f"{long.rate:.3g}",
                f"{long.rate / single[1]:.2f}", f"{ratio:.2f}", f"{long.size / many / 1e3:.0f}",
            )  # fmt: skip
    Console(width=140).print(table)
    print(f"target: 2 workers on 2 quiet cores reach at least {WANTED} times the throughput of one core")


def _collect(scene: str, episodes: int, options: list[str], prepare: Callable[[], None] | None) -> Run:
    """Run the command in a temporary folder and return its results."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [sys.executable, "-m", "tactile_sim", "collect", scene, "--out", str(out)]
        command += ["--episodes", str(episodes), *options]
        before = _processor_time()
        done = subprocess.run(command, preexec_fn=prepare, capture_output=True, text=True, check=True)
        found = re.search(r"(\S+) episodes/s", done.stderr)
        assert found, done.stderr
        size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        return Run(_processor_time() - before, float(found[1]), size)


def _processor_time() -> float:
    """Return the total processor time of all child processes that have ended [s]."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
