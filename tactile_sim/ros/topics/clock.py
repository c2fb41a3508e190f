"""The topic ``/clock``."""

from __future__ import annotations

from collections.abc import Callable

from rosgraph_msgs.msg import Clock

from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic


def clock_topic(least: Callable[[], int] = lambda: 0) -> Topic:
    """Return ``/clock``, which publishes the simulation time.

    Args:
        least: Returns a lower bound [ns]; a smaller simulation time is published as this value.
    """
    template = cdr.template(Clock, {"clock": cdr.STAMP})
    return Topic("clock", Clock, "/clock", lambda now: template.fill(max(now.stamp, least())))
