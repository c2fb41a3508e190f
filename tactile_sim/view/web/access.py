"""Control access to a view. Requests must come from its own pages and contain its token, if it has one."""

from __future__ import annotations

import hmac
import ipaddress
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import SplitResult, parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.http11 import Request

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
    """Split an origin into its parts.

    Raises:
        ValueError: The string is not a valid origin.
    """
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
