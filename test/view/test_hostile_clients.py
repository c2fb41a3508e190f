"""Hostile clients of a view, over real sockets: their requests, connections and messages."""

from __future__ import annotations

import random
import socket
import sys
import time
from contextlib import closing
from threading import Thread

import msgspec
import numpy as np
import pytest
from support.view_clients import CAMERA, CLICK, DRAG, FRAME, Browser, Recorder, place, raw_status, status_of
from support.waiting import PATIENCE, wait_until
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tactile_sim.common.processes import Connection
from tactile_sim.view.player import TimeBar
from tactile_sim.view.server import GRACE, MAX_CONNECTIONS, MAX_MESSAGE, MAX_TEXT, PROTOCOL


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


@pytest.fixture
def rapid_switching():
    """Switch between threads as often as possible, which makes races likely."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_many_browsers_receive_updates_without_an_error_in_the_sender(serve, rapid_switching):
    viewer = serve()
    browsers = [Browser(viewer) for _ in range(40)]
    readers = [Thread(target=lambda browser=browser: [*browser.socket]) for browser in browsers]
    for reader in readers:
        reader.start()
    end, count = time.monotonic() + 8.0, 0
    try:
        while time.monotonic() < end:  # pairs of messages, between which the connections wait
            viewer.notify(str(count))
            time.sleep(0.02 * (count % 2))
            count += 1
    finally:
        viewer.close()
        for reader in readers:
            reader.join()


def test_message_flood_is_slowed_down(serve):
    recorder = Recorder()
    viewer = serve(recorder=recorder)
    with closing(Browser(viewer)) as browser:
        begin = time.monotonic()
        for _ in range(400):
            browser.set("Throw a ball", True)
        wait_until(lambda: len(recorder.requests) == 400)
    assert time.monotonic() - begin > 1.9  # 200 at once, the rest 100 per second


@pytest.mark.parametrize("frame", [b"\x00\x80\x00\x00\x00\x00", b"\x89\x80\x00\x00\x00\x00"])
def test_endless_fragments_and_pings_close_the_connection(serve, frame):
    viewer = serve()
    browser = Browser(viewer)
    wait_until(lambda: viewer.clients == 1)
    browser.socket.socket.sendall(b"\x02\x80\x00\x00\x00\x00")  # the start of a message
    with pytest.raises(OSError):
        for _ in range(1000):
            browser.socket.socket.sendall(1000 * frame)
    wait_until(lambda: viewer.clients == 0)


def test_idle_connections_do_not_block_browsers(serve):
    viewer = serve()
    host, port = place(viewer).split(":")
    with closing(Browser(viewer)) as user:
        idle = [socket.create_connection((host, int(port))) for _ in range(MAX_CONNECTIONS + 20)]
        for client in idle[::2]:
            client.send(b"GET / HTTP/1.1\r\nHost: ")  # and never its end
        assert status_of(viewer)[0] == 200
        viewer.notify("hello")
        user.receive_until(lambda: user.shows("hello"))
        for client in idle:
            client.close()


@pytest.mark.parametrize("token", ["", "secret"])
def test_idle_websockets_do_not_block_browsers(serve, token):
    viewer = serve(token=token)
    host, port = place(viewer).split(":")
    with closing(Browser(viewer)) as user:
        wait_until(lambda: viewer.clients == 1)
        idle = [websocket(host, port, f"/?token={token}") for _ in range(MAX_CONNECTIONS + 20)]
        begin = time.monotonic()
        with closing(Browser(viewer)) as other:
            wait_until(lambda: viewer.clients == 2)
            viewer.notify("hello")
            for browser in (user, other):
                browser.receive_until(lambda browser=browser: browser.shows("hello"))
        assert time.monotonic() - begin < 20.0  # websockets closes idle ones only after 40 s
        for client in idle:
            client.close()


def websocket(host, port, path="/"):
    """Return a socket that has sent the request for a websocket."""
    client = socket.create_connection((host, int(port)))
    client.sendall(
        f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {'A' * 22}==\r\n"
        f"Sec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n".encode()
    )
    return client


def stalled_client(viewer):
    """Return a client that opens a websocket and never reads."""
    host, port = place(viewer).split(":")
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect((host, int(port)))
    client.sendall(
        f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {'A' * 22}==\r\n"
        f"Sec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n".encode()
    )
    data = msgspec.msgpack.encode(CAMERA)
    client.sendall(b"\x82\xfe" + len(data).to_bytes(2, "big") + bytes(4) + data)
    wait_until(lambda: viewer.clients == 1)
    image = np.random.default_rng(0).integers(0, 255, (2000, 2000, 3), np.uint8)
    viewer.server.scene.set_background_image(image, format="png")  # 12 MB, more than sockets buffer
    time.sleep(0.5)
    return client


def test_stalled_browser_does_not_delay_shutdown(serve):
    viewer = serve()
    with closing(stalled_client(viewer)):
        begin = time.monotonic()
        viewer.close()
        assert time.monotonic() - begin < GRACE + 2.5  # GRACE + 0.05 on a busy machine


def test_stalled_browser_is_disconnected(serve, monkeypatch):
    monkeypatch.setattr("tactile_sim.view.server.STALL", 1.0)
    viewer = serve()
    with closing(stalled_client(viewer)):
        wait_until(lambda: viewer.clients == 0)


def updates(label, *values):
    return [(label, {"value": value}) for value in values]


NUMBERS = (float("nan"), float("inf"), None, "x", [], {}, True)
HOSTILE_UPDATES = [
    ("Reset", {"removed": True}),
    ("Reset", {"value": True, "removed": True}),
    ("Reset", {"update_cb": []}),
    ("Reset", {"nosuch": 1}),
    ("Reset", {}),
    *updates("Reset", 1, "x", None, [True]),
    *updates("reset to", "lo", "x" * 100_000, 0, None, ["high"], b"high"),
    *updates("steps per click", "5" * (MAX_TEXT + 1), 5, None, True, ["5"]),
    *updates("force [N]", *NUMBERS),
    *updates("lift", *NUMBERS),
    *updates("time [s]", *NUMBERS),
    *updates("speed", "nan", "1e999", "", 1),
    *updates("transparent", 1, "yes", None),
]
OTHER_MESSAGES = [
    "text",
    b"",
    b"\x00",
    b"\x91" * 60_000 + b"\xc0",  # 60,000 nested arrays
    b"\xdf\xff\xff\xff\xff",  # a map of 4,294,967,295 entries
    b"\xc6\xff\xff\xff\xff",  # 4 GiB of bytes
    random.Random(0).randbytes(5000),
    {"type": "ViewerCameraMessage"},
    {**CAMERA, "image_width": 0},
    {**CAMERA, "image_width": -1.0},
    {**CAMERA, "wxyz": "abcd"},
    {**CAMERA, "position": [float("nan")] * 3},
    {**CAMERA, "extra": 1},
    {**CLICK, "ray_direction": [0.0, float("inf"), 0.0]},
    {**CLICK, "ray_direction": [0.0, 0.0]},
    {**CLICK, "ray_direction": [0.0, 0.0, 0.0]},
    {**CLICK, "name": "/nosuch"},
    {**CLICK, "name": "x" * 10_000},
    {**DRAG, "end_position": [float("nan")] * 3},
    {**DRAG, "phase": "jump"},
    {**DRAG, "name": "/nosuch"},
    DRAG,  # a continuation without a start
    {"type": "CommandTriggerMessage", "uuid": "nosuch"},
    {"type": ["GuiUpdateMessage"]},
    {"no": "type"},
    [1, 2],
    {"type": "GuiUpdateMessage", "uuid": "nosuch", "updates": {"value": 1}},
    {"type": "GuiUpdateMessage", "uuid": 5, "updates": {"value": 1}},
    {"type": "ShareUrlRequest"},
    {"type": "GuiFormDirtyMessage", "uuid": "x"},
    {"type": "ResetGuiMessage"},
    {"type": "RunJavascriptMessage", "source": "alert(1)"},
    {
        "type": "FileTransferStartUpload",
        "source_component_uuid": "x",
        "transfer_uuid": "x",
        "filename": "/etc/passwd",
        "mime_type": "x",
        "part_count": 0,
        "size_bytes": 0,
    },
]


@pytest.fixture
def attacked(serve, capfd, recwarn):
    """Yield a view, an attacker's browser and a request recorder; then check that another browser works."""
    recorder = Recorder()
    viewer = serve(recorder=recorder)
    bar = TimeBar(viewer.server.gui, np.zeros(1, np.int64), 10**9)
    attacker, user = Browser(viewer), Browser(viewer)
    wait_until(lambda: viewer.clients == 2)
    yield viewer, attacker, recorder
    viewer.show(FRAME)
    bar.advance(0.1)
    assert np.isfinite(bar.time)
    recorder.requests.clear()
    user.set("Reset", True)
    wait_until(lambda: recorder.requests == [("reset", ("",))])
    viewer.notify("still there")
    user.receive_until(lambda: user.shows("still there"))
    attacker.close()
    user.close()
    assert capfd.readouterr() == ("", "")
    assert not [each for each in recwarn.list if "closed connection" not in str(each.message)]


