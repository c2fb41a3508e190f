"""Hostile HTTP requests to a view, over real sockets."""

from __future__ import annotations

import pytest
from support.view_clients import Browser, place, raw_status, status_of
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tactile_sim.view.web.page import PROTOCOL


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_pages_of_other_origins_are_rejected(serve, host):
    viewer = serve(host)
    own = place(viewer)
    assert status_of(viewer)[0] == 200
    for origin, status in (
        (f"http://{own}", 200),
        (f"https://{own}", 200),
        ("http://other.example", 403),
        ("http://127.0.0.1", 403),
        ("null", 403),
        ("", 400),
        ("http://[", 400),
        ("http://a:b", 400),
    ):
        assert status_of(viewer, Origin=origin)[0] == status, origin
    for origin in ("null", "http://other.example"):
        with pytest.raises(InvalidStatus, match="403"):
            connect(f"ws://{own}", origin=origin, subprotocols=[PROTOCOL])
    Browser(viewer, origin=f"http://{own}").close()


def test_foreign_host_names_reach_only_a_public_view(serve):
    headers = {"Host": "robot.example", "Origin": "http://robot.example"}
    assert status_of(serve("0.0.0.0"), **headers)[0] == 200
    local = serve("127.0.0.1")
    assert status_of(local, **headers)[0] == 403
    assert status_of(local, Host="localhost:1", Origin="http://localhost:1")[0] == 200


@pytest.mark.parametrize(
    "head",
    [
        "Host: [",
        "Host: ",
        "Host: a:b",
        "Host: 127.0.0.1:99999",
        "Host: 127.0.0.1/x",
        "Host: 127.0.0.1\r\nHost: 127.0.0.1",
        "Host: 127.0.0.1\r\nOrigin: null\r\nOrigin: null",
        "Host: 127.0.0.1\r\nUpgrade: a\r\nUpgrade: b",
        "Host: 127.0.0.1\r\nAccept-Encoding: a\r\nAccept-Encoding: b",
        "Host: 127.0.0.1\r\nUpgrade: websocket",
        "Host: 127.0.0.1\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: viser-v0.0.1",
        "Accept: */*",
        "no colon",
        "B\xe4d: x",
        "Long: " + 10000 * "x",
        "Host: 127.0.0.1\r\n" + "\r\n".join(f"A{k}: b" for k in range(500)),
    ],
)
def test_malformed_headers_are_a_bad_request(serve, head):
    viewer = serve()
    assert raw_status(viewer, f"GET / HTTP/1.1\r\n{head}\r\n\r\n".encode("latin-1")) == 400
    assert status_of(viewer)[0] == 200


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"GET /%00 HTTP/1.1", 404),
        (b"GET /" + b"a" * 3000 + b" HTTP/1.1", 400),
        (b"GET /%2e%2e/%2e%2e/_viser.py HTTP/1.1", 404),
        (b"GET /..%5c..%5c_viser.py HTTP/1.1", 404),
        (b"GET /../../_viser.py HTTP/1.1", 404),
        (b"GET //etc/passwd HTTP/1.1", 404),
        (b"GET http://other.example/ HTTP/1.1", 404),
        (b"POST / HTTP/1.1", 400),
        (b"\x16\x03\x01\x02\x00\x01", 400),  # TLS
    ],
)
def test_paths_outside_the_page_are_not_served(serve, line, status):
    assert raw_status(serve(), line + b"\r\nHost: 127.0.0.1\r\n\r\n") == status


def test_token_is_required_for_pages_and_websockets(serve):
    viewer = serve("0.0.0.0", "secret")
    assert viewer.url.endswith("/?token=secret")
    for path in ("/", "/?token=", "/?token=Secret", "/?token=%ff", "/?token=secret2"):
        assert status_of(viewer, path)[0] == 401
    status, headers = status_of(viewer, "/?token=secret")
    assert status == 200
    cookie = headers["Set-Cookie"].partition(";")[0]
    assert status_of(viewer, Cookie=f"other=1; {cookie}")[0] == 200
    assert status_of(viewer, Cookie=cookie + "x")[0] == 401
    with pytest.raises(InvalidStatus, match="401"):
        connect(f"ws://{place(viewer)}", subprotocols=[PROTOCOL])
    connect(f"ws://{place(viewer)}", subprotocols=[PROTOCOL], additional_headers={"Cookie": cookie}).close()
    Browser(viewer).close()


def test_random_tokens_are_long_and_unique(serve):
    first, second = (serve(token="random").url.partition("=")[2] for _ in range(2))
    assert len(first) >= 20
    assert first != second


def test_page_of_another_version_cannot_open_a_websocket(serve):
    viewer = serve()
    for protocols in ([], ["viser-v0.0.1"], ["chat"]):
        with pytest.raises(InvalidStatus, match="400"):
            connect(f"ws://{place(viewer)}", subprotocols=protocols)
