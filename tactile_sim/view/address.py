"""Where a view listens: checked before, because viser takes the next free port in silence."""

from __future__ import annotations

import errno
import socket

from tactile_sim.errors import CommandError

REMEDY = "give the view another one: view --port 8081, run --ros-args -p web.port:=8081 (0: any free one)"
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}


def check(host: str, port: int) -> None:
    """Raises CommandError where nothing can listen at that address, naming it and the remedy."""
    if not 0 <= port <= 65535:
        raise CommandError(f"port {port} is none: ports go from 1 to 65535; {REMEDY}")
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise CommandError(
            f"the view cannot listen at {host!r}: {error.strerror or error}; "
            "127.0.0.1 serves this machine alone, 0.0.0.0 every network it is in"
        ) from None
    for family, kind, protocol, _, where in found:
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(where)
            except OSError as error:
                raise _refused(host, port, error) from None


def _refused(host: str, port: int, error: OSError) -> CommandError:
    if error.errno == errno.EADDRINUSE:
        return CommandError(f"port {port} of {host} is taken by another program; {REMEDY}")
    if error.errno == errno.EACCES:
        return CommandError(f"port {port} of {host} is not for this user to open; {REMEDY}")
    return CommandError(
        f"the view cannot listen at port {port} of {host}: {error.strerror}; "
        "127.0.0.1 serves this machine alone, 0.0.0.0 every network it is in"
    )


def address(host: str, port: int) -> str:
    """What to type into a browser on this machine."""
    reached = _EVERYWHERE.get(host, host)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"


def told(host: str, reached: str) -> str:
    """A line for who started a view that listens at ``host``: where to open it, and who else can."""
    if host not in _EVERYWHERE:
        return f"web view: {reached}"
    port = reached.rpartition(":")[2]
    return f"web view: {reached} (open to every network: from elsewhere http://{_outward()}:{port})"


def _outward() -> str:
    """This machine's address on the way to others; without one its name."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(("192.0.2.1", 9))  # of RFC 5737; nothing is sent, the system only chooses its side
        except OSError:
            return socket.gethostname()
        return str(way.getsockname()[0])
