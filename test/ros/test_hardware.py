"""Test the node for real sensors with the stream of a XELA server and with plain arrays."""

from __future__ import annotations

import queue
import threading
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import WrenchStamped  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402
from std_msgs.msg import Float32MultiArray  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from support.errors import raises  # noqa: E402
from support.ros import PATIENCE, wait_for  # noqa: E402
from tactile_sim.msg import TactileArray, TactileFrame, TactileLayout, TactileState  # noqa: E402
from websockets.sync import client  # noqa: E402
from websockets.sync.server import serve  # noqa: E402

from tactile_sim import ConfigError, config  # noqa: E402
from tactile_sim.commands import main  # noqa: E402
from tactile_sim.config.settings import HardwarePad  # noqa: E402
from tactile_sim.ros.pad_input import (  # noqa: E402
    PadInput,
    StreamError,
    XelaClient,
    pad_inputs,
    pillar_forces,
)
from tactile_sim.simulation import Simulation  # noqa: E402
from tactile_sim.skin import TOUCH_FUNCTIONS, TouchFunction  # noqa: E402

STREAM = (Path(__file__).parent / "xela_stream.jsonl").read_text().splitlines()
"""Messages in the format of XELA's server, written for this test: a greeting, a valid message, malformed
messages, and the valid one again. Taxel k of sensor 1 reads (0.01 k, -0.02 k, 0.1 (k + 1)) N."""
MALFORMED = len(STREAM) - 3
EXPECTED = np.array([[0.01 * k, -0.02 * k, 0.1 * (k + 1)] for k in range(16)])


