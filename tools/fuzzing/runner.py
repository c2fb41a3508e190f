"""Run one case in a forked process with limits, and classify how it ended."""

from __future__ import annotations

import faulthandler
import os
import re
import resource
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

LONGEST_LINE = 1500
"""Maximum line length of a readable error message [characters]."""
MOST_LINES = 40
"""Maximum number of lines that a command may write to standard error."""


@dataclass(frozen=True)
class Limits:
    """Resource limits of a case."""

    cpu: int = 10
    """Processor time [s]."""
    wall: float = 60.0
    """Wall time [s]; larger than ``cpu``, since other processes share the machine."""
    memory: int = 2 << 30
    """Address space in addition to that of the parent process [bytes]."""


@dataclass(frozen=True)
class Outcome:
    """Result of a case; ``fault`` is None if the command ended as it should."""

    fault: str | None
    code: int
    output: str
    seconds: float
    memory: int
    """Peak resident memory [bytes]."""


def run(command: Callable[[list[str]], int], argv: list[str], folder: Path, limits: Limits) -> Outcome:
    """Run a command in a forked process and return the outcome.

    Args:
        command: Function that is called with ``argv`` and returns an exit code.
        argv: Command-line arguments.
        folder: Working directory of the process.
        limits: Resource limits of the process.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            _child(command, argv, folder, limits, out, err)
        hung = not _ended(pid, limits.wall)
        if hung:
            os.kill(pid, signal.SIGABRT)  # prints the stack
            _ended(pid, 1.0)
            os.killpg(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        texts = [_text(file) for file in (out, err)]
    seconds = usage.ru_utime + usage.ru_stime
    fault = "hang" if hung or code == -signal.SIGXCPU else _fault(code, *texts)
    return Outcome(fault, code, "".join(texts), seconds, usage.ru_maxrss << 10)


def _child(
    command: Callable[[list[str]], int],
    argv: list[str],
    folder: Path,
    limits: Limits,
    out: BinaryIO,
    err: BinaryIO,
) -> None:
    code = 1
    try:
        os.setsid()
        os.chdir(folder)
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (out.fileno(), 1), (err.fileno(), 2)):
            os.dup2(source, target)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        faulthandler.enable(2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu, limits.cpu + 1))
        faulthandler.register(signal.SIGXCPU, file=2, chain=True)
        space = limits.memory + _address_space()
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
        code = command(argv)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                code = 1
        os._exit(code & 0xFF)


def _address_space() -> int:
    """Return the size of this process's address space [bytes]."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _ended(pid: int, seconds: float) -> bool:
    """Wait up to ``seconds`` for a process to end, and return whether it did."""
    handle = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(1000 * seconds))
    finally:
        os.close(handle)


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read(1 << 20).decode("utf-8", "replace")


def _fault(code: int, out: str, err: str) -> str | None:
    """Return the fault that an exit code and the output indicate, or None."""
    if code < 0:
        return f"signal {signal.Signals(-code).name}"
    if "Traceback (most recent call last)" in out + err:
        return "traceback"
    if code not in (0, 2):
        return f"exit code {code}"
    lines = err.splitlines()
    if any(len(line) > LONGEST_LINE for line in lines) or len(lines) > MOST_LINES:
        return "long message"
    if re.search(r"\.py:\d+: \w*Warning:", err):
        return "warning with its source line"
    if re.search(r"unknown exception!?$|bad_alloc|error not set", err, re.MULTILINE):
        return "message without a reason"
    if any(not character.isprintable() and character != "\n" for character in err):
        return "unprintable message"
    if code == 2 and "error: " not in err:
        return "no message"
    return None
