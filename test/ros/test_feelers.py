"""Test the readings, layouts, images and markers that the node publishes for feelers."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from support.falling_cube import GRAVITY, HALF, HEIGHT, LENGTH, mjcf  # noqa: E402
from support.published import published  # noqa: E402
from support.ros import PATIENCE, Ros, stamp  # noqa: E402
from visualization_msgs.msg import Marker  # noqa: E402

from tactile_sim import bag  # noqa: E402
from tactile_sim.commands import main  # noqa: E402
from tactile_sim.simulation import Simulation  # noqa: E402

TIMESTEP = 0.002
"""Time step [s]."""


@pytest.fixture(scope="module")
def received(tmp_path_factory):
    """Drop a cube with feelers and return the messages by topic, every 10 ms."""
    file = tmp_path_factory.mktemp("received") / "scene.xml"
    file.write_text(mjcf(TIMESTEP))
    feelers = {"cube": {"spacing": 0.02, "length": LENGTH}}
    topics = {"layout": "tactile/cube/feelers_layout", "feelers": "tactile/cube/feelers",
              "image": "tactile/cube/image", "compressed": "tactile/cube/image/compressed",
              "markers": "markers"}  # fmt: skip
    found = published(Simulation({"scene": str(file), "feelers": feelers}), topics.values(), 175, every=5)
    return {name: list(found[topic].values()) for name, topic in topics.items()}


def height(message) -> float:
    """Compute the cube's height above the floor [m] at a message's stamp by semi-implicit Euler steps."""
    steps = round(stamp(message) / (TIMESTEP * 1e9))
    return HEIGHT - GRAVITY * TIMESTEP**2 * steps * (steps + 1) / 2


def test_readings_layout_and_image_agree_during_fall(received):
    layout = received["layout"][0]
    count = len(layout.lengths)
    normals = layout.normals.reshape(-1, 3)
    below = normals[:, 2] < -0.99
    assert count == len(normals) == len(layout.pixels) == len(layout.uv) // 2 and below.any()
    assert np.allclose(layout.lengths, LENGTH)
    assert layout.header.frame_id == "cube" and layout.geoms == ["side"]
    positions = layout.positions.reshape(-1, 3)
    assert np.abs(positions).max(axis=1) == pytest.approx(np.full(count, HALF), abs=1e-6)

    images = {stamp(message): message for message in received["image"]}
    approaching = 0
    for message in received["feelers"]:
        assert (message.quantity, message.unit, message.channels) == ("feeler", "m", 1)
        assert message.layout_id == layout.layout_id and message.taxel_count == count
        if not 0.001 < height(message):
            continue
        expected = np.where(below, min(height(message), LENGTH), LENGTH)
        assert message.data == pytest.approx(expected, abs=1e-6)
        image = images[stamp(message)]
        assert (image.encoding, image.width, image.height, image.step) == (
            "mono8", layout.image_width, layout.image_height, layout.image_width,
        )  # fmt: skip
        shown = np.asarray(image.data)[layout.pixels] / 255
        assert shown == pytest.approx(1 - expected / LENGTH, abs=0.5 / 255 + 1e-6)
        approaching += height(message) < LENGTH
    assert approaching >= 3


def test_feeler_markers_change_color_with_cover(received):
    layout = received["layout"][0]
    colors = set()
    for message in received["markers"]:
        lines = [k for k in range(len(message.markers.id)) if message.markers.type[k] == Marker.LINE_LIST]
        points = np.concatenate([message.markers.points[k] for k in lines]).reshape(-1, 2, 3)
        assert len(points) == len(layout.lengths)
        assert np.linalg.norm(points[:, 1] - points[:, 0], axis=1) == pytest.approx(layout.lengths, rel=1e-6)
        colors |= {tuple(message.markers.color[k]) for k in lines}
    assert len(colors) >= 3  # free, partly covered, covered


def same_pixels(raw, compressed) -> bool:
    """Return whether a compressed image decodes to the bytes of the raw one."""
    picture = Picture.open(io.BytesIO(bytes(compressed.data)))
    shape = (picture.height, picture.width, len(picture.getbands()))
    return (raw.height, raw.width, raw.step // raw.width) == shape and picture.tobytes() == bytes(raw.data)


def test_compressed_gray_images_equal_raw_ones(received):
    compressed = {stamp(message): message for message in received["compressed"]}
    both = [(raw, compressed[stamp(raw)]) for raw in received["image"] if stamp(raw) in compressed]
    assert len(both) >= 35 and len({bytes(raw.data) for raw, _ in both}) > 3
    assert all(same_pixels(*pair) for pair in both)
    assert {message.format for _, message in both} == {"mono8; png compressed mono8"}
    assert {message.header.frame_id for _, message in both} == {"cube"}


def test_compressed_color_images_equal_raw_ones():
    simulation = Simulation({"scene": "touch_cube.xml", "skin": {"scales": {"cube": 0.05}}})
    topics = "tactile/cube/image", "tactile/cube/image/compressed"
    found = published(simulation, topics, 500, every=50)
    images, compressed = (list(by_stamp.values()) for by_stamp in found.values())
    colors = [np.asarray(raw.data).reshape(-1, 3) for raw in images]
    assert any((pixels[:, 0] != pixels[:, 2]).any() for pixels in colors)
    assert all(map(same_pixels, images, compressed))
    # The last word is the channel order of a PNG decoded by OpenCV, which subscribers use for this format.
    assert {message.format for message in compressed} == {"rgb8; png compressed bgr8"}


def test_bag_of_worm_has_feelers_and_images_at_their_rates(ros: Ros):
    maps = {
        f"worm_{part}": {"image": f"assets/worm_{part}.png", "length": 0.03} for part in ("lower", "upper")
    }
    rates = {"feelers": 50.0, "images": 25.0}
    config = ros.config(scene="worm.xml", contacts="all", feelers=maps, rates=rates)
    process = ros.start("run", config, "--duration", "0.5", "--record", "bag")
    assert process.wait(4 * PATIENCE) == 0
    topics = bag.read(ros.folder / "bag")
    for body in maps:
        readings, images = topics[f"/tactile/{body}/feelers"], topics[f"/tactile/{body}/image"]
        layout = topics[f"/tactile/{body}/feelers_layout"]
        count = layout.lengths.shape[1]
        assert layout.positions.shape == layout.normals.shape == (1, count, 3)
        assert layout.uv.shape == (1, count, 2) and layout.pixels.shape == (1, count)
        assert readings.data.shape == (len(readings), count, 1)
        assert set(readings.quantity) == {"feeler"} and set(readings.unit) == {"m"}
        for topic, rate in ((readings, rates["feelers"]), (images, rates["images"])):
            assert set(np.diff(topic.stamps).tolist()) == {round(1e9 / rate)}
            assert len(topic) >= 0.5 * rate
        # At common stamps the image shows the covered fractions.
        _, in_readings, in_images = np.intersect1d(readings.stamps, images.stamps, return_indices=True)
        shown = images.data.reshape(len(images), -1)[in_images][:, layout.pixels[0]]
        covered = 255 * (1 - readings.data[in_readings, :, 0] / layout.lengths[0])
        assert len(in_readings) >= 10 and shown == pytest.approx(covered, abs=0.51)


def test_bag_of_documentation_page_shows_landed_cube(ros: Ros, monkeypatch, capsys):
    page = (Path(__file__).resolve().parents[2] / "docs" / "feelers.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
    [program, *arguments] = command.split()
    assert program == "tactile_sim"
    assert ros.start(*arguments).wait(4 * PATIENCE) == 0
    monkeypatch.chdir(ros.folder)
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], names)
    # At the end the cube is on the floor: the lower feelers are covered, the upper ones free.
    assert names["covered"].min() == pytest.approx(0, abs=1e-6) and names["covered"].max() > 0.9
    assert names["pixels"].shape[1:] == (60, 80) and names["pixels"].max() > 0.9 * 255
    assert main(["bag", "info", "touched"]) == 0
    assert "\n1944 feelers on 1 body: cube 1944\n" in capsys.readouterr().out
