"""Signal chains in ROS: true values next to readings, equal bytes for all subscribers, reset and tare."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from rclpy.qos import QoSProfile  # noqa: E402
from sensor_msgs.msg import PointCloud2  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from support.ros import stamp, wait_for  # noqa: E402
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame  # noqa: E402
from tactile_sim.srv import Reset  # noqa: E402

from tactile_sim.ros import cdr  # noqa: E402

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


def run(ros, start, late_in_company: bool) -> tuple[list[bytes], list[list]]:
    """Run 203 steps; return the frames and the messages on other topics.

    Args:
        ros: The fixture ``ros``.
        start: Function that starts the node.
        late_in_company: Whether to subscribe only after 100 steps, and also to other topics.
    """
    process = start(rates={"contacts": 500.0})
    if late_in_company:
        ros.step(100)
    frames: list[bytes] = []
    subscription = ros.node.create_subscription(
        TactileFrame, "tactile/frame", frames.append, QoSProfile(depth=1000), raw=True
    )
    kinds = {
        "tactile/box/truth": TactileArray, "tactile/box/array": TactileArray,
        "tactile/ball/array": TactileArray, "tactile/points": PointCloud2, "contacts": ContactWrenchArray,
    }  # fmt: skip
    others = [ros.listen(kind, topic) for topic, kind in kinds.items()] if late_in_company else []
    wait_for(lambda: frames and all(others), "the present state")
    # Frames are published at every fifth step and at the end of each call, so a call publishes at most 10.
    for steps in (50, 3, 47, 3) if late_in_company else (50, 50, 50, 3, 47, 3):
        end = ros.step(steps, *others)
        wait_for(lambda end=end: cdr.stamp(TactileFrame, frames[-1]) == end, "the last frame")
    assert len(frames) == (23 if late_in_company else 43)
    if late_in_company:
        topics = dict(ros.node.get_topic_names_and_types())
        assert "/tactile/box/truth" in topics
        assert "/tactile/ball/truth" not in topics
    ros.output(process)
    ros.node.destroy_subscription(subscription)
    return frames, others


def test_frames_do_not_depend_on_subscribers(ros, start):
    (alone, _), (late, others) = (run(ros, start, late_in_company) for late_in_company in (False, True))
    assert late == alone[-23:]
    truth, box, ball, *_ = others
    assert late[-1].endswith(np.concatenate([box[-1].data, ball[-1].data]).tobytes())
    for true, sensed in zip(truth, box, strict=True):
        for field in ("layout_id", "quantity", "unit", "body", "taxel_count"):
            assert getattr(true, field) == getattr(sensed, field)
        assert stamp(true) == stamp(sensed)
        # The first two taxels are dead; all others have noise.
        assert not sensed.data[:6].any()
        assert (true.data[6:] != sensed.data[6:]).all()


def test_reset_repeats_readings_and_keeps_tare(ros, start):
    arrays = ros.listen(TactileArray, "tactile/box/array")
    truth = ros.listen(TactileArray, "tactile/box/truth")
    start(rates={"tactile": 500.0})
    wait_for(lambda: arrays and truth)
    runs = []
    for _ in range(2):
        first = stamp(arrays[-1])
        assert ros.step(60, arrays, truth, at_once=10) == first + 120_000_000
        runs.append([message.data for message in arrays if stamp(message) >= first])
        if len(runs) == 1:
            assert ros.call(Reset, "/tactile_sim/reset").success
            wait_for(lambda: stamp(arrays[-1]) == first + 122_000_000)  # noqa: B023
    np.testing.assert_array_equal(runs[0], runs[1])
    # While paused, each change is published with the stamp of the next step.
    end = stamp(arrays[-1])
    assert ros.call(Trigger, "/tactile_sim/tare").success
    wait_for(lambda: stamp(truth[-1]) == stamp(arrays[-1]) == end + 2_000_000)
    assert truth[-1].data.any()
    assert not arrays[-1].data.any()
    assert ros.call(Reset, "/tactile_sim/reset").success
    assert ros.step(60, arrays, at_once=10) == end + 124_000_000
    tared = [message.data for message in arrays][-61:]
    np.testing.assert_allclose(tared, runs[1] - runs[1][-1], atol=1e-5)
