"""Fast DDS settings that keep a large skin from losing messages.

In each step, a large skin publishes about a hundred messages within a millisecond. Their total size of half
a megabyte exceeds the default shared memory segment of Fast DDS. Messages that do not fit are dropped and
requested again only at the next heartbeat, 3 s later, when a writer with a depth of ten no longer has them.
In a test with 100 topics and bursts of 20 messages on a busy machine, the default settings lost about 2,000
of 60,000 messages in each run. With these settings, no message was lost in five of six runs.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SEGMENT_BYTES = 8 << 20
SHARED_MEMORY = Path("/dev/shm")
READY = b"\x02\0\0\0"  # first bytes of a port that boost::interprocess has set up
DEAD_AFTER = 5.0  # age of a dead port [s]; a running process sets up a new port immediately
HEARTBEAT_NS = 10_000_000
# Variables with which users configure Fast DDS; if one is set, nothing is changed here.
_USER_VARIABLES = (
    "FASTRTPS_DEFAULT_PROFILES_FILE",
    "FASTDDS_DEFAULT_PROFILES_FILE",
    "FASTDDS_BUILTIN_TRANSPORTS",
)
_PROFILES = f"""<?xml version="1.0" encoding="UTF-8"?>
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <transport_descriptors>
    <transport_descriptor>
      <transport_id>shared_memory</transport_id>
      <type>SHM</type>
      <segment_size>{SEGMENT_BYTES}</segment_size>
    </transport_descriptor>
    <transport_descriptor>
      <transport_id>network</transport_id>
      <type>UDPv4</type>
    </transport_descriptor>
  </transport_descriptors>
  <participant profile_name="tactile_sim" is_default_profile="true">
    <rtps>
      <userTransports>
        <transport_id>shared_memory</transport_id>
        <transport_id>network</transport_id>
      </userTransports>
      <useBuiltinTransports>false</useBuiltinTransports>
    </rtps>
  </participant>
  <data_writer profile_name="tactile_sim_writer" is_default_profile="true">
    <times>
      <heartbeatPeriod><sec>0</sec><nanosec>{HEARTBEAT_NS}</nanosec></heartbeatPeriod>
    </times>
  </data_writer>
</profiles>
"""


def clear_dead_ports() -> None:
    """Remove the shared memory ports of processes that were killed while opening a port.

    Such a port never becomes ready, and another process that opens it would wait forever.
    """
    for port in SHARED_MEMORY.glob("fastrtps_port*[0-9]"):
        try:
            with port.open("rb") as file:
                ready = file.read(4) == READY
            if not ready and time.time() - port.stat().st_mtime > DEAD_AFTER:
                port.unlink()
        except OSError:
            pass  # removed in the meantime, or another user's


@contextmanager
def large_fastdds_buffers() -> Iterator[None]:
    """Apply larger Fast DDS buffers to ``rclpy.init`` and the first node created in the block.

    Other middlewares ignore the settings. A user's own Fast DDS configuration is not changed.
    """
    clear_dead_ports()
    if any(name in os.environ for name in _USER_VARIABLES) or os.path.exists("DEFAULT_FASTRTPS_PROFILES.xml"):
        yield
        return
    with tempfile.NamedTemporaryFile("w", prefix="tactile_sim_", suffix=".xml") as file:
        file.write(_PROFILES)
        file.flush()
        os.environ[_USER_VARIABLES[0]] = file.name
        try:
            yield
        finally:
            del os.environ[_USER_VARIABLES[0]]
