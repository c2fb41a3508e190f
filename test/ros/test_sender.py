"""Publishing in a separate thread."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from rclpy.publisher import Publisher  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from support.ros import PATIENCE, wait_for  # noqa: E402

from tactile_sim.ros import cdr  # noqa: E402
from tactile_sim.ros.outlets import Outlets  # noqa: E402
from tactile_sim.ros.topic import Topic  # noqa: E402

BATCHES = 200
SUBSCRIBER = """
import sys, rclpy
from rosgraph_msgs.msg import Clock
rclpy.init()
node = rclpy.create_node("subscriber")
node.create_subscription(Clock, "/first", lambda message: None, 10)
rclpy.spin(node)
"""


@pytest.fixture
def outlets(ros):
    """Yield outlets that publish the stamp on the topics ``/first`` and ``/second``."""
    topics = [
        Topic("stream", Clock, name, lambda now: cdr.encode(Clock, {"clock": now.stamp}))
        for name in ("/first", "/second")
    ]
    made = Outlets(ros.node, topics, SimpleNamespace(stamp=0), {"stream": float(BATCHES)})
    yield made
    made.close()


def test_messages_arrive_complete_and_in_order(ros, outlets):
    received: dict[str, list[int]] = {"/first": [], "/second": []}
    for name, stamps in received.items():
        ros.node.create_subscription(
            Clock, name, lambda message, stamps=stamps: stamps.append(message.clock.nanosec), BATCHES
        )
    wait_for(
        lambda: outlets.all_heard_by(ros.node.get_name()) and outlets.new_subscribers(), "the subscribers"
    )
    assert not outlets.all_heard_by("rosbag2_recorder")  # other subscribers do not replace a recorder
    for k in range(BATCHES):
        outlets.send(["stream"], SimpleNamespace(stamp=k))
        outlets.dispatch()
    outlets.finish()
    wait_for(lambda: all(len(stamps) == BATCHES for stamps in received.values()), "all messages")
    assert all(stamps == list(range(BATCHES)) for stamps in received.values())


def test_finish_returns_after_every_message_is_handed_over(outlets, monkeypatch):
    handed, release = [], threading.Event()

    def slow(publisher, message):
        release.wait(10.0)
        handed.append(message)

    monkeypatch.setattr(Publisher, "publish", slow)
    outlets.publish("stream", SimpleNamespace(stamp=1))
    outlets.dispatch()
    assert not handed
    release.set()
    outlets.finish()
    assert len(handed) == 2


def test_flush_returns_topics_that_a_stopped_subscriber_has_not_received(ros, outlets):
    with subprocess.Popen([sys.executable, "-c", SUBSCRIBER], env=ros.environment) as subscriber:
        wait_for(outlets.new_subscribers, "the subscriber")
        os.kill(subscriber.pid, signal.SIGSTOP)
        outlets.send(["stream"], SimpleNamespace(stamp=1))
        assert outlets.flush(0.2) == ["/first"]
        os.kill(subscriber.pid, signal.SIGCONT)
        assert outlets.flush(PATIENCE) == []
        subscriber.kill()


def test_failed_publishing_raises_in_the_loop(outlets, monkeypatch):
    def fail(publisher, message):
        raise RuntimeError("the context is invalid")

    monkeypatch.setattr(Publisher, "publish", fail)
    outlets.publish("stream", SimpleNamespace(stamp=1))
    with pytest.raises(RuntimeError):
        outlets.finish()
    with pytest.raises(RuntimeError):
        outlets.new_subscribers()


def test_close_ends_the_thread(ros):
    outlets = Outlets(ros.node, [], SimpleNamespace(stamp=0), {})
    threads = [thread for thread in threading.enumerate() if thread.name == "publishing"]
    outlets.close()
    assert threads and not any(thread.is_alive() for thread in threads)
