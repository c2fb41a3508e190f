"""``tactile_sim demo CONFIG``: run the node in a child process and show a live table of its forces."""

from __future__ import annotations

import argparse
import math
import os
import re
import select
import socket
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from tactile_sim.commands import add_config, new_parser, positive
from tactile_sim.common.errors import ConfigError
from tactile_sim.common.files import similar_file
from tactile_sim.common.processes import Child, require_ros
from tactile_sim.common.signals import StopRequest

if TYPE_CHECKING:
    from tactile_sim.ros.live_table import View
    from tactile_sim.ros.monitor import Monitor

STDIN = 0
"""File descriptor of standard input."""


class Keys:
    """Context manager that reads single key presses from the terminal, without Enter and without echo."""

    @staticmethod
    def ours() -> bool:
        """Return whether this process may read from the terminal; reading would stop a background job."""
        try:
            return os.tcgetpgrp(STDIN) == os.getpgrp()
        except OSError:  # not a terminal
            return False

    def __enter__(self) -> Keys:
        self._saved = termios.tcgetattr(STDIN)
        tty.setcbreak(STDIN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        termios.tcsetattr(STDIN, termios.TCSADRAIN, self._saved)

    def read(self) -> str:
        """Return the next key press, or an empty string if no key has been pressed."""
        ready, _, _ = select.select([STDIN], [], [], 0.0)
        return os.read(STDIN, 1).decode(errors="replace") if ready else ""


REFRESH = 0.1
"""Update interval of the live table [s of wall time]."""
PLAIN_REFRESH = 1.0
"""Update interval of the table outside a terminal [s of wall time]."""
DOMAINS = 101
"""Largest ROS domain whose ports are below Linux's ephemeral port range."""

QUIT = ("q", "quit")
"""Name and label of the key that ends the demo."""


def add_demo(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``demo``."""
    parser = new_parser(subparsers, _demo, "demo", "run the node and show its forces in a live table")
    parser.details = _details
    add_config(parser)
    parser.add_argument(
        "--duration",
        type=positive,
        metavar="S",
        help="end after S seconds of wall time; after a physics fault, end at once with exit code 2",
    )
    parser.add_argument(
        "--web",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="also start the view in the browser",
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser on this display")
    parser.add_argument("--controller", metavar="FILE", help="also run this Python program as a controller")


def _details() -> str:
    keys = ", ".join(f"{name}: {label}" for name, label in _key_labels())
    return (
        f"Keys: {keys}.\nWithout ROS_DOMAIN_ID a free domain is used. Discovery is limited to this machine."
    )


def _key_labels() -> list[tuple[str, str]]:
    """Return the name and the label of each key."""
    from tactile_sim.simulation.actions import KEYS

    names = [("space" if key == " " else key, action.label) for key, action in KEYS.items()]
    return [*names, QUIT]


def _demo(args: argparse.Namespace) -> int:
    """Run the demo until the user quits, the duration has passed, or the node or its controller ends."""
    from tactile_sim import config
    from tactile_sim.config import WebSettings
    from tactile_sim.figures.colors import full_scale, weights
    from tactile_sim.ros.live_table import View

    settings = config.load(args.config)
    if args.controller and not args.controller.endswith(".py"):
        raise ConfigError(f"--controller: must be a Python program (.py), got {args.controller!r}")
    if args.controller and not Path(args.controller).is_file():
        raise ConfigError(
            f"--controller: no such file: {args.controller}{similar_file(Path(args.controller))}"
        )
    _, model = config.configured_scene(settings)
    require_ros("tactile_sim demo")
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", str(free_domain(os.getuid())))
    from tactile_sim.ros.monitor import Monitor  # reads the environment set above

    alone, heaviest = weights(model)
    wanted = (settings.web.port or WebSettings.port) if args.web else None
    web = ["--web", "--web-allow-other-port"] if wanted else []
    arguments = [*web, "--ros-args", *(["-p", f"web.port:={wanted}"] if wanted else [])]
    view = View(f"tactile_sim {args.config}", alone, full_scale(heaviest))
    with (
        StopRequest() as stop,
        Child("run", args.config, *arguments, "-p", "start_paused:=true") as node,
        Child(module=args.controller) if args.controller else nullcontext() as controller,
        Monitor() as monitor,
    ):
        begin = bool(args.controller) or not settings.start_paused
        browses = bool(wanted) and not args.no_browser
        return _watch(node, controller, wanted, monitor, view, args.duration, begin, browses, stop)


def _web(node: Child, wanted: int | None) -> str | None:
    """Return the address of the browser view, ``off`` without a view, or None before the node prints it."""
    if wanted is None:
        return "off"
    for line in node.last_lines:
        if found := re.search(r"web view: (http://\S+:(\d+).*)", line):
            return found[1] if int(found[2]) == wanted else f"{found[1]} (port {wanted} is taken)"
    return None


def free_domain(start: int) -> int:
    """Return a ROS domain that no other program on this machine uses.

    The first participant of a domain listens on UDP port 7410 + 250 * domain (RTPS 2.5, 9.6.2.3).
    """
    domains = [1 + (start + i) % DOMAINS for i in range(DOMAINS)]
    for domain in domains:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("", 7410 + 250 * domain))
            except OSError:
                continue
            return domain
    return domains[0]


def _hints(web: str) -> list[str]:
    """Return the hints below the table: browser view, topics, and how to use ROS in another terminal."""
    return [
        f"web view: {web}",
        "topics: tactile/frame, tactile/<body>/array, contacts, /tf, markers",
        f"from another terminal: source tools/env.bash; export ROS_DOMAIN_ID={os.environ['ROS_DOMAIN_ID']}",
    ]


def _watch(
    node: Child,
    controller: Child | None,
    wanted: int | None,
    monitor: Monitor,
    view: View,
    duration: float | None,
    begin: bool,
    browses: bool,
    stop: StopRequest,
) -> int:
    """Show the state until the user quits, the duration has passed, or the node or its controller ends.

    Args:
        node: Process of the node, which starts paused.
        controller: Process of the controller, or None.
        wanted: Preferred port of the browser view; None without a view.
        monitor: Receives the node's messages.
        view: Layout of the table.
        duration: Maximum wall time [s]; None for no limit.
        begin: Whether to resume the paused node once the table is ready.
        browses: Whether to open the view in a browser if there is a display.
        stop: Stop request of this process, which is set by signals.
    """
    from tactile_sim.view.address import open_browser

    end: float | None = None
    with _display(view) as show, _keys(monitor) as handle_key:
        while node.returncode is None and (controller is None or controller.returncode is None):
            monitor.spin(REFRESH)
            if not view.hints and (web := _web(node, wanted)):
                view.hints = _hints(web)
                if browses:
                    open_browser(web.partition(" ")[0])
            now = time.monotonic()
            if end is None and monitor.ready:
                end = now + (duration or math.inf)
                if begin:
                    monitor.call("pause", False)
            if end is None:
                stop.check()
            if stop.requested or not handle_key() or (end is not None and now >= end):
                show(monitor, True)
                return 0
            show(monitor, False)
            if duration is not None and monitor.state.fault:
                remedy = "the demo ends; try a smaller timestep or softer contacts"
                print(f"tactile_sim: error: {monitor.state.fault}; {remedy}", file=sys.stderr)
                return 2
    name, ended = "node", node
    if controller is not None and node.returncode is None:
        name, ended = "controller", controller
    code = ended.returncode or 0
    printed = "\n".join(f"  {line}" for line in ended.last_lines)
    print(f"tactile_sim: error: the {name} ended with exit code {code}:\n{printed}", file=sys.stderr)
    return code if code > 0 else 1


@contextmanager
def _display(view: View) -> Iterator[Callable[[Monitor, bool], None]]:
    """Yield a function that shows the state of a monitor.

    It updates a live table in a terminal and prints text elsewhere. Its arguments are the monitor and whether
    this is the last call.
    """
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.live import Live

        console = Console(highlight=False)
        with Live(console=console, auto_refresh=False) as live:

            def draw(monitor: Monitor, last: bool) -> None:
                labels = _key_labels() if monitor.ready else [QUIT]
                keys = "".join(f"{name} {label}   " for name, label in labels)
                footer = "" if last else keys + monitor.answer
                live.update(view.table(monitor.state, console.height, footer), refresh=True)

            yield draw
        return
    from tactile_sim.ros.live_table import STARTING

    due = math.inf
    print(f"{view.title}: {STARTING}", flush=True)

    def show(monitor: Monitor, last: bool) -> None:
        nonlocal due
        now = time.monotonic()
        if due == math.inf and monitor.state.has_data and view.hints:
            due = now + PLAIN_REFRESH
            print(*view.hints, sep="\n", flush=True)
        if last or now >= due:
            due = now + PLAIN_REFRESH
            print(view.plain(monitor.state), flush=True)

    yield show


@contextmanager
def _keys(monitor: Monitor) -> Iterator[Callable[[], bool]]:
    """Yield a function that handles the last key press and returns False if the key was ``q``.

    The function ignores other keys until the monitor is ready, because they call services. Without a
    terminal, it only returns True.
    """
    from tactile_sim.commands.demo import Keys
    from tactile_sim.simulation.actions import KEYS

    if not Keys.ours():
        yield lambda: True
        return
    with Keys() as keys:

        def handle_key() -> bool:
            key = keys.read()
            if key in KEYS and monitor.ready:
                monitor.press(key)
            return key != QUIT[0]

        yield handle_key
