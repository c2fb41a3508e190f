"""Clients that speak a view's protocol over real sockets, like a browser or an attacker."""

from __future__ import annotations

import http.client
import socket
import time
from contextlib import closing

import msgspec
import numpy as np
import zstandard
from websockets.sync.client import connect

from support.waiting import PATIENCE
from tactile_sim.view.content import Shape, ViewFrame, ViewScene, box
from tactile_sim.view.server import PROTOCOL

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
    """Stands in for the simulation: stores the actions that users request in a view, with their arguments."""

    def __init__(self):
        self.requests = []

    def ask(self, action, *arguments):
        self.requests.append((action, arguments))


class Browser:
    """A client that speaks viser's protocol like the web page of a view."""

    def __init__(self, viewer, **options):
        url = viewer.url.replace("http", "ws")
        self.socket = connect(url, subprotocols=[PROTOCOL], max_size=None, compression=None, **options)
        self.labels: dict[str, str] = {}
        """uuid of each labeled input."""
        self.contents: list[str] = []
        self.values: dict[str, list] = {}
        """Values that the view set, in their order, keyed by the uuid of the input."""
        self.camera_positions: list[list[float]] = []
        """Positions to which the view moved this browser's camera [m]."""
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
                if message["type"] == "SetCameraPositionMessage" and not message["initial"]:
                    self.camera_positions.append(message["position"])
                if message["type"] == "GuiUpdateMessage":
                    self.contents.append(str(message["updates"].get("content")))
                    if "value" in message["updates"]:
                        self.values.setdefault(message["uuid"], []).append(message["updates"]["value"])

    def shows(self, text):
        """Return whether the panel has shown a text."""
        return any(text in content for content in self.contents)

    def close(self):
        self.socket.close()


def place(viewer):
    """Return the host and port of a view."""
    return viewer.url.removeprefix("http://").partition("/")[0]


def status_of(viewer, path="/", **headers):
    """Return the status and the headers of the response to a request."""
    with closing(http.client.HTTPConnection(place(viewer), timeout=PATIENCE)) as connection:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, response.headers


def raw_status(viewer, request: bytes) -> int:
    host, port = place(viewer).split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as client:
        client.sendall(request)
        return int(client.makefile("rb").readline().split()[1])


def pads_scene(bodies, parents, pads, **others):
    """Return a scene with one taxel for each pad.

    Args:
        bodies: Names of the bodies.
        parents: Index of each body's parent; may be empty.
        pads: Name of each pad's body, by pad.
        others: Additional fields of the scene.
    """
    count = len(pads)
    return ViewScene(
        "pads",
        bodies,
        parents=np.array(parents, int),
        skin_bodies=np.array([bodies.index(body) for body in pads.values()]),
        pads=tuple(pads),
        taxel_counts=np.ones(count, int),
        taxel_positions=np.zeros((count, 3)),
        taxel_normals=np.tile([0.0, -1.0, 0.0], (count, 1)),
        taxel_ids=np.zeros(count, int),
        taxel_spacings=np.full(count, 0.02),
        **others,
    )
