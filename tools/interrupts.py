"""Interrupt commands at random times during start-up and check that they end cleanly.

    python tools/interrupts.py 100 --seed 1

Each case starts a command in its own environment and sends it SIGINT, SIGTERM or SIGHUP at a random time
before it is ready. It checks that the command ends in time, without a traceback or a crash, and leaves no
process, shared memory or temporary file behind. The same seed generates the same cases; ``--only`` repeats
one of them.
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
"""Arguments of each command, and a text that it prints when its start-up is over."""
SIGNALS = (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FAULTS = ("Traceback", "Exception ignored", "Segmentation", "terminate called", "Fatal", "error:")
BOOT = 60.0
"""Maximum time until Python starts to run the program [s]."""
READY = 300.0
"""Maximum duration of a start-up [s]."""
MARK = "TACTILE_SIM_INTERRUPTED"
SHARED_MEMORY = Path("/dev/shm")
LASTING = "lttng-ust-wait"
"""Prefix of the files that ROS tracing creates in shared memory and never removes."""


@dataclass
class Case:
    """A start-up to interrupt."""

    number: int
    command: str
    signal: signal.Signals
    fraction: float
    """Time of the signal as a fraction of the duration of the start-up."""
    exit_time: float = 0.0
    """Time from the signal to the end of the command [s]."""
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.number}: {self.command}, {self.signal.name} at {self.fraction:.0%}"


class Start:
    """A command that runs in its own process, folder and environment."""

    def __init__(self, command: str, folder: Path, number: int):
        self.name = f"{os.getpid()}_{number}"
        self.temporary, self.output = folder / "tmp", folder / "output"
        self.temporary.mkdir()
        environment = os.environ | {
            MARK: self.name,
            "TMPDIR": str(self.temporary),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_DOMAIN_ID": str(1 + (os.getpid() + number) % 101),
        }
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
        """Wait until our code runs; before that, the interpreter itself prints a traceback on SIGINT."""
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
        """Wait until the start-up is over and return its duration [s]."""
        begin = time.monotonic()
        while COMMANDS[command][1] not in self.output.read_text(errors="replace"):
            if self.process.poll() is not None or time.monotonic() > begin + READY:
                raise RuntimeError(f"{command} did not start:\n{self.output.read_text(errors='replace')}")
            time.sleep(0.02)
        return time.monotonic() - begin

    def interrupt(self, case: Case, limit: float) -> None:
        """Send the signal, wait for the command to end and record faults."""
        begin = time.monotonic()
        if case.signal == signal.SIGTERM:
            self.process.terminate()
        else:  # a terminal sends these signals to the whole process group
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
        output = self.output.read_text(errors="replace")
        case.faults += [f"printed {word!r}:\n{output}" for word in FAULTS if word in output]
        case.faults += [f"left {path}" for path in self.temporary.iterdir()]
        left = {path for path in SHARED_MEMORY.iterdir() if not path.name.startswith(LASTING)} - self.before
        case.faults += [f"left {path}" for path in sorted(left)]

    def _processes(self) -> dict[int, str]:
        """Return the processes of this command that are still running, with their command lines."""
        mark = f"{MARK}={self.name}".encode()
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                pass  # the process has ended or belongs to another user
        return found


def cases(count: int, seed: int, commands: list[str]) -> list[Case]:
    """Return random test cases, each with a command to start and a signal to interrupt it.

    Args:
        count: Number of cases.
        seed: Seed of the random numbers.
        commands: Keys of `COMMANDS` to choose from.
    """
    draw = random.Random(seed)
    return [Case(i, draw.choice(commands), draw.choice(SIGNALS), draw.random()) for i in range(count)]


def check(case: Case, ready: dict[str, float], limit: float) -> None:
    """Start a command, interrupt it and record faults in the case.

    Args:
        case: The case.
        ready: Measured start-up durations [s] by command; missing ones are added.
        limit: Maximum time until the command ends [s].
    """
    if case.command not in ready:  # measure the start-up, and check that it can be interrupted afterwards
        with tempfile.TemporaryDirectory() as folder:
            start = Start(case.command, Path(folder), case.number)
            ready[case.command] = start.await_ready(case.command)
            start.interrupt(later := Case(-1, case.command, signal.SIGINT, 1.0), limit)
            case.faults += [f"after the start-up: {fault}" for fault in later.faults]
    with tempfile.TemporaryDirectory() as folder:
        start = Start(case.command, Path(folder), case.number)
        time.sleep(case.fraction * ready[case.command])
        start.interrupt(case, limit)


def isolate() -> None:
    """Restart this program with a private /dev/shm, if the system allows it."""
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
    print(f"{SHARED_MEMORY} is not private; do not run other ROS programs now", file=sys.stderr)


def main() -> int:
    """Run the cases; return 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("count", type=int, help="number of cases")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random numbers; 0 by default")
    parser.add_argument(
        "--limit", type=float, default=5.0, metavar="S", help="maximum time to end; 5 s by default"
    )
    parser.add_argument(
        "--commands", nargs="+", choices=COMMANDS, default=list(COMMANDS), help="commands; all by default"
    )
    parser.add_argument(
        "--ready", type=float, metavar="S", help="assume this duration of start-ups instead of measuring it"
    )
    parser.add_argument("--only", type=int, metavar="NUMBER", help="run only this case of the seed")
    args = parser.parse_args()
    isolate()
    # nohup ignores SIGHUP, and background jobs of a shell ignore SIGINT. The commands would inherit this.
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    ready = {name: args.ready for name in COMMANDS if args.ready}
    all_cases = cases(args.count, args.seed, args.commands)
    chosen = [case for case in all_cases if args.only in (None, case.number)]
    for case in chosen:
        check(case, ready, args.limit)
        print(f"{case}: {'; '.join(case.faults) or f'ended in {case.exit_time:.2f} s'}", flush=True)
    failed = [case for case in chosen if case.faults]
    count = Counter(case.command for case in chosen)
    print(", ".join(f"{number} x {name}" for name, number in count.items()))
    slowest = max(case.exit_time for case in chosen)
    print(f"{len(chosen)} interrupts, {len(failed)} failed; slowest end after {slowest:.2f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
