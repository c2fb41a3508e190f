"""Write bags with known contents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml
from mcap.reader import make_reader

from tactile_sim.bag.writer import BagWriter
from tactile_sim.ros.cdr import encode_struct
from tactile_sim.wire import of_definition

SEPARATOR = "\n" + "=" * 80 + "\n"
HEADER = (
    "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id"
    + SEPARATOR
    + "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec"
)
FRAME = (
    "std_msgs/Header header\nuint32 layout_id\nstring quantity\nstring unit # of data\nuint8 channels\n"
    "string[] bodies\nstring[] frame_ids\nuint32[] taxel_counts\nfloat32[] data" + SEPARATOR + HEADER
)
POINTS = (
    "std_msgs/Header header\nPoint[] points\nstring[] names\nbool flag\nbyte level\nfloat64[2] pair\n"
    "Thing[] things"
    + SEPARATOR
    + "MSG: test_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z"
    + SEPARATOR
    + "MSG: test_msgs/Thing\nstring name\ntest_msgs/Point at\nuint16[] numbers"
    + SEPARATOR
    + HEADER
)
TYPES = {
    "tactile_sim/msg/TactileFrame": FRAME,
    "test_msgs/msg/Points": POINTS,
    "std_msgs/msg/String": "string data # a comment",
}
TRANSIENT = [
    {
        "history": "keep_last", "depth": 1, "reliability": "reliable", "durability": "transient_local",
        "deadline": {"sec": 0, "nsec": 0}, "lifespan": {"sec": 0, "nsec": 0}, "liveliness": "automatic",
        "liveliness_lease_duration": {"sec": 0, "nsec": 0}, "avoid_ros_namespace_conventions": False,
    }
]  # fmt: skip
MS = 1_000_000


class Writing:
    """A bag writer that accepts values instead of serialized messages."""

    def __init__(self, folder: Path) -> None:
        self.bag = BagWriter(folder)
        self.ids: dict[str, tuple[int, str]] = {}

    def put(self, topic: str, type_name: str, time: int, value: dict) -> None:
        if topic not in self.ids:
            self.ids[topic] = (
                self.bag.add_topic(topic, type_name, TYPES[type_name], TRANSIENT),
                type_name,
            )
        self.bag.write(
            self.ids[topic][0], time, encode_struct(of_definition(type_name, TYPES[type_name]), value)
        )


def write_frames(folder: Path, count: int = 50, seed: int = 0) -> np.ndarray:
    """Write a bag with frames of 20 taxels every 10 ms; return the forces (count, 20, 3)."""
    forces = np.random.default_rng(seed).normal(size=(count, 20, 3)).astype(np.float32)
    writing = Writing(folder)
    for i, force in enumerate(forces):
        header = {"stamp": (i + 1) * 10 * MS, "frame_id": "world"}
        value = {"header": header, "channels": 3, "unit": "N", "bodies": ["cube"], "data": force}
        writing.put("/tactile/frame", "tactile_sim/msg/TactileFrame", (i + 1) * 10 * MS, value)
    writing.bag.close()
    return forces


def embedded_metadata(folder: Path) -> Any:
    """Decode the metadata stored in the bag's file, as rosbag2_storage_mcap does."""
    with open(file_of(folder), "rb") as file:
        [record] = make_reader(file).iter_metadata()
    return yaml.safe_load(record.metadata["serialized_metadata"])


def file_of(folder: Path) -> Path:
    [file] = folder.glob("*.mcap")
    return file
