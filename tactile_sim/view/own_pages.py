"""A view that is for this machine alone is not for the pages that its browsers have from elsewhere."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import websockets.asyncio.server


def is_own(headers: Mapping[str, str]) -> bool:
    """Whether a request comes from a page of this very server, or from no page at all.

    Browsers let any page open a WebSocket to any address, and say in ``Origin`` whose page it is (RFC 6455,
    10.2). A name that somebody made lead here (DNS rebinding) is not one of this machine either.
    """
    host = headers.get("Host", "")
    origin = headers.get("Origin")
    name = urlsplit(f"//{host}").hostname or ""
    return _is_loopback(name) and (origin is None or urlsplit(origin).netloc == host)


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


@contextmanager
def for_own_pages(host: str) -> Iterator[None]:
    """A server of viser that is made within serves, where it listens at a loopback address, `is_own` alone.

    viser has no argument for that: the function by which it serves is another one meanwhile.
    """
    plain = websockets.asyncio.server.serve

    def serve(*arguments: Any, process_request: Callable[..., Any], **others: Any) -> Any:
        def answer(connection: Any, request: Any) -> Any:
            if is_own(request.headers):
                return process_request(connection, request)
            return connection.respond(
                HTTPStatus.FORBIDDEN, "this view is for pages of its own machine alone\n"
            )

        return plain(*arguments, process_request=answer, **others)

    if _is_loopback(host):
        websockets.asyncio.server.serve = serve  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        websockets.asyncio.server.serve = plain  # type: ignore[misc]
