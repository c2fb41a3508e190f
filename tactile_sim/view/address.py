"""The address of a view, its token, and the requests that it accepts.

The address is checked before viser uses it, because viser would silently use the next free port if the
specified one is in use.
"""

from __future__ import annotations

import errno
import hmac
import ipaddress
import os
import re
import secrets
import socket
import sys
import tempfile
import webbrowser
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from threading import Thread
from urllib.parse import SplitResult, parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.http11 import Request

from tactile_sim.common.errors import CommandError

COOKIE = "tactile_sim_token"
"""Prefix of the cookie name. The port is appended because browsers share cookies among ports."""


class Refusal(Exception):
    """Error that rejects a request, with an HTTP status and a reason."""

    def __init__(self, status: HTTPStatus, reason: str):
        super().__init__(reason)
        self.status = status
        self.reason = reason


@dataclass(frozen=True)
class Access:
    """Checks the origin and the token of requests.

    Browsers allow any page to open a websocket to any address, and they send the page's origin in ``Origin``
    (RFC 6455, 10.2). A foreign page can also reach a local server through a host name that it controls (DNS
    rebinding). The header ``Host`` contains that name, so a view on a loopback address accepts a request only
    if this header contains a loopback name.
    """

    host: str
    """Host name or address at which the view listens."""
    token: str = ""
    """Token that browsers must send, unless it is empty."""

    def check(self, request: Request) -> Headers:
        """Check a request and return additional headers for its response.

        Raises:
            Refusal: The request is malformed, comes from a foreign page, or lacks the token.
        """
        try:
            host = _split("//" + request.headers["Host"])
            origin = request.headers.get("Origin")
            foreign = origin == "null" or (origin is not None and _split(origin).netloc != host.netloc)
        except (LookupError, ValueError):  # LookupError: missing or repeated
            raise Refusal(HTTPStatus.BAD_REQUEST, "malformed Host or Origin header") from None
        if is_loopback(self.host) and not is_loopback(host.hostname or ""):
            raise Refusal(HTTPStatus.FORBIDDEN, "this view accepts only connections from its own machine")
        if foreign:
            raise Refusal(HTTPStatus.FORBIDDEN, "this view rejects requests from pages of other origins")
        return self._check_token(request, f"{COOKIE}_{host.port or 80}")

    def _check_token(self, request: Request, cookie: str) -> Headers:
        if not self.token:
            return Headers()
        if self._matches(parse_qs(request.path.partition("?")[2]).get("token", [""])[0]):
            return Headers({"Set-Cookie": f"{cookie}={self.token}; Path=/; HttpOnly; SameSite=Lax"})
        for header in request.headers.get_all("Cookie"):
            for pair in header.split(";"):
                name, _, value = pair.strip().partition("=")
                if name == cookie and self._matches(value):
                    return Headers()
        raise Refusal(
            HTTPStatus.UNAUTHORIZED, "this view requires its token: open the address that it printed"
        )

    def _matches(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(errors="replace"), self.token.encode())


def _split(origin: str) -> SplitResult:
    """Split an origin into its parts."""
    parts = urlsplit(origin.lower())
    if not parts.hostname or parts.path or parts.query or parts.fragment or parts.port == 0:
        raise ValueError(origin)
    return parts


