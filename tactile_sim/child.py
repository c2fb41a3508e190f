"""Child process that runs a Python program and never outlives its parent."""

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

PATIENCE = 30.0
"""Time between the first SIGINT and SIGKILL [s]."""
REPEAT = 2.0
"""Interval between repeated SIGINTs [s]. A single SIGINT can be lost while the interpreter starts."""
KEPT_LINES = 20
"""Number of output lines to keep for `Child.last_lines`."""
PR_SET_PDEATHSIG = 1  # from <linux/prctl.h>
_libc = ctypes.CDLL(None)


def prepare() -> None:
    """Prepare this process before MuJoCo is imported.

    - Collect garbage less often. Imports create many objects, which make each collection slow.
    - Skip the garbage collection at exit, which takes 0.4 s of CPU time.
    - Specify the shared library for the package glfw, which MuJoCo imports. Otherwise, glfw searches for the
      library in another Python process, which prints a traceback on Ctrl-C.
    """
    gc.set_threshold(10_000)
    atexit.register(gc.freeze)
    if (glfw := find_spec("glfw")) and glfw.origin:
        kind = "wayland" if os.environ.get("XDG_SESSION_TYPE") == "wayland" else "x11"
        library = Path(glfw.origin).parent / kind / "libglfw.so"
        if library.is_file() and not os.environ.get("PYGLFW_LIBRARY_VARIANT"):
            os.environ.setdefault("PYGLFW_LIBRARY", str(library))


def ask_for_signal() -> None:
    """Ask the kernel to send SIGINT to this process when its parent dies."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGINT)


def _before_exec(parent: int) -> None:
    """Set up signals in the child process before it executes the program.

    Restore SIGINT, which shells ignore in background jobs, and ask the kernel to send SIGINT when the parent
    dies.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ask_for_signal()
    if os.getppid() != parent:  # the parent died before prctl
        os._exit(1)


class Child:
    """Child process ``python -m MODULE ARGUMENTS...`` that is ended on leaving the ``with`` block.

    The child has its own session, so Ctrl-C in the terminal reaches only the parent, which then ends the
    child. If the parent is killed, the kernel sends SIGINT to the child.
    """

    def __init__(self, *arguments: str, module: str = "tactile_sim", files: Sequence[int] = ()) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *([] if module.endswith(".py") else ["-m"]), module, *arguments],
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
        """Id of the child process."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Exit code, or None while the process is running."""
        return self._process.poll()

    @property
    def last_lines(self) -> list[str]:
        """Last lines that the process wrote to standard output and standard error."""
        if self.returncode is not None:
            self._reader.join(timeout=1.0)
        return list(self._lines)

    def wait_for(self, beginning: str, patience: float) -> bool:
        """Wait until the process prints a line with a specified prefix.

        Args:
            beginning: Prefix of the line.
            patience: Timeout [s].
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
        """Send SIGINT until the process ends; kill it if it is still running after `PATIENCE`."""
        end = time.monotonic() + PATIENCE
        while self.returncode is None and time.monotonic() < end:
            self._process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(REPEAT)
        if self.returncode is None:
            self._process.kill()
        self._process.wait()

    def wait(self) -> None:
        """Wait until the process has ended."""
        self._process.wait()

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