def synchronize(browser, recorder):
    """Wait until the view has processed all messages that a browser has sent."""
    browser.set("Throw a ball", True)
    wait_until(lambda: ("throw", ()) in recorder.requests)


def test_invalid_values_of_inputs_are_ignored(attacked):
    viewer, attacker, recorder = attacked
    for label, update in HOSTILE_UPDATES:
        if len(str(update)) < MAX_MESSAGE:
            attacker.update(label, **update)
    synchronize(attacker, recorder)
    assert recorder.requests == [("throw", ())]


def test_unknown_and_invalid_messages_are_ignored(attacked):
    viewer, attacker, recorder = attacked
    for message in OTHER_MESSAGES:
        attacker.send(message)
    synchronize(attacker, recorder)
    assert recorder.requests == [("throw", ())]


def test_randomly_changed_messages_do_no_harm(attacked):
    viewer, attacker, recorder = attacked
    attacker.receive_until(lambda: "turn" in attacker.labels)
    valid = [CAMERA, CLICK, DRAG] + [
        {"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": 1}}
        for uuid in attacker.labels.values()
    ]
    chance = random.Random(1)
    for _ in range(300):
        data = bytearray(msgspec.msgpack.encode(chance.choice(valid)))
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        attacker.send(bytes(data))
    synchronize(attacker, recorder)


def test_oversized_message_closes_only_its_connection(attacked):
    viewer, _, _ = attacked
    with closing(Browser(viewer)) as browser:
        browser.send(bytes(MAX_MESSAGE + 1))
        with pytest.raises(ConnectionClosed) as closed:
            browser.receive_until(lambda: False)
        assert closed.value.rcvd.code == 1009


def test_oversized_message_between_processes_is_dropped_whole():
    ours, theirs = Connection.pair()
    ours.send(request="reset", arguments=["x" * 70_000])
    ours.send(request="pause", arguments=[True])
    assert theirs.receive(PATIENCE) == {"request": "pause", "arguments": [True]}
    ours.close()
    theirs.close()
