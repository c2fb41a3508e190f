"""Sensors on the wire: truth beside what is told, the same bytes whoever listens, reset and tare."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from rclpy.qos import QoSProfile  # noqa: E402
from rostest import stamp, wait_for  # noqa: E402
from sensor_msgs.msg import PointCloud2  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame  # noqa: E402
from tactile_sim.srv import Reset, Step  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402

SCENE = """
<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 .1"/>
  <body name="box" pos="0 0 .12"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body name="ball" pos=".5 0 .06"><freejoint/><geom size=".05"/></body>
</worldbody></mujoco>"""
STAGES = {
    "hysteresis": {"fraction": 0.1},
    "slow_adaptation": {"fraction": 0.5, "time_constant": 0.1},
    "noise": {"std": 0.01},
    "dead_taxels": {"taxels": [0, 1]},
    "delay": {"time": 0.012},
}


@pytest.fixture
def start(ros):
    def run(**parameters):
        (ros.folder / "scene.xml").write_text(SCENE)
        skin = {"scales": {"box": 0.05, "ball": 0.02}, "sensor": {"b?x": STAGES}}
        return ros.run(scene=str(ros.folder / "scene.xml"), skin=skin, start_paused=True, **parameters)

    return run


def by_stamp(messages):
    return {stamp(message): message.data for message in messages}


def test_the_same_bytes_are_told_whoever_listens(ros, start):
    told = []
    for company in (False, True):
        frames: list[bytes] = []
        subscription = ros.node.create_subscription(
            TactileFrame, "tactile/frame", frames.append, QoSProfile(depth=1000), raw=True
        )
        kinds = {
            "tactile/box/truth": TactileArray, "tactile/points": PointCloud2, "markers": MarkerArray,
            "contacts": ContactWrenchArray,
        }  # fmt: skip
        others = [ros.listen(kind, topic) for topic, kind in kinds.items()] if company else []
        process = start(rates={"contacts": 500.0})
        wait_for(lambda: frames and all(others), "the first state")  # noqa: B023
        # Not all ends are ticks.
        for steps in (53, 150, 7):
            assert ros.call(Step, "/tactile_sim/step", steps=steps).success
        wait_for(lambda: len(frames) >= 45, "all frames")  # noqa: B023
        ros.output(process)
        ros.node.destroy_subscription(subscription)
        told.append(frames)
    assert told[0] == told[1]


def test_what_listened_late_hears_the_same_and_the_truth_stands_beside_it(ros, start):
    truths, told = [], []
    for late in (False, True):
        process = start()
        if late:
            assert ros.call(Step, "/tactile_sim/step", steps=100).success
        arrays = ros.listen(TactileArray, "tactile/box/array")
        truth = ros.listen(TactileArray, "tactile/box/truth")
        balls = ros.listen(TactileArray, "tactile/ball/array")
        frames = ros.listen(TactileFrame, "tactile/frame")
        wait_for(lambda: arrays and truth and balls and frames)  # noqa: B023
        if not late:
            assert ros.call(Step, "/tactile_sim/step", steps=100).success
        assert ros.call(Step, "/tactile_sim/step", steps=100).success
        for heard in (arrays, truth, balls, frames):
            wait_for(lambda: stamp(heard[-1]) == 400_000_000)  # noqa: B023
        topics = dict(ros.node.get_topic_names_and_types())
        ros.output(process)
        told.append(by_stamp(arrays))
        truths.append(by_stamp(truth))
    assert "/tactile/ball/truth" not in topics
    assert set(told[1]) == {200_000_000 + 10_000_000 * k for k in range(21)}
    for time, values in told[1].items():
        np.testing.assert_array_equal(values, told[0][time])
        np.testing.assert_array_equal(truths[1][time], truths[0][time])
        assert not values[:2].any()
        assert (values[2:] != truths[0][time][2:]).any()
    joined = np.concatenate([arrays[-1].data, balls[-1].data])
    np.testing.assert_array_equal(frames[-1].data, joined)
    assert truth[-1].layout_id == arrays[-1].layout_id


def test_a_reset_repeats_what_was_told_and_keeps_the_tare(ros, start):
    arrays = ros.listen(TactileArray, "tactile/box/array")
    truth = ros.listen(TactileArray, "tactile/box/truth")
    start(rates={"tactile": 500.0})
    wait_for(lambda: arrays and truth)
    runs = []
    for _ in range(2):
        first = stamp(arrays[-1])
        assert ros.call(Step, "/tactile_sim/step", steps=60).success
        wait_for(lambda: stamp(arrays[-1]) == first + 120_000_000)  # noqa: B023
        runs.append([message.data for message in arrays if stamp(message) >= first])
        if len(runs) == 1:
            assert ros.call(Reset, "/tactile_sim/reset").success
            wait_for(lambda: stamp(arrays[-1]) == first + 122_000_000)  # noqa: B023
    np.testing.assert_array_equal(runs[0], runs[1])
    # While time stands, each of these gets a stamp of its own, one step on.
    end = stamp(arrays[-1])
    assert ros.call(Trigger, "/tactile_sim/tare").success
    wait_for(lambda: stamp(truth[-1]) == stamp(arrays[-1]) == end + 2_000_000)
    assert truth[-1].data.any()
    assert not arrays[-1].data.any()
    assert ros.call(Reset, "/tactile_sim/reset").success
    assert ros.call(Step, "/tactile_sim/step", steps=60).success
    wait_for(lambda: stamp(arrays[-1]) == end + 124_000_000)
    tared = [message.data for message in arrays][-61:]
    np.testing.assert_allclose(tared, runs[1] - runs[1][-1], atol=1e-5)
