"""Publishers that encode messages only for topics with subscribers."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from functools import partial
from itertools import chain
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions

from tactile_sim.common.errors import ConfigError
from tactile_sim.ros.internals import subscriber_counter
from tactile_sim.ros.topic import ONCE, Topic
from tactile_sim.simulation import Snapshot
from tactile_sim.simulation.camera_process import CameraImage, CameraProcess

DEPTH = 50
"""Minimum queue depth of a topic."""
QUEUE, RECORDED_QUEUE = 1.0, 5.0
"""Time for which the queue of a topic holds messages [s], in general and while a recorder runs."""
QUEUE_MEMORY = 256 << 20
"""Maximum size of all queues [bytes]; if their messages are larger at startup, they hold a shorter time."""
PATIENCE, RECORDED_PATIENCE = 0.05, 5.0
"""Maximum time for which a full queue delays the simulation [s], in general and while a recorder runs."""
IMAGE_DEPTH = 30
"""Largest queue depth of a topic with images of a camera, which are large."""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""QoS of latched topics such as layouts, for publishers and subscribers."""
LATCHED_TWICE = QoSProfile(depth=2, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Like `LATCHED`, but keeps two messages, so that publishing again does not drop an undelivered one."""
SETTLED = 1.0
"""Wall time after which a new subscriber is assumed to have processed its first messages [s]."""
UNPREPARED = ("images", "diagnostics")
"""Streams that are not encoded at startup, because images take a long time and diagnostics need the loop."""
REFRESH = 0.05
"""Minimum interval between two queries for subscribers [s of wall time]."""
POLL = 0.002
"""Interval between two queries for acknowledgments [s of wall time]."""
MAX_WAITING = 4
"""Maximum number of waiting batches. If there are more, `submit` publishes them in its caller's thread."""
_NO_WAIT = Duration()


class Queue:
    """The queue of a publisher in the middleware, which drops its oldest message when it is full.

    Acknowledged messages leave the queue, so a queue is full only if a subscriber does not receive.

    Attributes:
        publisher: The publisher.
        lost: Number of messages that were dropped before all subscribers were known to have received them.
    """

    def __init__(self, publisher: Publisher) -> None:
        self.publisher = publisher
        self.lost = 0
        qos = publisher.qos_profile
        drops = qos.history == HistoryPolicy.KEEP_LAST and qos.durability == DurabilityPolicy.VOLATILE
        self._depth = qos.depth if drops else math.inf
        self._waiting = 0
        """Number of messages in the queue that may not have been acknowledged."""

    def has_room(self, patience: float) -> bool:
        """Return whether the next message drops none that was not acknowledged."""
        if self._waiting < self._depth / 2:
            return True
        is_full = self._waiting >= self._depth
        if self.acknowledged(patience if is_full else 0.0):
            self._waiting = 0
        return not is_full or self._waiting == 0

    def acknowledged(self, patience: float) -> bool:
        """Wait until subscribers have acknowledged all messages, and return whether they have."""
        end = time.monotonic() + patience
        # rclpy holds the interpreter lock while it waits, so poll.
        while not self.publisher.wait_for_all_acked(_NO_WAIT):
            if time.monotonic() >= end:
                return False
            time.sleep(POLL)
        return True

    def count(self, drops: bool) -> None:
        """Count a published message, and the one that it drops if ``drops`` is set."""
        if drops:
            self.lost += 1
        else:
            self._waiting += 1


class Sender:
    """Publishes batches of encoded messages in order, in its own thread, while the simulation goes on.

    Publishing takes about 25 µs of CPU time per message, most of it to wake up subscribers. The thread needs
    the interpreter lock, so call `start` just before the main thread releases it for longer. `close` must be
    called before the publishers are destroyed.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._stalled: set[Queue] = set()
        """Queues that drop messages, because their subscribers do not receive."""
        self._batches: deque[list[tuple[Queue, bytes]]] = deque()
        self._publishing = Lock()
        self._signals: SimpleQueue[None] = SimpleQueue()
        """One entry for each call of `start`, which wakes up the thread."""
        self._error: Exception | None = None
        self._closed = False
        self._thread = Thread(target=self._run, name="publishing", daemon=True)
        self._thread.start()

    def submit(self, batch: list[tuple[Queue, bytes]]) -> None:
        """Queue messages for `start`. If more than `MAX_WAITING` batches are waiting, publish them here."""
        self._batches.append(batch)
        if len(self._batches) > MAX_WAITING:
            self.finish()
        self.check()

    def start(self) -> None:
        """Wake up the thread, which publishes the waiting batches."""
        if self._batches:
            self._signals.put(None)

    def finish(self) -> None:
        """Wait until all submitted messages have been passed to the middleware."""
        self._publish_waiting()
        self.check()

    def check(self) -> None:
        """Check that publishing has not failed."""
        if self._error:
            raise RuntimeError("publishing failed") from self._error

    def close(self) -> None:
        """Publish the waiting messages and end the thread."""
        self._publish_waiting()
        self._closed = True
        self._signals.put(None)
        self._thread.join()

    def _run(self) -> None:
        while not (self._closed or self._error):
            self._publish_waiting()
            self._signals.get()

    def _publish_waiting(self) -> None:
        with self._publishing:
            while self._batches and not (self._closed or self._error):
                try:
                    for queue, message in self._batches.popleft():
                        self._publish(queue, message)
                except Exception as error:
                    self._error = error

    def _publish(self, queue: Queue, message: bytes) -> None:
        if has_room := queue.has_room(0.0 if self._stalled else self._patience):
            self._stalled.discard(queue)
        else:
            self._stalled.add(queue)
        queue.publisher.publish(message)
        queue.count(drops=not has_room)


class LazyPublisher:
    """A topic with its rclpy publisher and the known state of its subscribers.

    Attributes:
        topic: Declaration of the topic.
        queue: Queue of the publisher.
        listeners: Number of subscribers at the last query.
    """

    def __init__(self, topic: Topic, publisher: Publisher):
        self.topic, self.queue = topic, Queue(publisher)
        self.count_subscribers = subscriber_counter(publisher)
        """Returns the number of subscribers."""
        self._welcome_again: float | None = None
        """Time after which `welcomes` returns True once more [s of `time.monotonic`], or None."""
        self.listeners = 0
        self.has_newcomers = False
        """True from the time a subscriber is added until the next message is published."""

    def welcomes(self) -> bool:
        """Return whether latched messages must be repeated after the next message, for a new subscriber.

        Must be called exactly once per message. The result is True for the first message to a new subscriber,
        and again for the first message that is sent at least `SETTLED` seconds later.
        """
        if self.has_newcomers:
            self.has_newcomers = False
            self._welcome_again = time.monotonic() + SETTLED
            return True
        if self._welcome_again is not None and time.monotonic() > self._welcome_again:
            self._welcome_again = None
            return True
        return False


class Outlets:
    """Publishers of all topics.

    Messages are encoded only for topics with subscribers. In addition, most topics are encoded once at
    startup, to publish latched messages and to measure the sizes of the others. A `Sender` publishes
    in its own thread, so `close` must be called before the node is destroyed.


    Attributes:
        may_skip: Returns whether to skip an image of a camera that is not finished with the previous one.
    """

    def __init__(
        self,
        node: Node,
        topics: Iterable[Topic],
        snapshot: Snapshot,
        rates: Mapping[str, float],
        recorded: bool = False,
        cameras: CameraProcess | None = None,
    ):
        self.may_skip: Callable[[], bool] = lambda: False
        self._node, self._cameras = node, cameras
        self._outlets: dict[str, list[LazyPublisher]] = {}
        self._overridden = [
            name.split(".")[1]
            for name in node.get_parameters_by_prefix("")
            if name.startswith("qos_overrides.")
        ]
        self._latched: list[tuple[Topic, Queue, bytes]] = []
        self._heard: dict[str, list[LazyPublisher]] = {}
        """Topics with subscribers, grouped by stream."""
        self._frames: dict[str, frozenset[str]] = {}
        """Frames of the topics in `_heard`, by stream."""
        self._refreshed = 0.0
        sizes: dict[Topic, int] = {}
        for topic in topics:
            if topic.stream == ONCE:
                message = topic.make(snapshot)
                publisher = self._publisher(topic, LATCHED_TWICE if topic.again_after else LATCHED)
                publisher.publish(message)
                self._latched.append((topic, Queue(publisher), message))
            else:
                sizes[topic] = 0 if topic.camera or topic.stream in UNPREPARED else len(topic.make(snapshot))
        queue = RECORDED_QUEUE if recorded else QUEUE
        size = queue * sum(rates.get(topic.stream, 0.0) * size for topic, size in sizes.items())
        if size > QUEUE_MEMORY:
            queue *= QUEUE_MEMORY / size
            node.get_logger().warning(
                f"queues hold messages for {queue:.2g} s, which are {QUEUE_MEMORY >> 20} MiB"
            )
        for topic in sizes:
            depth = max(DEPTH, math.ceil(rates.get(topic.stream, 0.0) * queue))
            depth = min(depth, IMAGE_DEPTH) if topic.camera else depth
            outlet = LazyPublisher(topic, self._publisher(topic, QoSProfile(depth=depth)))
            self._outlets.setdefault(topic.stream, []).append(outlet)
        self._sender = Sender(RECORDED_PATIENCE if recorded else PATIENCE)

    def _publisher(self, topic: Topic, qos: QoSProfile) -> Publisher:
        """Create a publisher whose QoS can be overridden by parameters."""
        try:
            resolved = self._node.resolve_topic_name(topic.name)
        except RuntimeError as error:
            raise ConfigError(
                f"topic {topic.name!r}: rejected by ROS: {error}; shorten the name in it"
            ) from None
        options = None
        if resolved in self._overridden:
            options = QoSOverridingOptions.with_default_policies()
        # rclpy's default event callbacks would occupy its executor for each publisher at each message.
        events = PublisherEventCallbacks(use_default_callbacks=False)
        return self._node.create_publisher(
            topic.type, topic.name, qos, event_callbacks=events, qos_overriding_options=options
        )

    def subscribed(self) -> set[str]:
        """Return the streams that have subscribers. The result is cached for `REFRESH` seconds."""
        if time.monotonic() - self._refreshed > REFRESH:
            self._refresh()
        return set(self._heard)

    def frames(self, streams: Iterable[str]) -> frozenset[str]:
        """Return the frames of the topics of these streams that had subscribers at the last query."""
        return frozenset().union(*(self._frames[stream] for stream in streams if stream in self._frames))

    def new_subscribers(self) -> list[LazyPublisher]:
        """Query ROS and return the topics that have gained a subscriber since they were last published."""
        self._refresh()
        return [outlet for outlet in self._all() if outlet.has_newcomers]

    def all_heard_by(self, node: str) -> bool:
        """Return whether a node subscribes to every topic that is not latched."""
        return all(
            outlet.count_subscribers() > 0
            and any(
                subscriber.node_name == node
                for subscriber in self._node.get_subscriptions_info_by_topic(outlet.topic.name)
            )
            for outlet in self._all()
        )

    def profiles(self) -> dict[str, QoSProfile]:
        """Return the QoS of each topic that is not latched, by its full name."""
        return {
            outlet.queue.publisher.topic_name: outlet.queue.publisher.qos_profile for outlet in self._all()
        }

    def lost(self) -> dict[str, int]:
        """Return how many messages each topic has lost because subscribers did not receive; see `Queue`."""
        return {outlet.topic.name: outlet.queue.lost for outlet in self._all() if outlet.queue.lost}

    def unheard(self) -> str:
        """Return the name of a topic that had no subscriber at the last query; empty if all had one."""
        return next((outlet.topic.name for outlet in self._all() if not outlet.listeners), "")

    def publish(self, stream: str, snapshot: Any) -> None:
        """Encode all topics of a stream, even those without subscribers; `dispatch` publishes them."""
        self._send(self._outlets.get(stream, []), snapshot)

    def send(self, streams: Iterable[str], snapshot: Any) -> None:
        """Encode the topics of the specified streams that have subscribers; `dispatch` publishes them."""
        self._send([outlet for stream in streams for outlet in self._heard.get(stream, ())], snapshot)

    def send_to_new(self, wanted: Callable[[str], bool], snapshot: Snapshot) -> None:
        """Encode the topics that have gained a subscriber since their last message, for `dispatch`."""
        self._send([outlet for outlet in self.new_subscribers() if wanted(outlet.topic.stream)], snapshot)

    def dispatch(self) -> None:
        """Start to publish the encoded messages in another thread."""
        self._sender.start()

    def flush(self, patience: float, given_up: Callable[[], bool] = lambda: False) -> list[str]:
        """Wait until subscribers have acknowledged all messages.

        Returns:
            Names of the topics with messages that were not acknowledged.
        """
        self.finish()
        end = time.monotonic() + patience

        def acknowledged(queue: Queue) -> bool:
            while (left := end - time.monotonic()) > 0.0 and not given_up():
                if queue.acknowledged(min(left, REFRESH)):
                    return True
            return queue.acknowledged(0.0)

        return [
            outlet.topic.name for outlet in self._all() if outlet.listeners and not acknowledged(outlet.queue)
        ]

    def finish(self) -> None:
        """Wait until all messages have been passed to the middleware, including requested images."""
        if self._cameras:
            self._cameras.finish()
        self._sender.finish()

    def close(self) -> None:
        """Stop publishing; must be called before the node is destroyed."""
        self._sender.close()

    def _all(self) -> Iterator[LazyPublisher]:
        return chain.from_iterable(self._outlets.values())

    def _send(self, outlets: list[LazyPublisher], snapshot: Any) -> None:
        # Encode all messages before publishing, so that a subscriber wakes up once.
        batch = []
        for outlet in outlets:
            if outlet.topic.camera:
                self._request_image(outlet, snapshot)
                continue
            batch.append((outlet.queue, outlet.topic.make(snapshot)))
            if outlet.welcomes():
                batch += [
                    (queue, message)
                    for topic, queue, message in self._latched
                    if topic.again_after == outlet.topic.name
                ]
        if batch:
            self._sender.submit(batch)

    def _request_image(self, outlet: LazyPublisher, snapshot: Snapshot) -> None:
        """Request an image, which the thread of the camera process publishes when it is complete."""
        assert self._cameras
        outlet.welcomes()
        engine, camera = snapshot.simulation.engine, outlet.topic.camera
        image = self._cameras.request(camera, engine, snapshot.stamp, self.may_skip())
        if image is not None:
            image.add_done_callback(partial(self._publish_image, outlet))

    def _publish_image(self, outlet: LazyPublisher, image: Future[CameraImage]) -> None:
        if not image.cancelled():
            self._sender.submit([(outlet.queue, outlet.topic.make(image.result()))])
            self._sender.start()

    def _refresh(self) -> None:
        self._sender.check()
        self._refreshed = time.monotonic()
        self._heard = {}
        for outlet in self._all():
            listeners = outlet.count_subscribers()
            new_subscribers = outlet.has_newcomers or listeners > outlet.listeners
            outlet.has_newcomers = new_subscribers and listeners > 0
            outlet.listeners = listeners
            if listeners:
                self._heard.setdefault(outlet.topic.stream, []).append(outlet)
        self._frames = {
            stream: frozenset().union(*(outlet.topic.frames for outlet in outlets))
            for stream, outlets in self._heard.items()
        }
