"""Hostile and broken clients of a view, over real sockets and websockets."""

from __future__ import annotations

import http.client
import random
import socket
import time
from contextlib import closing

import msgspec
import numpy as np
import pytest
import zstandard
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tactile_sim.view.bag.time_bar import TimeBar
from tactile_sim.view.content import Shape, ViewFrame, ViewScene
from tactile_sim.view.process.connection import Connection
from tactile_sim.view.scene.primitives import box
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import Endpoint
from tactile_sim.view.web.guard import MAX_CONNECTIONS, MAX_MESSAGE, MAX_TEXT
from tactile_sim.view.web.page import PROTOCOL

PATIENCE = 60.0  # [s], far more than needed
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1, 0, 0, 0],
    "position": [1.0, 1, 1],
    "fov": 0.8,
    "near": 0.1,
    "far": 100,
    "image_height": 400,
    "image_width": 700,
    "look_at": [0, 0, 0],
    "up_direction": [0, 0, 1],
}
CLICK = {
    "type": "SceneNodeClickMessage",
    "name": "/box/shape_0",
    "instance_index": None,
    "ray_origin": [1.0, 0.0, 0.0],
    "ray_direction": [-1.0, 0.0, 0.0],
    "screen_pos": [0.5, 0.5],
    "modifier": None,
    "owner": "",
}
DRAG = {
    "type": "SceneNodeDragMessage",
    "phase": "update",
    "name": "/box/shape_0",
    "instance_index": None,
    "start_position": [0.1, 0.0, 0.0],
    "start_screen_pos": [0.5, 0.5],
    "end_position": [0.2, 0.0, 0.0],
    "end_screen_pos": [0.5, 0.6],
    "button": "left",
    "modifier": "cmd/ctrl",
    "owner": "",
}
SCENE = ViewScene(
    "a box",
    ("world", "box"),
    (Shape("box", 1, *box([0.2] * 3), np.ones(4)),),
    taxel_scale=2.0,
    pushable_bodies=(1,),
    actuators=("lift", "turn"),
    control_ranges=np.array([[-1.0, 1.0], [-np.inf, np.inf]]),
    keyframes=("high",),
    actions=("throw",),
)
FRAME = ViewFrame(0.0, np.zeros((2, 3)), np.array([[1.0, 0.0, 0.0, 0.0]] * 2), controls=np.zeros(2))


class Recorder:
    """Records the requests of users."""

    def __init__(self):
        self.requests = []

    def ask(self, action, *arguments):
        self.requests.append((action, arguments))


class Browser:
    """A client that speaks viser's protocol as its page does."""

    def __init__(self, viewer, **options):
        url = viewer.url.replace("http", "ws")
        self.socket = connect(url, subprotocols=[PROTOCOL], max_size=None, compression=None, **options)
        self.labels: dict[str, str] = {}
        """uuid of each labelled input."""
        self.contents: list[str] = []
        self.send(CAMERA)

    def send(self, message):
        self.socket.send(message if isinstance(message, bytes | str) else msgspec.msgpack.encode(message))

    def set(self, label, value):
        self.update(label, value=value)

    def update(self, label, **updates):
        self.receive_until(lambda: label in self.labels)
        self.send({"type": "GuiUpdateMessage", "uuid": self.labels[label], "updates": updates})

    def receive_until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            raw = self.socket.recv(timeout=end - time.monotonic())
            size, packed = (int.from_bytes(raw[k : k + 8], "little") for k in (0, 8))
            inner = zstandard.decompress(raw[16 : 16 + packed], max_output_size=size)
            for message in msgspec.msgpack.decode(inner)["messages"]:
                if label := message.get("props", {}).get("label"):
                    self.labels[label] = message["uuid"]
                if message["type"] == "GuiUpdateMessage":
                    self.contents.append(str(message["updates"].get("content")))

    def shows(self, text):
        """Return whether the panel showed a text."""
        return any(text in content for content in self.contents)

    def close(self):
        self.socket.close()


@pytest.fixture
def serve():
    opened = []

    def serve(host="127.0.0.1", token="", recorder=None):
        opened.append(Viewer(SCENE, Endpoint(host, 0, token), recorder or Recorder()))
        opened[-1].show(FRAME)
        return opened[-1]

    yield serve
    for viewer in opened:
        viewer.close()


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def place(viewer):
    """Return the host and port of a view."""
    return viewer.url.removeprefix("http://").partition("/")[0]


def status_of(viewer, path="/", **headers):
    """Return the status of the response to a request, and its headers."""
    with closing(http.client.HTTPConnection(place(viewer), timeout=PATIENCE)) as connection:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, response.headers


def raw_status(viewer, request: bytes) -> int:
    host, port = place(viewer).split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as client:
        client.sendall(request)
        return int(client.makefile("rb").readline().split()[1])


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
    DRAG,  # without a start
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
    """Yield a view, an attacker's browser and the recorded requests; then check that others still work."""
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


def synchronise(browser, recorder):
    """Wait until the view has processed what a browser sent so far."""
    browser.set("Throw a ball", True)
    wait_until(lambda: ("throw", ()) in recorder.requests)


def test_invalid_values_of_inputs_are_ignored(attacked):
    viewer, attacker, recorder = attacked
    for label, update in HOSTILE_UPDATES:
        if len(str(update)) < MAX_MESSAGE:
            attacker.update(label, **update)
    synchronise(attacker, recorder)
    assert recorder.requests == [("throw", ())]


def test_unknown_and_invalid_messages_are_ignored(attacked):
    viewer, attacker, recorder = attacked
    for message in OTHER_MESSAGES:
        attacker.send(message)
    synchronise(attacker, recorder)
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
    synchronise(attacker, recorder)


def test_oversized_message_closes_only_its_connection(attacked):
    viewer, _, _ = attacked
    with closing(Browser(viewer)) as browser:
        browser.send(bytes(MAX_MESSAGE + 1))
        with pytest.raises(ConnectionClosed) as closed:
            browser.receive_until(lambda: False)
        assert closed.value.rcvd.code == 1009


def test_page_of_another_version_cannot_open_a_websocket(serve):
    viewer = serve()
    for protocols in ([], ["viser-v0.0.1"], ["chat"]):
        with pytest.raises(InvalidStatus, match="400"):
            connect(f"ws://{place(viewer)}", subprotocols=protocols)


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
    browser.socket.socket.sendall(b"\x02\x80\x00\x00\x00\x00")  # begins a message
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
            client.send(b"GET / HTTP/1.1\r\nHost: ")  # never finished
        assert status_of(viewer)[0] == 200
        viewer.notify("hello")
        user.receive_until(lambda: user.shows("hello"))
        for client in idle:
            client.close()


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
        assert time.monotonic() - begin < 3.0


def test_stalled_browser_is_disconnected(serve, monkeypatch):
    monkeypatch.setattr("tactile_sim.view.web.guard.STALL", 1.0)
    viewer = serve()
    with closing(stalled_client(viewer)):
        wait_until(lambda: viewer.clients == 0)


def test_oversized_message_between_processes_is_dropped_whole():
    ours, theirs = Connection.pair()
    ours.send(request="reset", arguments=["x" * 70_000])
    ours.send(request="pause", arguments=[True])
    assert theirs.receive(PATIENCE) == {"request": "pause", "arguments": [True]}
    ours.close()
    theirs.close()
