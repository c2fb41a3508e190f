"""Throughput of ``tactile_sim collect``: one process on one core, and several processes.

Run as ``python bench/collect.py [--workers 2] [--scene hand] [--all]`` on a quiet machine; it takes two
minutes for each scene. Rates are those that the command prints: without the start of the interpreter, with
that of the workers. The best of interleaved repetitions counts. Processor times include all processes and
their start; they hardly depend on what else the machine does. ``--all`` also measures one process on all
cores, and Ray if it is installed.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

ROUNDS = 2
WANTED = 1.7
"""Least ratio of two workers and one process on one core."""
SCENES = {
    "gripper": (1536, ["--steps", "200"]),
    "hand": (512, ["--steps", "50", "--envs", "16"]),
}
"""Number of episodes and further options by configuration. One process takes about half a minute."""


def main() -> None:
    """Measure all configurations and print a table."""
    cores = sorted(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--workers", type=int, default=len(cores))
    parser.add_argument("--scene", action="append", choices=SCENES)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    workers = options.workers
    ways: dict[str, tuple[list[str], Callable[[], None] | None]] = {
        "one core": ([], lambda: os.sched_setaffinity(0, cores[:1])),
        f"--workers {workers}": (["--workers", str(workers)], None),
    }
    if options.all:
        ways["one process"] = ([], None)
    if options.all and find_spec("ray"):
        ways[f"--ray local --workers {workers}"] = (["--ray", "local", "--workers", str(workers)], None)
    table = Table(title=f"collect on {len(cores)} cores")
    columns = ("configuration", "run", "episodes/s", "of one core", "processor s", "kB per episode")
    for column in columns:
        table.add_column(column, justify="left" if column in ("configuration", "run") else "right")
    for scene in options.scene or ["gripper"]:
        episodes, more = SCENES[scene]
        rates, spent = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, math.inf)
        size = 0.0
        _collect(scene, ["--episodes", "1", *more], None)  # compiles kernels
        for _ in range(ROUNDS):
            for way, (how, prepare) in ways.items():
                before = _processor_time()
                rate, size = _collect(scene, ["--episodes", str(episodes), *more, *how], prepare)
                spent[way] = min(spent[way], _processor_time() - before)
                rates[way] = max(rates[way], rate)
        for way, rate in rates.items():
            ratio = f"{rate / rates['one core']:.2f}"
            size_each = f"{size / episodes / 1e3:.0f}"
            table.add_row(scene, way, f"{rate:.3g}", ratio, f"{spent[way]:.1f}", size_each)
    Console(width=120).print(table)
    print(f"wanted: with 2 workers on 2 quiet cores at least {WANTED} of one core")


def _processor_time() -> float:
    """Return the processor time of all processes that have ended [s]."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _collect(scene: str, options: list[str], prepare: Callable[[], None] | None) -> tuple[float, float]:
    """Return the printed rate [episodes/s] and the size of the dataset [bytes]."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [sys.executable, "-m", "tactile_sim", "collect", scene, "--out", str(out), *options]
        done = subprocess.run(command, preexec_fn=prepare, capture_output=True, text=True, check=True)
        found = re.search(r"(\S+) episodes/s", done.stderr)
        assert found, done.stderr
        return float(found[1]), sum(file.stat().st_size for file in out.rglob("*") if file.is_file())


if __name__ == "__main__":
    main()
