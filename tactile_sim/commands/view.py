"""``tactile_sim view CONFIG_OR_BAG``: a simulation of its own, or a bag, in the browser; needs no ROS."""

from __future__ import annotations

import argparse
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

from tactile_sim import config, share
from tactile_sim.commands import new_parser, seconds
from tactile_sim.config import WebSettings
from tactile_sim.errors import CommandError, suggest
from tactile_sim.signals import StopRequest
from tactile_sim.view.address import RANDOM, Endpoint, announcement


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    """Register the subcommand."""
    parser = new_parser(
        subparsers,
        "view",
        "see a simulation or a bag in the browser",
        "Ctrl-C ends it. Open the address that it prints; by default only this machine can.\n"
        "To see a running node instead: tactile_sim run CONFIG --web",
    )
    parser.add_argument(
        "source",
        metavar="CONFIG_OR_BAG",
        help="a shipped configuration's name (hand), the path of a YAML file, or that of a bag",
    )
    parser.add_argument("--host", metavar="H", help="address to listen at; 127.0.0.1, or as configured")
    parser.add_argument(
        "--port",
        type=_port,
        metavar="P",
        help="port to listen at, 0 for any free one; 8080, or as configured",
    )
    parser.add_argument(
        "--token", metavar="T", help=f"require this token from browsers; {RANDOM!r} generates one"
    )
    parser.add_argument("--duration", type=seconds, metavar="S", help="end after S seconds of wall time")


def main(args: argparse.Namespace) -> int:
    """Show it until the user has seen enough or the duration is over; returns 0, or 1 where it broke down."""
    path = share.expand_home(args.source)
    if path.name == "metadata.yaml" and path.is_file():  # of a bag
        path = path.parent
    if path.suffix == ".mcap" or path.is_dir():
        return _play(path, args)
    if not path.exists() and path.suffix not in (".yaml", ".yml") and not share.lookup("config", args.source):
        near = suggest(args.source, share.names("config"))
        raise CommandError(
            f"{args.source} is neither a bag nor a file, and no configuration of that name is shipped{near}"
        )
    return _simulate(args)


def _play(path: Path, args: argparse.Namespace) -> int:
    print(f"opening {path.name}", file=sys.stderr)
    from tactile_sim.view import player  # brings the server of the view

    return player.play(path, _endpoint(args, WebSettings()), args.duration)


def _simulate(args: argparse.Namespace) -> int:
    settings = config.load(args.source)
    endpoint = _endpoint(args, settings.web)
    endpoint.check()
    print(f"making {Path(settings.scene).stem} and its skin", file=sys.stderr)
    # Some seconds that the help does without, and that come after the line that says what is done.
    from tactile_sim.loop.output import Terminal
    from tactile_sim.loop.runner import Runner
    from tactile_sim.simulation import Simulation
    from tactile_sim.view.feed import ViewFeed

    broken: list[str] = []
    simulation = Simulation(settings)  # a signal ends the process at once: there is nothing to clean up yet
    runner = Runner(simulation, Terminal())

    def lost(why: str) -> None:
        broken.append(why)
        runner.stop()

    with StopRequest() as stop, ExitStack() as stack:
        feed = ViewFeed.open(simulation, endpoint)
        stack.callback(feed.close)
        stop.call(runner.stop)
        feed.serve(runner, lost=lost)
        print(announcement(endpoint.host, feed.url), flush=True)
        if args.duration is not None:
            timer = threading.Timer(min(args.duration, threading.TIMEOUT_MAX), runner.stop)
            timer.daemon = True
            timer.start()
        runner.run()
    if broken:
        print(f"tactile_sim: error: the web view broke down ({broken[0]})", file=sys.stderr)
    return 1 if broken else 0


def _endpoint(args: argparse.Namespace, web: WebSettings) -> Endpoint:
    """Return the endpoint of the configuration with the options of the command line."""
    port = web.port if args.port is None else args.port
    token = web.token if args.token is None else args.token
    return Endpoint(args.host or web.host, port, token)


def _port(text: str) -> int:
    """A port from the command line."""
    if not (text.isdecimal() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, not {text!r}")
    return int(text)
