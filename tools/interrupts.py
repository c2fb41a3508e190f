"""Interrupt the start-up of commands at random times and check that nothing breaks and nothing is left.

    python tools/interrupts.py 100 --seed 1 --cold 0.3

Each case starts a command in an environment of its own, sends it SIGINT, SIGTERM or SIGHUP at a random time
before it is ready, and checks that it ends in time, without a traceback or a crash, and leaves no process, no
shared memory and no temporary file. The same seed gives the same cases; ``--only`` repeats one of them.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

COMMANDS = {
    "run": (["run", "touch_cube"], "steps/s"),
    "run with all": (
        ["run", "touch_cube", "--web", "--web-allow-other-port", "--record", "bag"],
        "waiting until",
    ),
    "view": (["view", "touch_cube", "--port", "0"], "web view:"),
    "record": (["record", "bag"], "recording"),
    "demo": (["demo", "touch_cube"], "topics:"),
}
"""Name: arguments, and what the output says when the start-up is over."""
SIGNALS = (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FAULTS = ("Traceback", "Exception ignored", "Segmentation", "terminate called", "Fatal", "error:")
BOOT = 60.0
"""So long may it take until Python runs the program [s]."""
READY = 300.0
"""So long may a start-up take [s]."""
MARK = "TACTILE_SIM_INTERRUPTED"
SHARED_MEMORY = Path("/dev/shm")
LASTING = "lttng-ust-wait"
"""What the tracing of ROS makes there once for all, by the beginning of its name."""


@dataclass
class Case:
    """A start-up to interrupt."""

    number: int
    command: str
    cold: bool
    signal: signal.Signals
    fraction: float  # of the time until it is ready
    exit_time: float = 0.0  # s
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        kernels = "compiled anew" if self.cold else "cached"
        return f"{self.number}: {self.command}, kernels {kernels}, {self.signal.name} at {self.fraction:.0%}"


class Start:
    """A command in a process, in a folder and an environment of its own."""

    def __init__(self, command: str, cold: bool, folder: Path, number: int):
        self.name = f"{os.getpid()}_{number}"
        self.temporary, self.output = folder / "tmp", folder / "output"
        self.temporary.mkdir()
        environment = os.environ | {
            MARK: self.name,
            "TMPDIR": str(self.temporary),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_DOMAIN_ID": str(1 + (os.getpid() + number) % 101),
        }
        if cold:
            environment["NUMBA_CACHE_DIR"] = str(folder / "kernels")
        self.before = set(SHARED_MEMORY.iterdir())
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "tactile_sim", *COMMANDS[command][0]],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self.output.open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self._await_program()

    def _await_program(self) -> None:
        """Wait until our code runs: before, Python itself answers SIGINT with a traceback."""
        caught = False
        end = time.monotonic() + BOOT
        while time.monotonic() < end and self.process.poll() is None:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            mask = int(status.split("SigCgt:")[1].split()[0], 16)
            by_python = bool(mask & 1 << (signal.SIGINT - 1))
            if caught and not by_python:
                return
            caught |= by_python
            time.sleep(0.001)

    def await_ready(self, command: str) -> float:
        """Wait until the start-up is over; return how long it took [s]."""
        begin = time.monotonic()
        while COMMANDS[command][1] not in self.output.read_text(errors="replace"):
            if self.process.poll() is not None or time.monotonic() > begin + READY:
                raise RuntimeError(f"{command} did not start:\n{self.output.read_text(errors='replace')}")
            time.sleep(0.02)
        return time.monotonic() - begin

    def interrupt(self, case: Case, limit: float) -> None:
        """Send the signal and note what is wrong with the end."""
        begin = time.monotonic()
        if case.signal == signal.SIGTERM:
            self.process.terminate()
        else:  # from a terminal, to all that run in it
            os.killpg(self.process.pid, case.signal)
        try:
            code = self.process.wait(limit)
            case.exit_time = time.monotonic() - begin
            if code not in (0, -case.signal, 128 + case.signal):
                case.faults.append(f"exit code {code}")
        except subprocess.TimeoutExpired:
            case.faults.append(f"still runs after {limit:g} s")
        while self._processes() and time.monotonic() < begin + limit:
            time.sleep(0.02)
        case.faults += [f"left process {line}" for line in self._processes().values()]
        for pid in self._processes():
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        said = self.output.read_text(errors="replace")
        case.faults += [f"said {word!r}:\n{said}" for word in FAULTS if word in said]
        case.faults += [f"left {path}" for path in self.temporary.iterdir()]
        left = {path for path in SHARED_MEMORY.iterdir() if not path.name.startswith(LASTING)} - self.before
        case.faults += [f"left {path}" for path in sorted(left)]

    def _processes(self) -> dict[int, str]:
        """Those of this start that still run, with their command lines."""
        mark = f"{MARK}={self.name}".encode()
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                pass  # it has ended, or is another user's
        return found


def cases(count: int, seed: int, cold: float, commands: list[str]) -> list[Case]:
    """The cases of a seed."""
    draw = random.Random(seed)
    return [
        Case(i, draw.choice(commands), draw.random() < cold, draw.choice(SIGNALS), draw.random())
        for i in range(count)
    ]


def check(case: Case, ready: dict[tuple[str, bool], float], limit: float) -> None:
    """Start a command, interrupt it and note what is wrong; ``ready``: measured start-up times [s]."""
    kind = case.command, case.cold
    if kind not in ready:  # measure it, and check that it ends afterwards, too
        with tempfile.TemporaryDirectory() as folder:
            start = Start(*kind, Path(folder), case.number)
            ready[kind] = start.await_ready(case.command)
            start.interrupt(whole := Case(-1, *kind, signal.SIGINT, 1.0), limit)
            case.faults += [f"after the start-up: {fault}" for fault in whole.faults]
    with tempfile.TemporaryDirectory() as folder:
        start = Start(*kind, Path(folder), case.number)
        time.sleep(case.fraction * ready[kind])
        start.interrupt(case, limit)


def isolate() -> None:
    """Go on with a /dev/shm of our own where the system allows it: others use it as well."""
    if "TACTILE_SIM_OWN_SHM" in os.environ:
        return
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    script = f'mount -t tmpfs tmpfs {SHARED_MEMORY} && exec "$@"'
    mount = ["unshare", "--mount", *user, "sh", "-c", script, "sh"]
    try:
        possible = subprocess.run([*mount, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
    except FileNotFoundError:
        possible = False
    if possible:
        os.environ["TACTILE_SIM_OWN_SHM"] = "1"
        os.execvp("unshare", [*mount, sys.executable, *sys.argv])
    print(f"{SHARED_MEMORY} is not isolated: run nothing else with ROS meanwhile", file=sys.stderr)


def main() -> int:
    """Run the cases; return 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("count", type=int, help="number of cases")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers; 0 by default")
    parser.add_argument(
        "--cold", type=float, default=0.0, metavar="P", help="share that compiles all kernels; 0 by default"
    )
    parser.add_argument("--limit", type=float, default=5.0, metavar="S", help="seconds to end; 5 by default")
    parser.add_argument(
        "--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS), help="all by default"
    )
    parser.add_argument(
        "--ready", type=float, metavar="S", help="take start-ups to last this long instead of measuring it"
    )
    parser.add_argument("--only", type=int, metavar="NUMBER", help="run this case of the seed alone")
    args = parser.parse_args()
    isolate()
    ready = {(name, cold): args.ready for name in COMMANDS for cold in (True, False) if args.ready}
    all_cases = cases(args.count, args.seed, args.cold, args.commands)
    chosen = [case for case in all_cases if args.only in (None, case.number)]
    for case in chosen:
        check(case, ready, args.limit)
        print(f"{case}: {'; '.join(case.faults) or f'ended in {case.exit_time:.2f} s'}", flush=True)
    failed = [case for case in chosen if case.faults]
    count = Counter(case.command for case in chosen)
    print(", ".join(f"{number} x {name}" for name, number in count.items()))
    slowest = max(case.exit_time for case in chosen)
    print(f"{len(chosen)} interrupts, {len(failed)} failed; the slowest ended in {slowest:.2f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
