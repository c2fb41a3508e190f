"""Hostile messages from browsers to a view, over real websockets."""

from __future__ import annotations

import random
from contextlib import closing

import msgspec
import numpy as np
import pytest
from support.view_clients import CAMERA, CLICK, DRAG, FRAME, Browser, Recorder
from support.waiting import PATIENCE, wait_until
from websockets.exceptions import ConnectionClosed

from tactile_sim.common.processes import Connection
from tactile_sim.view.bag.time_bar import TimeBar
from tactile_sim.view.web.guard import MAX_MESSAGE, MAX_TEXT


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


def synchronise(browser, recorder):
    """Wait until the view has processed all messages that a browser has sent."""
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


def test_oversized_message_between_processes_is_dropped_whole():
    ours, theirs = Connection.pair()
    ours.send(request="reset", arguments=["x" * 70_000])
    ours.send(request="pause", arguments=[True])
    assert theirs.receive(PATIENCE) == {"request": "pause", "arguments": [True]}
    ours.close()
    theirs.close()
