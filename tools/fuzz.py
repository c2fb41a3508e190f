"""Run commands with invalid configurations, scenes and bags, and random calls of the Python interface.

    python tools/fuzz.py --yaml 5000 --scenes 2000 --bags 1000 --api 5000 --seed 0
    python tools/fuzz.py --replay fuzz_failures/yaml-0-17

Each case depends only on its kind, the seed and its number. It runs in a forked process with limited time and
memory. Tracebacks, signals, hangs, unreadable messages and exit codes other than 0 and 2 are failures. So are
calls of the Python interface whose results differ from those of fresh objects. The input files of failed
cases are kept, and the exit code is then 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from fuzzing import runner  # noqa: E402

KINDS = {"yaml": "configurations", "scenes": "scenes", "bags": "bags", "api": "api"}
ARGUMENTS = "arguments.json"
"""Name of the file that stores the command's arguments in the folder of a failed case."""


def make(kind: str, seed: int, number: int, folder: Path) -> list[str]:
    """Write the files of one case; return the command's arguments."""
    random = Random(f"{kind} {seed} {number}")
    return list(import_module(f"fuzzing.{KINDS[kind]}").make(random, folder))


def command_of(kind: str) -> Callable[[list[str]], int]:
    """Return the function that runs a case in this process: that of its module, or ``tactile_sim``."""
    from tactile_sim.commands import main

    return getattr(import_module(f"fuzzing.{KINDS[kind]}"), "command", main)


def warm_up(kinds: list[str]) -> None:
    """Import everything, so that forked cases start quickly."""
    for kind in kinds:
        import_module(f"fuzzing.{KINDS[kind]}").warm_up(command_of(kind))


def fuzz(kind: str, count: int, seed: int, keep: Path, limits: runner.Limits) -> Counter[str]:
    """Run the cases of one kind, print failures and a summary, and return the number of failures by fault."""
    faults: Counter[str] = Counter()
    codes: Counter[int] = Counter()
    slowest = largest = 0.0
    begin, command = time.monotonic(), command_of(kind)
    for number in range(count):
        with tempfile.TemporaryDirectory(prefix="fuzz") as made:
            argv = make(kind, seed, number, Path(made))
            outcome = runner.run(command, argv, Path(made), limits)
        codes[outcome.code] += 1
        slowest, largest = max(slowest, outcome.seconds), max(largest, outcome.memory)
        if outcome.fault:
            faults[outcome.fault] += 1
            folder = keep / f"{kind}-{seed}-{number}"
            _keep(kind, seed, number, folder)
            print(f"{folder}: {outcome.fault}: {_summary_line(outcome.output)}", flush=True)
    failed = ", ".join(f"{number} {fault}" for fault, number in faults.items()) or "no failures"
    print(
        f"{kind}: {count} cases, {failed}; exit codes {dict(sorted(codes.items()))}; "
        f"slowest {slowest:.1f} s, largest {largest / 1e6:.0f} MB; {time.monotonic() - begin:.0f} s in total",
        flush=True,
    )
    return faults


def _summary_line(output: str) -> str:
    """Return the most informative line of an output: the end of a stack trace, or the last line."""
    lines = output.strip().splitlines() or [""]
    dumped = next((i for i, line in enumerate(lines) if "most recent call first" in line), None)
    return (lines[-1] if dumped is None else " ".join(lines[dumped + 1 : dumped + 3])).strip()[:200]


def _keep(kind: str, seed: int, number: int, folder: Path) -> None:
    """Write the files of a failed case again, because the command may have changed them."""
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    folder.mkdir(parents=True)
    argv = make(kind, seed, number, folder)
    (folder / ARGUMENTS).write_text(json.dumps(argv))


def replay(folder: Path, limits: runner.Limits) -> int:
    """Run a stored case again and print its output."""
    argv = json.loads((folder / ARGUMENTS).read_text())
    command = command_of(folder.resolve().name.partition("-")[0])
    with tempfile.TemporaryDirectory(prefix="fuzz") as made:
        subprocess.run(["cp", "-a", "--sparse=always", f"{folder}/.", made], check=True)
        outcome = runner.run(command, argv, Path(made), limits)
    print(f"{shlex.join(argv)[:2000]}\n{outcome.output[:20_000]}")
    print(f"exit code {outcome.code}, {outcome.seconds:.1f} s: {outcome.fault or 'no failure'}")
    return bool(outcome.fault)


def main() -> int:
    """Run the cases selected on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for kind in KINDS:
        parser.add_argument(f"--{kind}", type=int, default=0, metavar="N", help=f"number of cases of {kind}")
    parser.add_argument("--seed", type=int, default=0, help="seed of all cases; 0 by default")
    parser.add_argument("--seconds", type=int, default=runner.Limits.cpu, help="processor time of a case [s]")
    parser.add_argument("--keep", type=Path, default=Path("fuzz_failures"), help="folder of failed cases")
    parser.add_argument("--replay", type=Path, metavar="FOLDER", help="run one kept case again")
    args = parser.parse_args()
    os.environ.setdefault("MPLBACKEND", "agg")
    limits = runner.Limits(cpu=args.seconds, wall=6.0 * args.seconds)
    counts = {kind: getattr(args, kind) for kind in KINDS if getattr(args, kind)}
    if args.replay:
        warm_up([args.replay.resolve().name.partition("-")[0]])
        return replay(args.replay, limits)
    warm_up(list(counts))
    faults = [fuzz(kind, count, args.seed, args.keep, limits) for kind, count in counts.items()]
    return int(any(faults))


if __name__ == "__main__":
    sys.exit(main())
