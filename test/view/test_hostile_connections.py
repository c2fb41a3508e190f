"""Connections to a view that flood it, stall or stay idle."""

from __future__ import annotations

import socket
import sys
import time
from contextlib import closing
from threading import Thread

import msgspec
import numpy as np
import pytest
from support.view_clients import CAMERA, Browser, Recorder, place, status_of
from support.waiting import wait_until

from tactile_sim.view.web.guard import GRACE, MAX_CONNECTIONS
from tactile_sim.view.web.page import PROTOCOL


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
    monkeypatch.setattr("tactile_sim.view.web.guard.STALL", 1.0)
    viewer = serve()
    with closing(stalled_client(viewer)):
        wait_until(lambda: viewer.clients == 0)
