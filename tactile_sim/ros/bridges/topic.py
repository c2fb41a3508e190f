"""Topics of bridges."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tactile_sim.simulation import Snapshot


class BridgeTopic(NamedTuple):
    """A topic of a stream; ``make`` encodes a snapshot."""

    stream: str
    kind: type
    name: str
    make: Callable[[Snapshot], bytes]
