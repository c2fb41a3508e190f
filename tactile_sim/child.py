"""A program of ours as a process of its own, which never outlives the one that started it."""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from types import TracebackType

from tactile_sim import signals

PATIENCE = 30.0  # s that a process gets to end by itself after SIGINT
REPEAT = 2.0  # s after which it gets another one: one that comes as Python itself starts may be lost
KEPT_LINES = 20
PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>
_libc = ctypes.CDLL(None)


def prepare() -> None:
    """Prepare this process, a program of ours, before MuJoCo is imported.

    The interpreter ends it without a search for garbage, which takes 0.4 s of CPU. And glfw, which MuJoCo
    imports, loads its own library instead of asking another Python for the version of each that it finds:
    Ctrl-C ends that one with a traceback.
    """
    atexit.register(gc.freeze)
    if (glfw := find_spec("glfw")) and glfw.origin:
        kind = "wayland" if os.environ.get("XDG_SESSION_TYPE") == "wayland" else "x11"
        library = Path(glfw.origin).parent / kind / "libglfw.so"
        if library.is_file() and not os.environ.get("PYGLFW_LIBRARY_VARIANT"):
            os.environ.setdefault("PYGLFW_LIBRARY", str(library))


def _before_exec(parent: int) -> None:
    """Runs in the child: a shell's background job has SIGINT ignored and would hand that down."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != parent:  # it has died before the line above
        os._exit(1)


class Child:
    """``python -m MODULE ARGUMENTS...`` in another process, by default the command ``tactile_sim``; leaving
    the ``with`` block ends it.

    It has a session of its own, so that Ctrl-C in the terminal reaches this process alone, which then ends
    the child in its turn; should this process be killed, the kernel sends the child the same SIGINT.
    ``files``: numbers of open files that it gets too, under the same numbers.
    """

    def __init__(self, *arguments: str, module: str = "tactile_sim", files: Sequence[int] = ()) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=partial(_before_exec, os.getpid()),
            pass_fds=files,
        )
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line.rstrip())

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.poll()

    @property
    def last_lines(self) -> list[str]:
        """What it wrote last, to either stream."""
        if self.returncode is not None:
            self._reader.join(timeout=1.0)
        return list(self._lines)

    def wait_for(self, beginning: str, patience: float) -> bool:
        """Wait for a line that begins so.

        Returns:
            False if the process ended, or ``patience`` seconds went by, without such a line.

        Raises:
            Stopped: see `tactile_sim.signals`.
        """
        end = time.monotonic() + patience
        while time.monotonic() < end:
            signals.check()
            running = self.returncode is None
            if any(line.startswith(beginning) for line in self.last_lines):
                return True
            if not running:
                return False
            time.sleep(0.05)
        return False

    def end(self) -> None:
        """End it, by force where it does not end by itself."""
        end = time.monotonic() + PATIENCE
        while self.returncode is None and time.monotonic() < end:
            self._process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(REPEAT)
        if self.returncode is None:
            self._process.kill()
        self._process.wait()

    def wait(self) -> None:
        """Wait until it has ended."""
        self._process.wait()

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
