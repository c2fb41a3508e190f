"""``tactile_sim bench``: run the benchmarks in the ``bench/`` folder of the source tree."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import tactile_sim
from tactile_sim.commands import new_parser
from tactile_sim.common.errors import CommandError, suggest


def add_bench(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``bench``."""
    parser = new_parser(
        subparsers, _bench, "bench", "run the benchmarks", "Requires the source tree with its folder bench/."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="names of scripts in bench/; all by default")


def _bench(args: argparse.Namespace) -> int:
    """Run the benchmark scripts in sequence; return 0, or 1 if any of them failed."""
    scripts = _scripts()
    for name in args.names:
        if name not in scripts:
            raise CommandError(f"unknown benchmark {name!r}{suggest(name, scripts)}")
    failed = []
    for name in args.names or scripts:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, scripts[name]], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"tactile_sim: bench: failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


def _scripts() -> dict[str, Path]:
    """Return the paths of the benchmark scripts, keyed by name. Files that start with ``_`` are skipped."""
    root = Path(tactile_sim.__file__).parent.parent
    folder = root / "bench"
    if not (root / "package.xml").is_file() or not folder.is_dir():
        raise CommandError(
            "benchmarks are not installed with the package; run them from the source tree: make bench"
        )
    return {path.stem: path for path in sorted(folder.glob("*.py")) if not path.name.startswith("_")}
