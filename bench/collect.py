"""Throughput of ``tactile_sim collect``: one process on one core and on all, and several processes.

Run as ``python bench/collect.py [workers]`` (default: the number of cores) on a quiet machine. Rates are
those that the command prints: without the start of the interpreter, with that of the workers. The best of
interleaved repetitions counts. Ray is measured if it is installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

ROUNDS = 3
WANTED = 1.7
"""Least ratio of two workers and one process on one core."""
SCENES = {
    "gripper": (256, ["--steps", "200"]),
    "hand": (32, ["--steps", "50", "--envs", "4"]),
}
"""Number of episodes and further options by configuration."""


def main() -> None:
    """Measure all configurations and print a table."""
    cores = sorted(os.sched_getaffinity(0))
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else len(cores)
    ways: dict[str, tuple[list[str], Callable[[], None] | None]] = {
        "one core": ([], lambda: os.sched_setaffinity(0, cores[:1])),
        "one process": ([], None),
        f"--workers {workers}": (["--workers", str(workers)], None),
    }
    if find_spec("ray"):
        ways[f"--ray local --workers {workers}"] = (["--ray", "local", "--workers", str(workers)], None)
    table = Table(title=f"collect on {len(cores)} cores")
    for column in ("configuration", "run", "episodes/s", "of one core", "of one process", "kB per episode"):
        table.add_column(column, justify="left" if column in ("configuration", "run") else "right")
    for scene, (episodes, more) in SCENES.items():
        rates = dict.fromkeys(ways, 0.0)
        size = 0.0
        _collect(scene, ["--episodes", "1", *more], None)  # compiles kernels
        for _ in range(ROUNDS):
            for way, (options, prepare) in ways.items():
                rate, size = _collect(scene, ["--episodes", str(episodes), *more, *options], prepare)
                rates[way] = max(rates[way], rate)
        single, whole = rates["one core"], rates["one process"]
        for way, rate in rates.items():
            ratios = f"{rate / single:.2f}", f"{rate / whole:.2f}"
            table.add_row(scene, way, f"{rate:.3g}", *ratios, f"{size / episodes / 1e3:.0f}")
    Console(width=120).print(table)
    print(f"wanted: with 2 workers on 2 quiet cores at least {WANTED} of one core")


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
