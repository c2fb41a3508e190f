"""Pads on topics and in bags: names, layouts and individual rates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.published import published

from tactile_sim import bag
from tactile_sim.commands import main
from tactile_sim.simulation import Simulation
from tactile_sim.view.bag_frames import BagFrames
from tactile_sim.view.bag_index import BagIndex
from tactile_sim.view.bag_scene import read_scene

SCENE = """<mujoco><option timestep="0.001"/><worldbody>
  <body name="finger"><geom type="box" size=".0113 .0123 .03" pos="0 0 -.03"/></body>
  <body name="ball" pos="0 0 .0049"><freejoint/>
    <geom size=".005" mass=".1" condim="6" friction="1 .1 .1"/></body>
</worldbody></mujoco>"""
GRID = {"rows": 2, "columns": 2, "pitch": [0.004, 0.004]}
PADS = {
    "tip": {"body": "finger", "preset": "xela_uspa44", "rate": 1000.0},
    "side": {
        "body": "finger",
        "grid": GRID,
        "position": [0.0113, 0.0, -0.03],
        "orientation": [0.5, 0.5, 0.5, 0.5],
        "rate": 100.0,
        "touch_function": "pressure",
    },
}
SKIN = {
    "touch_function": "force_vector_taxel",
    "pads": PADS,
    "sensor": {
        "tip": {"delay": {"time": 0.005}, "dead_taxels": {"taxels": [0]}},
        "side": {"noise": {"std": 0.01}},
    },
}


@pytest.fixture(autouse=True)
def scene(tmp_path):
    (tmp_path / "scene.xml").write_text(SCENE)


def test_pads_have_their_layouts_and_readings(tmp_path):
    simulation = Simulation({"scene": str(tmp_path / "scene.xml"), "skin": SKIN})
    kinds = [f"tactile/{name}/{kind}" for name in PADS for kind in ("layout", "array")]
    found = published(simulation, ["tactile/frame", *kinds], 400, every=400)
    last = {topic: by_stamp[400_000_000] for topic, by_stamp in found.items()}
    layouts = {name: last[f"tactile/{name}/layout"] for name in PADS}
    arrays = {name: last[f"tactile/{name}/array"] for name in PADS}
    tip, side = layouts["tip"], layouts["side"]
    assert (tip.pad, tip.body, tip.header.frame_id) == ("tip", "finger", "finger")
    assert list(tip.ids) == list(range(16)) and list(tip.rows)[:5] == [0, 0, 0, 0, 1]
    turn = Rotation.from_quat(np.reshape(side.orientations, (-1, 4)))
    np.testing.assert_allclose(turn.apply([0, 0, 1]), np.reshape(side.normals, (-1, 3)), atol=1e-6)
    np.testing.assert_allclose(turn.apply([1, 0, 0]), np.tile([0, 1, 0], (4, 1)), atol=1e-6)

    frame, array = last["tactile/frame"], arrays["tip"]
    assert (list(frame.pads), list(frame.bodies)) == (["side", "tip"], ["finger", "finger"])
    assert (array.pad, array.body, array.quantity) == ("tip", "finger", "force_vector_taxel")
    assert list(array.valid) == [0, *[1] * 15] and list(frame.valid) == [1] * 4 + [0] + [1] * 15
    assert (frame.quantity, frame.unit, frame.channels) == ("", "", 3)
    assert (list(frame.quantities), list(frame.units), list(frame.pad_channels)) == (
        ["pressure", "force_vector_taxel"],
        ["Pa", "N"],
        [1, 3],
    )
    pressure = arrays["side"]
    assert (pressure.quantity, pressure.unit, pressure.channels) == ("pressure", "Pa", 1)
    assert len(pressure.valid) == 0
    both = np.reshape(frame.data, (20, 3))
    np.testing.assert_array_equal(both[:4, :1].ravel(), pressure.data)
    np.testing.assert_array_equal(both[4:].ravel(), array.data)
    assert both[:4, 0].all() and not both[:4, 1:].any()  # noise affects only this channel
    felt = np.reshape(array.data, (16, 3)).sum(axis=0)
    np.testing.assert_allclose(felt, [0, 0, 0.981], atol=0.01)


def test_bag_has_every_message_of_pads_with_different_rates(ros, tmp_path, capfd):
    config = ros.config(scene="scene.xml", skin=SKIN, rates={"tactile": 50.0, "contacts": 0.0})
    process = ros.start("run", config, "--duration", "0.5", "--no-web", "--record", tmp_path / "b")
    assert process.wait(120) == 0, process.communicate()[0]
    found = bag.read(tmp_path / "b")
    for topic, interval in (
        ("tip/array", 1),
        ("tip/wrench", 1),
        ("side/array", 10),
        ("side/truth", 10),
        ("frame", 20),
    ):
        stamps = np.array(found[f"/tactile/{topic}"].stamps)
        np.testing.assert_array_equal(stamps, np.arange(len(stamps)) * interval * 1_000_000)
        assert len(stamps) >= 500 // interval
    # Each pad has its own stages: the delay of one does not change the other.
    ideal, real = (
        np.reshape(found[f"/tactile/tip/{topic}"].data, (-1, 16, 3)) for topic in ("truth", "array")
    )
    np.testing.assert_allclose(real[5:, 1:], np.round(ideal[:-5, 1:], 3), atol=0.0011)

    index = BagIndex(tmp_path / "b")
    shown = BagFrames(index, read_scene(index)).at(index.stop)
    assert shown.valid.tolist() == [k != 4 for k in range(20)] and shown.unit == ""
    assert main(["bag", "export", str(tmp_path / "b"), "-o", str(tmp_path / "b.npz")]) == 0
    with np.load(tmp_path / "b.npz") as exported:
        assert exported["/tactile/tip/array/valid"][5:].tolist() == [[0, *[1] * 15]] * (len(real) - 5)
