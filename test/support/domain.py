"""ROS domains that no other test uses."""

from __future__ import annotations

import itertools
import os

from tactile_sim.commands.demo import free_domain

_count = itertools.count()


def own_domain() -> int:
    """Return a ROS domain that no other test and no other program uses.

    Each test worker searches its own part of the domains, because two workers could find the same free one.
    The domains up to 10 are left to `tactile_sim demo`, which searches from the user's id.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    each = 90 // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    return free_domain(10 + each * worker + next(_count) % each)
