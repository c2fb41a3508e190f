"""Child processes, messages to and from them, and checks of the environment of this process."""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any

from tactile_sim.common import signals
from tactile_sim.common.errors import CommandError

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


MAX_FILES = 2
"""Largest number of file descriptors in a message."""
MAX_MESSAGE = 1 << 16
"""Largest size of a message [bytes]."""


@contextmanager
def pickled(content: Any) -> Iterator[int]:
    """Yield the descriptor of a file in memory with pickled content."""
    with os.fdopen(os.memfd_create("tactile_sim"), "wb") as file:
        pickle.dump(content, file)
        file.flush()
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        yield file.fileno()


class Connection:
    """One end of a connection between a simulation and a child process.

    Messages are mappings with JSON values. `tactile_sim.view.publisher` and
    `tactile_sim.simulation.camera_process` list their messages.
    """

    def __init__(self, end: socket.socket):
        self._end = end
        self._poll = select.poll()
        self._poll.register(end, select.POLLIN)

    @staticmethod
    def pair() -> tuple[Connection, Connection]:
        """Return both ends of a new connection."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return Connection(ours), Connection(theirs)

    @staticmethod
    def of(file: int) -> Connection:
        """Create the end of a connection from its file descriptor."""
        return Connection(socket.socket(fileno=file))

    @property
    def file(self) -> int:
        """File descriptor of this end."""
        return self._end.fileno()

    def send(self, **message: Any) -> None:
        """Send a message without waiting.

        The message is dropped if it is too large, or if the peer is gone or has too many unread messages.
        """
        data = json.dumps(message).encode()
        if len(data) > MAX_MESSAGE:
            return
        try:
            self._end.send(data, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
        except OSError:
            pass

    def send_files(self, files: Sequence[int], **message: Any) -> None:
        """Send a message with copies of file descriptors, which the peer receives as its field ``files``.

        Errors are ignored as in `send`.
        """
        try:
            socket.send_fds(self._end, [json.dumps(message).encode()], files)
        except OSError:
            pass

    def receive(self, timeout: float | None = None) -> dict[str, Any] | None:
        """Return the next message.

        Args:
            timeout: Longest time to wait [s], or None for no limit.
        """
        try:
            if not self._poll.poll(None if timeout is None else timeout * 1e3):
                return {}
            data, files, _, _ = socket.recv_fds(self._end, MAX_MESSAGE, MAX_FILES)
        except OSError:
            return None
        if not data:
            return None
        return json.loads(data) | ({"files": files} if files else {})

    def shut_down(self) -> None:
        """Shut down the connection. Afterwards, ``receive`` returns None on both ends."""
        try:
            self._end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        """Close the file descriptor of this end."""
        self._end.close()


LAST_DOMAIN = 232
"""Largest ROS domain whose ports, from 7400 + 250 * domain on, are below 65536 (RTPS 2.5, 9.6.2.3)."""


def split_ros_arguments(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate ROS arguments from other arguments.

    ROS arguments extend from ``--ros-args`` to the next ``--`` or to the end of the command line.

    Returns:
        The other arguments, and the ROS arguments without the two markers.
    """
    ours: list[str] = []
    theirs: list[str] = []
    inside = False
    for argument in argv:
        if argument == "--ros-args":
            inside = True
        elif inside and argument == "--":
            inside = False
        else:
            (theirs if inside else ours).append(argument)
    return ours, theirs


def require_mujoco() -> None:
    """Check that MuJoCo can be imported."""
    try:
        import_module("mujoco")
    except (AttributeError, ImportError, RuntimeError) as error:
        if "MUJOCO_GL" not in os.environ:
            raise
        raise CommandError(
            f"MuJoCo cannot be imported with MUJOCO_GL={os.environ['MUJOCO_GL']}: {error};"
            " install this library, or unset MUJOCO_GL"
        ) from None


def require_ros(command: str) -> None:
    """Check that ROS 2 and our messages are installed, and the environment variables of ROS."""
    if find_spec("rclpy") is None:
        raise CommandError(
            f"`{command}` requires ROS 2, but rclpy cannot be imported; source a ROS 2 installation "
            "(source /opt/ros/jazzy/setup.bash), or in the source tree: make setup && source tools/env.bash"
        )
    if find_spec("tactile_sim.msg") is None:
        raise CommandError(
            f"`{command}` requires the messages of tactile_sim, but they are not built; in the source tree: "
            "make setup && source tools/env.bash, or colcon build && source install/setup.bash"
        )
    domain = os.environ.get("ROS_DOMAIN_ID", "")
    if domain and not (domain.strip().isdecimal() and int(domain) <= LAST_DOMAIN):
        raise CommandError(
            f"ROS_DOMAIN_ID: must be an integer from 0 to {LAST_DOMAIN}, got {domain!r}; change or unset it"
        )
    if not {"HOME", "ROS_HOME", "ROS_LOG_DIR"} & {name for name, value in os.environ.items() if value}:
        raise CommandError(
            "HOME: must be set, because ROS writes its log files there; export HOME or ROS_LOG_DIR"
        )
    security = [os.environ.get(f"ROS_SECURITY_{name}", "") for name in ("ENABLE", "STRATEGY", "KEYSTORE")]
    if security[:2] == ["true", "Enforce"] and not security[2]:
        raise CommandError(
            "ROS_SECURITY_KEYSTORE: must be set if ROS_SECURITY_ENABLE is true; "
            "export the folder of the keys, or ROS_SECURITY_ENABLE=false"
        )
