"""Fast DDS settings for large skins."""

import os
import subprocess
import sys

import pytest
from support.domain import own_domain

pytest.importorskip("rclpy", reason="ROS 2 is not installed: make setup brings it")

from tactile_sim.ros import transport  # noqa: E402
from tactile_sim.ros.transport import SEGMENT_BYTES, large_fastdds_buffers  # noqa: E402

NAMES = ("FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE", "FASTDDS_BUILTIN_TRANSPORTS")
SEGMENTS = """
import re, rclpy
from contextlib import nullcontext
from tactile_sim.ros.transport import large_fastdds_buffers
with large_fastdds_buffers() if {large_fastdds_buffers} else nullcontext():
    rclpy.init()
    node = rclpy.create_node("n")
sizes = re.findall(r"^([0-9a-f]+)-([0-9a-f]+).*/fastrtps_[0-9a-f]+$", open("/proc/self/maps").read(), re.M)
print(max(int(stop, 16) - int(start, 16) for start, stop in sizes))
"""


@pytest.fixture(autouse=True)
def unset(monkeypatch, tmp_path):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.skipif(
    "fastrtps" not in os.environ.get("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp"),
    reason="another middleware is used",
)
def test_shared_memory_has_configured_size():
    sizes = []
    for wanted in (True, False):
        # A process also maps the segments of other nodes in its domain.
        environment = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_DOMAIN_ID": str(own_domain())}
        done = subprocess.run(
            [sys.executable, "-c", SEGMENTS.format(large_fastdds_buffers=wanted)],
            env=os.environ | environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0 and not done.stderr, done.stderr
        sizes.append(int(done.stdout))
    assert sizes[0] >= SEGMENT_BYTES > sizes[1]


def test_environment_is_restored_and_file_removed():
    before = dict(os.environ)
    with large_fastdds_buffers():
        file = os.environ[NAMES[0]]
        assert os.path.isfile(file)
    assert dict(os.environ) == before and not os.path.exists(file)


@pytest.mark.parametrize("name", NAMES)
def test_user_configuration_is_kept(monkeypatch, name):
    monkeypatch.setenv(name, "mine")
    before = dict(os.environ)
    with large_fastdds_buffers():
        assert dict(os.environ) == before


def test_profile_in_working_folder_is_kept(tmp_path):
    (tmp_path / "DEFAULT_FASTRTPS_PROFILES.xml").touch()
    with large_fastdds_buffers():
        assert NAMES[0] not in os.environ


def test_dead_ports_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(transport, "SHARED_MEMORY", tmp_path)
    empty, incomplete, recent, ready = (tmp_path / f"fastrtps_port{n}" for n in (1, 2, 3, 4))
    empty.touch()
    recent.touch()
    incomplete.write_bytes(bytes(64))
    ready.write_bytes(transport.READY + bytes(60))
    for port in (empty, incomplete, ready):
        os.utime(port, (0, 0))
    transport.clear_dead_ports()
    assert sorted(tmp_path.iterdir()) == [recent, ready]