def is_loopback(host: str) -> bool:
    """Return whether a host name or address belongs to the loopback interface."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


RANDOM = "random"
"""Value of ``Endpoint.token`` that requests a generated token."""
_ALL_INTERFACES = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
"""Wildcard hosts and the corresponding loopback addresses."""
_REMEDY = "choose another one: view --port 8081, run --ros-args -p web.port:=8081 (0: any free port)"
_HOSTS = "127.0.0.1 serves this machine only, 0.0.0.0 all networks of this machine"


@dataclass(frozen=True)
class Endpoint:
    """The address of a view and its access token."""

    host: str = "127.0.0.1"
    """Host name or address of the interface; 0.0.0.0 or :: for all interfaces."""
    port: int = 8080
    """TCP port; 0 means any free port."""
    token: str = ""
    """Token that browsers must send, unless it is empty. `RANDOM` generates a token."""
    allow_other_port: bool = False
    """Whether to use the next free port if ``port`` is in use."""

    def check(self) -> None:
        """Check that a view can listen at this address.

        Raises:
            CommandError: The token is invalid, or the address cannot be bound.
        """
        if self.token and not re.fullmatch(r"[A-Za-z0-9_-]{1,128}", self.token):
            raise CommandError(
                f"web token: must be 1 to 128 letters, digits, - or _, got {self.token[:200]!r}; "
                f"{RANDOM!r} generates one"
            )
        port = 0 if self.allow_other_port else self.port
        if not 0 <= port <= 65535:
            raise CommandError(f"web port: must be from 0 to 65535, got {port}; {_REMEDY}")
        try:
            found = socket.getaddrinfo(
                self.host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
        except OSError as error:
            raise CommandError(
                f"web host: cannot listen at {self.host!r}: {error.strerror or error}; {_HOSTS}"
            ) from None
        for family, kind, protocol, _, where in found:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(where)
                except OSError as error:
                    raise self.bind_error(error) from None

    def output_folder(self, chosen: Path | None, option: str = "--out") -> Path | None:
        """Return the folder in which browsers may create files.

        By default, this is the current folder if the view serves this machine only; otherwise there is none.

        Raises:
            CommandError: Files cannot be created in the chosen folder.
        """
        if chosen is None:
            return Path() if is_loopback(self.host) else None
        existing = next(folder for folder in (chosen, *chosen.absolute().parents) if os.path.lexists(folder))
        if not existing.is_dir():
            raise CommandError(f"{option}: must be a folder, got {chosen}; {existing} is a file")
        try:
            tempfile.TemporaryFile(dir=existing).close()
        except OSError as error:
            raise CommandError(f"{option}: must be writable, got {chosen}: {error.strerror}") from None
        return chosen

    def bind_error(self, error: OSError) -> CommandError:
        """Return an error that explains why the port cannot be bound."""
        if error.errno == errno.EADDRINUSE:
            return CommandError(f"port {self.port} of {self.host} is in use by another program; {_REMEDY}")
        if error.errno == errno.EACCES:
            return CommandError(f"port {self.port} of {self.host} needs other privileges; {_REMEDY}")
        return CommandError(f"cannot listen at port {self.port} of {self.host}: {error.strerror}; {_HOSTS}")

    def with_token(self) -> Endpoint:
        """Return this endpoint with a generated token in place of `RANDOM`."""
        return replace(self, token=secrets.token_urlsafe(16)) if self.token == RANDOM else self

    def url(self, port: int) -> str:
        """Return the URL to open in a browser on this machine."""
        host = _ALL_INTERFACES.get(self.host, self.host)
        base = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        return f"{base}/?token={self.token}" if self.token else base


def announcement(host: str, url: str) -> str:
    """Return a line of text that announces the URL of a view."""
    if host not in _ALL_INTERFACES:
        return f"web view: {url}"
    rest = url.rpartition(":")[2]
    guarded = "" if "?token=" in rest else " without a token"
    return f"web view: {url} (open to all networks{guarded}: http://{_outward_address()}:{rest})"


def open_browser(url: str) -> None:
    """Open a URL in the browser of the user of a terminal, if there is a display."""
    has_display = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if has_display and sys.stdout.isatty():
        Thread(target=webbrowser.open, args=(url,), daemon=True).start()  # some browsers return at their end


def _outward_address() -> str:
    """Return the address from which this machine reaches other networks, or its host name if it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(("192.0.2.1", 9))  # RFC 5737 address; UDP connect selects an interface, sends nothing
        except OSError:
            return socket.gethostname()
        return str(way.getsockname()[0])
