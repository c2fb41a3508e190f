"""``tactile_sim view CONFIG_OR_BAG``: show a simulation without ROS, or a bag, in the browser."""

from __future__ import annotations

import argparse
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tactile_sim.commands import complete_config, new_parser, port_number, positive
from tactile_sim.common.errors import CommandError, suggest
from tactile_sim.common.files import expand_home, shipped_file, shipped_names
from tactile_sim.common.signals import StopRequest

if TYPE_CHECKING:
    from tactile_sim.config import WebSettings
    from tactile_sim.view.address import Endpoint


def add_view(subparsers: argparse._SubParsersAction) -> None:
    """Add the subcommand ``view``."""
    parser = new_parser(
        subparsers,
        _view,
        "view",
        "show a simulation or a bag in the browser",
        "Opens a browser if there is a display, and prints the address; by default only this machine can\n"
        "open it. Physics starts when the browser shows the scene, or after 15 s. Ctrl-C ends the view.\n"
        "To show a ROS node instead: tactile_sim run CONFIG --web",
    )
    source: Any = parser.add_argument(
        "source",
        metavar="CONFIG_OR_BAG",
        help="name of a shipped configuration (hand), or path of a YAML file or a bag",
    )
    source.completer = complete_source
    parser.add_argument(
        "--host", metavar="H", help="address to listen at; default: as configured (127.0.0.1)"
    )
    parser.add_argument(
        "--port",
        type=port_number,
        metavar="P",
        help="port to listen at, 0: any free port; default: as configured (8080)",
    )
    parser.add_argument(
        "--token", metavar="T", help="require this token from browsers; 'random' generates one"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for bags, films and replays that users make in the panel; default: the current folder, "
        "or none if --host serves other machines",
    )
    parser.add_argument("--duration", type=positive, metavar="S", help="end after S seconds of wall time")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser on this display")


def complete_source(prefix: str, **_: Any) -> list[str]:
    """Return candidates for completing a prefix: shipped configurations, YAML files and bags."""
    from argcomplete.completers import FilesCompleter  # only the shell's completion needs it

    return [*complete_config(prefix), *FilesCompleter(["mcap"])(prefix)]


def _view(args: argparse.Namespace) -> int:
    """Show the configuration or bag until Ctrl-C or until the duration has passed."""
    path = expand_home(args.source)
    if path.name == "metadata.yaml" and path.is_file():  # a file in the folder of a bag
        path = path.parent
    if path.suffix == ".mcap" or path.is_dir():
        return _play(path, args)
    if not path.exists() and path.suffix not in (".yaml", ".yml") and not shipped_file("config", args.source):
        near = suggest(args.source, shipped_names("config"))
        raise CommandError(
            f"{args.source}: must be a bag, a file or the name of a shipped configuration{near}"
        )
    return _simulate(args)


def _play(path: Path, args: argparse.Namespace) -> int:
    print(f"opening {path.name}", file=sys.stderr)
    from tactile_sim.config import WebSettings
    from tactile_sim.view import player  # imports the web server

    endpoint = _endpoint(args, WebSettings())
    folder = endpoint.output_folder(args.out)
    return player.play(path, endpoint, args.duration, folder, browses=not args.no_browser)


def _simulate(args: argparse.Namespace) -> int:
    from tactile_sim import config

    settings = config.load(args.source)
    endpoint = _endpoint(args, settings.web)
    endpoint.check()
    folder = endpoint.output_folder(args.out)
    print(f"building the skin of {Path(settings.scene).stem}", file=sys.stderr)
    # These imports take seconds, so they come after the first line of output.
    from tactile_sim.ros.bag_output import BagOutput
    from tactile_sim.simulation import Simulation
    from tactile_sim.simulation.runner import Output, Runner
    from tactile_sim.view.address import announcement, open_browser
    from tactile_sim.view.publisher import ViewPublisher

    failures: list[str] = []
    simulation = Simulation(settings)  # a signal ends the process at once: there is nothing to clean up yet
    runner = Runner(simulation, Output())

    def on_lost(reason: str) -> None:
        failures.append(reason)
        runner.stop()

    with StopRequest() as stop, ExitStack() as stack:
        view = ViewPublisher.open(simulation, endpoint, folder)
        stack.callback(view.close)
        if folder:
            cameras = simulation.open_cameras()
            if cameras:
                stack.callback(cameras.close)
            stack.callback(BagOutput(runner, folder, cameras=cameras).close)
        stop.call(runner.stop)
        view.serve(runner, on_lost=on_lost, presents=True)
        print(announcement(endpoint.host, view.url), flush=True)
        if not args.no_browser:
            open_browser(view.url)
        if args.duration is not None:
            timer = threading.Timer(min(args.duration, threading.TIMEOUT_MAX), runner.stop)
            timer.daemon = True
            timer.start()
        runner.run()
    if failures:
        print(f"tactile_sim: error: the web view failed ({failures[0]})", file=sys.stderr)
    return 1 if failures else 0


def _endpoint(args: argparse.Namespace, web: WebSettings) -> Endpoint:
    """Return the configured endpoint after applying the command line options."""
    from tactile_sim.view.address import Endpoint

    port = web.port if args.port is None else args.port
    token = web.token if args.token is None else args.token
    return Endpoint(args.host or web.host, port, token)