class Server:
    """A local websocket server that sends the lists of texts in its queue; None closes the connection."""

    def __init__(self, port: int = 0):
        self.messages: queue.Queue = queue.Queue()
        self._server = serve(self._send, "127.0.0.1", port)
        self.port = self._server.socket.getsockname()[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _send(self, socket) -> None:
        while (texts := self.messages.get(timeout=PATIENCE)) is not None:
            for text in texts:
                socket.send(text)

    def close(self) -> None:
        self.messages.put(None)
        self._server.shutdown()


def test_client_connects_again_after_any_error(monkeypatch):
    """An AssertionError, which websockets raises if a peer sends garbage first, ended the client's thread."""
    connect, errors = client.connect, [AssertionError(), ValueError("bad")]

    def failing(*args, **kwargs):
        if errors:
            raise errors.pop()
        return connect(*args, **kwargs)

    monkeypatch.setattr(client, "connect", failing)
    server, received, states = Server(), [], []
    server.messages.put(["text"])
    reader = XelaClient(f"ws://127.0.0.1:{server.port}", received.append, states.append)
    wait_for(lambda: received, "the message")
    assert states == ["bad", "AssertionError", ""]
    reader.close()
    server.close()


def levels(received: list) -> dict[str, tuple[int, str]]:
    """Return the level and message of each status in the latest report, keyed by name."""
    status = received[-1].status
    return {
        name.partition(": ")[2]: (int(level), text)
        for name, level, text in zip(status.name, status.level, status.message, strict=True)
    }


def test_xela_stream_is_published_as_the_simulated_pads(ros):
    server = Server()
    arrays = ros.listen(TactileArray, "tactile/left_pad/array")
    frames = ros.listen(TactileFrame, "tactile/frame")
    wrenches = ros.listen(WrenchStamped, "tactile/left_pad/wrench")
    states = ros.listen(TactileState, "tactile/left_pad/state")
    layouts = ros.listen(TactileLayout, "tactile/left_pad/layout", lasting=True)
    reports = ros.listen(DiagnosticArray, "/diagnostics")
    address = f"hardware.address:=ws://127.0.0.1:{server.port}"
    node = ros.start("hardware", "gripper", "--ros-args", "-p", address, "-p", "hardware.timeout:=30.0")
    wait_for(lambda: node.poll() is not None or (layouts and reports), "the node")
    assert node.poll() is None, ros.output(node)
    skin = Simulation(config.load("gripper")).skin
    left = slice(skin.pads[0].start, skin.pads[0].stop)
    np.testing.assert_allclose(np.reshape(layouts[0].positions, (-1, 3)), skin.positions[left], atol=1e-6)
    np.testing.assert_array_equal(layouts[0].ids, np.arange(16))
    # Messages are not published until the subscriptions have been discovered.
    wait_for(
        lambda: server.messages.put(STREAM[1:2]) or (arrays and frames and wrenches and states), "readings"
    )
    server.messages.put(STREAM)
    for array in arrays:
        assert (array.pad, array.quantity, array.layout_id) == (
            "left_pad",
            "force_vector_taxel",
            layouts[0].layout_id,
        )
        np.testing.assert_allclose(np.reshape(array.data, (16, 3)), EXPECTED, atol=1e-6)
    assert list(frames[-1].pads) == ["left_pad", "right_pad"]
    right = np.zeros((16, 3))
    right[5, 2] = 0.5
    np.testing.assert_allclose(np.reshape(frames[-1].data, (32, 3)), np.vstack([EXPECTED, right]), atol=1e-6)
    assert len(frames[-1].valid) == 0

    # Forces in the frame of the body, from the axes of the layout. In the message, z points inward.
    turns = Rotation.from_quat(np.reshape(layouts[0].orientations, (16, 4)))
    forces, places = turns.apply(EXPECTED * [1, 1, -1]), skin.positions[left]
    force = wrenches[-1].wrench.force, wrenches[-1].wrench.torque
    np.testing.assert_allclose(force, [forces.sum(axis=0), np.cross(places, forces).sum(axis=0)], atol=1e-6)
    assert wrenches[-1].header.frame_id == states[-1].header.frame_id == "left_finger"
    pressing = EXPECTED[:, 2]
    center = pressing @ places / pressing.sum()
    np.testing.assert_allclose(states[-1].center_of_pressure, center, atol=1e-6)
    np.testing.assert_allclose(states[-1].force, forces.sum(axis=0), atol=1e-6)
    np.testing.assert_allclose(states[-1].torque, np.cross(places - center, forces).sum(axis=0), atol=1e-6)
    assert states[-1].contact and states[-1].contact_raw
    assert np.isnan([states[-1].friction_utilization, *states[-1].slip_velocity]).all()
    times = [state.contact_time for state in states]
    assert times[0] == 0.0 and times == sorted(times)

    def malformed() -> int:
        values = reports[-1].status.values[0]
        return int(dict(zip(values.key, values.value, strict=True))["malformed"])

    wait_for(lambda: malformed() == MALFORMED, "the count of malformed messages")
    server.close()
    # The timeout is 30 s, so this status is due to the lost connection.
    wait_for(lambda: levels(reports)["left_pad"][0] == 2, "the report of the loss")
    assert levels(reports)["hardware"][0] == 2
    wait_for(lambda: len(frames[-1].valid) == 32 and not np.any(frames[-1].valid))
    assert np.isnan(frames[-1].data).all()
    again = Server(server.port)
    again.messages.put(repeat(STREAM[1]))  # more messages than the node can read
    wait_for(lambda: levels(reports)["hardware"][0] == 0, "the connection again")
    output = ros.output(node)
    again.close()
    assert "Traceback" not in output and output.count("SIGINT") == 1


def test_arrays_in_another_order_are_tared_and_their_loss_is_reported(ros):
    pads = {
        "left_pad": {
            "topic": "tip/raw",
            "order": list(range(15, -1, -1)),
            "axes": "-x y z",
            "scale": 0.5,
        }
    }
    file = ros.config(
        scene="gripper.xml",
        skin={
            "touch_function": "force_vector",
            "pads": {
                "left_pad": {"body": "left_finger", "preset": "xela_uspa44"},
                "right_pad": {"body": "right_finger", "preset": "xela_uspa44", "touch_function": "normal"},
            },
        },
        hardware={"driver": "array", "timeout": 0.3, "pads": pads},
    )
    arrays = ros.listen(TactileArray, "tactile/left_pad/array")
    frames = ros.listen(TactileFrame, "tactile/frame")
    reports = ros.listen(DiagnosticArray, "/diagnostics")
    node = ros.start("hardware", file)
    publisher = ros.node.create_publisher(Float32MultiArray, "tip/raw", 10)
    wait_for(lambda: node.poll() is not None or publisher.get_subscription_count(), "the node")
    assert node.poll() is None, ros.output(node)
    wait_for(lambda: reports)
    values = np.arange(48, dtype=np.float32).reshape(16, 3)

    def send(values) -> None:
        before = len(arrays)
        wait_for(
            lambda: publisher.publish(Float32MultiArray(data=values.ravel().tolist())) or len(arrays) > before
        )

    send(values)
    # The pad has the axes of its body. In the message, z points inward.
    expected = values[::-1] * 0.5 * [-1, 1, -1]
    np.testing.assert_allclose(np.reshape(arrays[-1].data, (16, 3)), expected, atol=1e-5)
    wait_for(lambda: frames or send(values), "a frame")
    assert list(frames[-1].valid) == [1] * 16 + [0] * 16
    lost, unused = np.split(np.reshape(frames[-1].data, (32, 3))[16:], [1], axis=1)
    assert np.isnan(lost).all() and not unused.any()
    publisher.publish(Float32MultiArray(data=[1.0]))
    assert ros.call(Trigger, "/tactile_sim/tare").success
    wait_for(lambda: send(values) or not np.any(np.abs(arrays[-1].data) > 1e-5), "readings of zero")
    wait_for(lambda: levels(reports)["left_pad"][0] == 2, "the report of the loss")


def test_pillar_forces_are_ordered_by_id():
    pillars = [SimpleNamespace(id=k, fx=0.1 * k, fy=0.0, fz=1.0 * k) for k in (2, 0, 1)]
    np.testing.assert_allclose(
        pillar_forces(SimpleNamespace(pillars=pillars)), [[0, 0, 0], [0.1, 0, 1], [0.2, 0, 2]]
    )


@pytest.mark.parametrize(
    ("hardware", "key"),
    [
        ({}, "hardware.pads"),
        ({"pads": {"left": {"topic": "x"}}}, "left_pad"),
        ({"pads": {"left_pad": {"sensor": 1}}}, "hardware.pads.left_pad.topic"),
        (
            {"driver": "xela", "pads": {"left_pad": {"sensor": 1, "order": [0, 1]}}},
            "hardware.pads.left_pad.order",
        ),
        (
            {"driver": "xela", "pads": {"left_pad": {"sensor": 1}, "right_pad": {"sensor": 1}}},
            "hardware.pads",
        ),
        (
            {"driver": "xela", "address": "http://x", "pads": {"left_pad": {"sensor": 1}}},
            "hardware.address",
        ),
        ({"pads": {"left_pad": {"topic": "x", "axes": "x x z"}}}, "hardware.pads.left_pad.axes"),
        ({"pads": {"left_pad": {"topic": "a b//c"}}}, "hardware.pads.left_pad.topic"),
        ({"pads": {"left_pad": {"topic": "x", "scale": 0.0}}}, "hardware.pads.left_pad.scale"),
        ({"driver": "xela", "address": "http//x"}, "hardware.address"),
        ({"driver": "xela", "address": "ws://h:99999"}, "hardware.address"),
    ],
)
def test_invalid_hardware_is_an_error_with_its_key(hardware, key):
    from tactile_sim.common.errors import ConfigError
    from tactile_sim.config.elements import resolve_hardware

    scene = {"scene": "gripper.xml"}
    with pytest.raises(ConfigError, match=key):
        settings = config.from_mapping({**scene, "hardware": hardware} if hardware else scene)
        resolve_hardware(settings.hardware, {"left_pad": 16, "right_pad": 16}, "file.yaml")


def test_each_pad_gets_its_own_quantity():
    settings = config.load("gripper")
    own = {"left_pad": "normal", "right_pad": "pressure"}
    pads = {name: {**pad, "touch_function": own[name]} for name, pad in settings.skin.pads.items()}
    simulation = Simulation(replace(settings, skin=replace(settings.skin, pads=pads)))
    forces = np.tile([0.1, 0.2, 0.3], (16, 1))
    readings = {name: pad.readings(forces) for name, pad in pad_inputs(simulation).items()}
    np.testing.assert_allclose(readings["left_pad"], np.full((16, 1), 0.3))
    np.testing.assert_allclose(readings["right_pad"], np.full((16, 1), 0.3 / (0.00425 * 0.0047)), rtol=1e-5)
    with pytest.raises(StreamError):
        next(iter(pad_inputs(simulation).values())).readings(np.full((16, 3), 1e300))


def test_quantities_follow_from_forces(monkeypatch):
    settings = config.load("gripper")
    area = 0.00425 * 0.0047
    twice = TouchFunction(1, "N", lambda loads: 2 * np.linalg.norm(loads.force, axis=1, keepdims=True))
    monkeypatch.setitem(TOUCH_FUNCTIONS, "twice", twice)
    expected = {
        "normal": 0.3,
        "pressure": 0.3 / area,
        "depth": 0.3 / area * settings.skin.thickness / settings.skin.stiffness,
        "force_vector_taxel": [0.1, 0.2, 0.3],
        "twice": 2 * np.linalg.norm([0.1, 0.2, 0.3]),
    }
    skin = Simulation(settings).skin
    for name, reading in expected.items():
        pad = PadInput(HardwarePad(), skin, 1, name)
        values = pad.readings(np.tile([0.1, 0.2, 0.3], (16, 1)))
        np.testing.assert_allclose(values, np.tile(reading, (16, 1)), rtol=1e-5)
    pad = PadInput(HardwarePad(axes="y x -z"), skin, 1, "force_vector_taxel")  # compression is negative
    np.testing.assert_allclose(pad.readings(np.full(16, -0.3)), np.tile([0.0, 0.0, 0.3], (16, 1)), rtol=1e-6)
    for name in ("force_vector_global", "slip"):
        with raises(ConfigError, "left_pad", "twice", name):
            PadInput(HardwarePad(), skin, 0, name)


def test_missing_configuration_is_one_line(capfd):
    assert main(["hardware", "no/such.yaml"]) == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_check_reports_invalid_hardware(tmp_path, capsys):
    file = tmp_path / "robot.yaml"
    for old, new, fact in (
        ("        right_pad: {sensor", "        wrong_pad: {sensor", "right_pad"),
        ("force_vector_taxel", "slip", "force_vector_taxel"),
        ("      pads:\n        left_pad: {sensor: 1}\n        right_pad: {sensor: 2}\n", "", "hardware.pads"),
    ):
        text = (Path(__file__).parents[2] / "config" / "gripper.yaml").read_text()
        assert old in text
        file.write_text(text.replace(old, new))
        assert main(["check", str(file)]) == 2
        assert fact in capsys.readouterr().err
